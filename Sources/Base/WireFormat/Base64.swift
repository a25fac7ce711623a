// SPDX-License-Identifier: Apache-2.0

/// Base 64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    private static let digits = Base64Digits(last: "+", "/")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text = digits.encode(bytes)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil unless `text` is exactly the encoding of the result: no line breaks, full padding, and unused bits zero (RFC 4648
    /// section 3.5 allows a decoder to insist).
    package static func decode(_ text: String) -> [UInt8]? {
        var rest = Array(text.utf8)[...]
        guard rest.count % 4 == 0 else { return nil }
        for _ in 0..<2 where rest.last == UInt8(ascii: "=") { rest.removeLast() }
        return digits.decode(rest)
    }
}

/// Base 64 with the URL alphabet and no padding (RFC 4648 section 5), as JOSE uses it (RFC 7515 section 2).
package enum Base64URL {
    private static let digits = Base64Digits(last: "-", "_")

    package static func encode(_ bytes: [UInt8]) -> String { String(decoding: digits.encode(bytes), as: UTF8.self) }

    /// Nil unless `text` is exactly the encoding of the result.
    package static func decode(_ text: String) -> [UInt8]? { digits.decode(Array(text.utf8)[...]) }
}

/// The 64 digits of an alphabet, six bits each; no padding.
private struct Base64Digits: Sendable {
    private let digits: [UInt8]
    /// Values by byte; `none` where it is no digit.
    private let values: [UInt8]
    private static let none: UInt8 = 0xFF

    /// - Parameter last: the digits for 62 and 63.
    init(last: Unicode.Scalar...) {
        let ranges = [
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
        ]
        let digits = ranges.flatMap { Array($0) } + last.map { UInt8(ascii: $0) }
        var values = [UInt8](repeating: Self.none, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        (self.digits, self.values) = (digits, values)
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        // And room for the padding.
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digits[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 { text.append(digits[Int(bits << UInt32(6 - count) & 0x3F)]) }
        return text
    }

    /// Nil where there is another character, a digit that ends no byte, or an unused bit that is not 0.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            let value = values[Int(character)]
            guard value != Self.none else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }
}
