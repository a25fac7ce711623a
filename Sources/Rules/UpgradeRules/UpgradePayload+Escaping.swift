// SPDX-License-Identifier: Apache-2.0

// RFC 8259, section 7: "All Unicode characters may be placed within the quotation marks, except for the characters that
// MUST be escaped: quotation mark, reverse solidus, and the control characters (U+0000 through U+001F)." All other characters
// are sent unescaped, also DEL, "/", U+2028 and U+2029, because an escape costs more of the 4096 bytes. Only U+FEFF is escaped,
// because some parsers (such as Foundation's on Linux) take it for a byte order mark at the start of a string and drop it: the
// push for "\u{FEFF}1" would reach the user "1". Section 8.1 requires UTF-8, so bytes that are not valid UTF-8 become U+FFFD: APNs
// would refuse a body that it cannot parse.
extension UpgradePayload {
    /// Appends a text as it stands between the quotation marks of a JSON string.
    ///
    /// - Parameters:
    ///   - arena: UTF-8 texts, one after another.
    ///   - range: the place of the text. Must lie inside the arena.
    ///   - output: the buffer that the escaped text is appended to.
    @inlinable
    public static func appendEscaped(_ arena: [UInt8], _ range: Range<Int>, to output: inout [UInt8]) {
        for place in range {
            guard !isPlain(arena[place]) else { continue }
            // All bytes before this one are ASCII, so the rest starts at a scalar's first byte.
            output.append(contentsOf: arena[range.lowerBound..<place])
            appendEscaped(arena[place..<range.upperBound], to: &output)
            return
        }
        output.append(contentsOf: arena[range])
    }

    /// The same for any bytes; slower, for texts that are rendered once.
    public static func appendEscaped(_ utf8: some Collection<UInt8>, to output: inout [UInt8]) {
        // A string made from bytes is valid Unicode: invalid bytes have become U+FFFD.
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"": output.append(contentsOf: #"\""#.utf8)
            case "\\": output.append(contentsOf: #"\\"#.utf8)
            case "\u{08}": output.append(contentsOf: #"\b"#.utf8)
            case "\t": output.append(contentsOf: #"\t"#.utf8)
            case "\n": output.append(contentsOf: #"\n"#.utf8)
            case "\u{0C}": output.append(contentsOf: #"\f"#.utf8)
            case "\r": output.append(contentsOf: #"\r"#.utf8)
            case "\u{00}"..."\u{1F}":
                output.append(contentsOf: #"\u00"#.utf8)
                output.append(hexDigit(UInt8(scalar.value) >> 4))
                output.append(hexDigit(UInt8(scalar.value) & 0x0F))
            case "\u{FEFF}": output.append(contentsOf: #"\ufeff"#.utf8)
            default: output.append(contentsOf: scalar.utf8)
            }
        }
    }

    /// The number of bytes that `appendEscaped` appends.
    public static func escapedSize(_ utf8: some Collection<UInt8>) -> Int {
        var size = 0
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"", "\\", "\u{08}", "\t", "\n", "\u{0C}", "\r": size += 2
            case "\u{00}"..."\u{1F}", "\u{FEFF}": size += 6
            default: size += scalar.utf8.count
            }
        }
        return size
    }

    /// Whether a byte is ASCII and stands for itself in a JSON string.
    @inlinable
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
