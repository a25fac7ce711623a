// SPDX-License-Identifier: Apache-2.0

/// Versions in SQL that sort, for other programs' connections have no functions of ours.
enum VersionKey {
    /// As `Version.sortKey`: texts that sort as versions do. NULL for NULL.
    static func of(_ text: SQL) -> SQL {
        """
        iif(\(text) IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
            (SELECT ltrim(n.value, '0') AS d FROM \(numbers(text)) AS n
             WHERE n.key <= (SELECT max(m.key) FROM \(numbers(text)) AS m WHERE ltrim(m.value, '0') <> '')
             ORDER BY n.key)))
        """
    }

    /// What `Version.init` accepts, but for the 18 digits, which a CHECK cannot count. True for NULL, as a CHECK wants it.
    /// The two lengths differ where a NUL byte hides the rest of the text from GLOB.
    static func isVersion(_ text: SQL) -> SQL {
        "\(text) GLOB '[0-9]*' AND \(text) GLOB '*[0-9]' AND \(text) NOT GLOB '*[^0-9.]*' AND \(text) NOT GLOB '*..*' "
            + "AND length(\(text)) <= 64 AND length(CAST(\(text) AS BLOB)) = length(\(text))"
    }

    /// The numbers of a version as rows of (key, value).
    private static func numbers(_ text: SQL) -> SQL {
        "json_each('[\"' || replace(\(text), '.', '\",\"') || '\"]')"
    }

    static func hasLongNumber(_ text: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM \(numbers(text)) AS n WHERE length(ltrim(n.value, '0')) > 18)"
    }
}
