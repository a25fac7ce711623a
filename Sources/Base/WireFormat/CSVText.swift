// SPDX-License-Identifier: Apache-2.0

/// Writes comma-separated values (RFC 4180). Lines end as those of NDJSON do.
///
/// Clients choose telephones, tokens and texts, and people open lists in spreadsheets: a cell that a spreadsheet would take
/// for a formula gets an apostrophe before it (OWASP, "CSV Injection"). `cell` removes it again.
package enum CSVText {
    /// Adds one record. nil is an empty field.
    package static func append(_ fields: some Sequence<String?>, to bytes: inout [UInt8]) {
        var isFirst = true
        for field in fields {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            if let field { append(quoted: field, to: &bytes) }
        }
        bytes.append(0x0A)
    }

    /// In quotes where it must be (RFC 4180, 2.6). By bytes: to `String`, a quote with a combining mark behind it is another
    /// character.
    private static func append(quoted text: String, to bytes: inout [UInt8]) {
        let needs = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        let isFormula = beginsFormula(text.utf8)
        guard needs else {
            if isFormula { bytes.append(apostrophe) }
            bytes.append(contentsOf: text.utf8)
            return
        }
        bytes.append(0x22)
        if isFormula { bytes.append(apostrophe) }
        for byte in text.utf8 {
            if byte == 0x22 { bytes.append(0x22) }
            bytes.append(byte)
        }
        bytes.append(0x22)
    }

    // MARK: Formulas

    private static let apostrophe = UInt8(ascii: "'")
    /// OWASP's list: = + - @, tab and line ends, and the four signs in full width.
    private static let signs: [[UInt8]] =
        ["=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"].map { Array($0.utf8) }

    /// Apostrophes at the front are passed over, so that `cell` removes one only where `append` has put one.
    private static func beginsFormula(_ bytes: some Collection<UInt8>) -> Bool {
        let rest = bytes.drop { $0 == apostrophe }
        guard let first = rest.first, first < 0x30 || first == 0x3D || first == 0x40 || first == 0xEF else {
            return false
        }
        return signs.contains { rest.starts(with: $0) }
    }

    /// A cell, without its quotes, as it was before it was written.
    package static func cell(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.first == apostrophe && beginsFormula(bytes) ? bytes.dropFirst() : bytes
    }
}
