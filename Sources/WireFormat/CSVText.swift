// SPDX-License-Identifier: Apache-2.0

/// Writes comma-separated values (RFC 4180). Lines end as those of NDJSON do.
package enum CSVText {
    /// Adds one record. What is nil is an empty field.
    package static func append(_ fields: some Sequence<String?>, to bytes: inout [UInt8]) {
        var isFirst = true
        for field in fields {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            if let field { append(quoted: field, to: &bytes) }
        }
        bytes.append(0x0A)
    }

    /// In quotes where it must be (RFC 4180, 2.6). By bytes: with a combining mark behind it, a quote is another character to `String`.
    private static func append(quoted text: String, to bytes: inout [UInt8]) {
        let needs = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard needs else {
            bytes.append(contentsOf: text.utf8)
            return
        }
        bytes.append(0x22)
        for byte in text.utf8 {
            if byte == 0x22 { bytes.append(0x22) }
            bytes.append(byte)
        }
        bytes.append(0x22)
    }
}
