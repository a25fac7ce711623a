// SPDX-License-Identifier: Apache-2.0

/// The one reader of secrets: it returns the text that a person wrote, without additions of an editor or a shell. Pure.
package enum SecretText {
    /// The beginning of every secret of Standard Webhooks.
    package static let webhookPrefix = "whsec_"

    /// The secret without a byte-order mark, in UTF-8 where it was UTF-16, and without the line ends at its end. Bytes that are no text
    /// stay as they are.
    package static func read(_ bytes: [UInt8]) throws(TextFile.Fault) -> [UInt8] {
        var text = try TextFile.utf8(bytes)
        while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
        return text
    }

    /// The part of a secret that was hardly meant to belong to it; nil: there is none. Code that signs or verifies with the
    /// secret then refuses it, because every signature would be wrong without a visible reason.
    ///
    /// - Returns: completes "file X …". Holds no part of the secret.
    package static func doubt(_ secret: [UInt8]) -> String? {
        guard let text = String(validating: secret, as: UTF8.self) else {
            return secret.contains(webhookPrefix.utf8) && !secret.starts(with: webhookPrefix.utf8) ? behind : nil
        }
        if let place = text.firstRange(of: webhookPrefix), place.lowerBound != text.startIndex {
            return isQuoted(text) ? quoted : behind
        }
        if isQuoted(text) { return quoted }
        if text.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) {
            return "has several lines; the secret alone is needed, in one line"
        }
        if let first = text.unicodeScalars.first, let last = text.unicodeScalars.last,
            first.properties.isWhitespace || last.properties.isWhitespace
        {
            return "begins or ends with a blank, which would be a part of the secret; leave it out"
        }
        if let scalar = text.unicodeScalars.first(where: isInvisible) {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return
                "holds the invisible character U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits); "
                + "write it without"
        }
        return isAssignment(text) ? "is written as NAME=value; the value alone is needed" : nil
    }

    private static let behind =
        "holds \(webhookPrefix) behind something else; the secret alone is needed, without a name or a mark before it"
    private static let quoted = "is written in quotes, which would be a part of the secret; leave them out"

    private static let quotes: [(Unicode.Scalar, Unicode.Scalar)] = [
        ("\"", "\""), ("'", "'"), ("`", "`"), ("\u{201C}", "\u{201D}"), ("\u{201E}", "\u{201C}"),
        ("\u{2018}", "\u{2019}"),
        ("\u{AB}", "\u{BB}"),
    ]

    /// Blanks outside the quotes do not hide them.
    private static func isQuoted(_ text: String) -> Bool {
        let inner = TrimmedText.trimmed(text).unicodeScalars
        guard inner.count >= 2, let first = inner.first, let last = inner.last else { return false }
        return quotes.contains { $0 == first && $1 == last }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\t" && [.control, .format].contains(scalar.properties.generalCategory)
    }

    /// `WEBHOOK_SECRET=value`, as in files of variables. Base64 may end with equals signs, so something has to follow.
    private static func isAssignment(_ text: String) -> Bool {
        var line = Substring(text)
        if line.hasPrefix("export ") { line = line.dropFirst(7) }
        guard let sign = line.firstIndex(where: { $0 == "=" || $0 == ":" }) else { return false }
        let (name, value) = (line[..<sign], line[sign...].dropFirst())
        guard value.contains(where: { $0 != "=" }), let first = name.utf8.first, !(0x30...0x39).contains(first),
            name.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "_")
            })
        else { return false }
        let word = name.lowercased()
        let isNamedSo = ["secret", "password", "passwd", "passphrase", "token", "webhook"].contains {
            word.contains($0)
        }
        if line[sign] == ":" { return isNamedSo && value.first == " " }
        return isNamedSo || name.utf8.count >= 3 && name.contains("_") && name == name.uppercased()
    }
}
