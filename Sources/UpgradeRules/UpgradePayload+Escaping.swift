// SPDX-License-Identifier: Apache-2.0

// RFC 8259, section 7: "All Unicode characters may be placed within the quotation marks, except for the characters that
// MUST be escaped: quotation mark, reverse solidus, and the control characters (U+0000 through U+001F)." Everything else
// goes out as it is, also DEL, "/", U+2028 and U+2029, because an escape costs more of the 4096 bytes. Section 8.1 wants
// UTF-8, so bytes that are not valid UTF-8 become U+FFFD: a body that APNs cannot parse would be refused.
extension UpgradePayload {
    /// Appends what stands between the quotation marks of a JSON string.
    ///
    /// - Parameters:
    ///   - arena: UTF-8 texts, one after another.
    ///   - range: where the text is. Must lie inside the arena.
    ///   - output: what the escaped text is appended to.
    @inlinable
    public static func appendEscaped(_ arena: [UInt8], _ range: Range<Int>, to output: inout [UInt8]) {
        for place in range {
            guard !isPlain(arena[place]) else { continue }
            // Up to here all is ASCII, so the rest starts at a scalar's first byte.
            output.append(contentsOf: arena[range.lowerBound..<place])
            appendEscaped(arena[place..<range.upperBound], to: &output)
            return
        }
        output.append(contentsOf: arena[range])
    }

    /// The same for any bytes; slower, for the texts that are rendered once.
    public static func appendEscaped(_ utf8: some Collection<UInt8>, to output: inout [UInt8]) {
        // A string made from bytes is valid Unicode: invalid bytes have become U+FFFD.
        for byte in String(decoding: utf8, as: UTF8.self).utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0x08: output.append(contentsOf: #"\b"#.utf8)
            case 0x09: output.append(contentsOf: #"\t"#.utf8)
            case 0x0A: output.append(contentsOf: #"\n"#.utf8)
            case 0x0C: output.append(contentsOf: #"\f"#.utf8)
            case 0x0D: output.append(contentsOf: #"\r"#.utf8)
            case 0x00..<0x20:
                output.append(contentsOf: #"\u00"#.utf8)
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 0x0F))
            default:
                output.append(byte)
            }
        }
    }

    /// How many bytes `appendEscaped` appends.
    public static func escapedSize(_ utf8: some Collection<UInt8>) -> Int {
        var size = 0
        for byte in String(decoding: utf8, as: UTF8.self).utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: size += 2
            case 0x00..<0x20: size += 6
            default: size += 1
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
