// SPDX-License-Identifier: Apache-2.0

/// Versions in SQL that sort, for other programs' connections have no functions of ours.
enum VersionKey {
    /// As `Version.sortKey`: texts that sort as versions do. NULL for NULL.
    static func of(_ text: SQL) -> SQL {
        """
        iif(\(text) IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
            (SELECT ltrim(n.value, '0') AS d FROM \(FirstVersionSchema.numbers(text)) AS n
             WHERE n.key <= (SELECT max(m.key) FROM \(FirstVersionSchema.numbers(text)) AS m WHERE ltrim(m.value, '0') <> '')
             ORDER BY n.key)))
        """
    }
}
