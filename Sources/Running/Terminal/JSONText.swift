// SPDX-License-Identifier: Apache-2.0

/// Makes foreign JSON safe for a terminal. JSON itself escapes only the characters below U+0020 (RFC 8259, 7), and terminals
/// obey others too.
package enum JSONText {
    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The same JSON, with every character escaped that would control a terminal.
    package static func shown(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.unicodeScalars.contains(where: { DisplayWidth.isControl($0) && $0 != "\n" }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result.unicodeScalars.append(scalar)
            // These occur between tokens only: inside a string they are escaped already.
            case "\r", "\t": result += " "
            case _ where DisplayWidth.isControl(scalar):
                result += String(scalar).utf16.map(escape).joined()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
