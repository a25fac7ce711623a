// SPDX-License-Identifier: Apache-2.0

/// Base 64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        Sextets.encode(bytes, alphabet: Sextets.standard, padded: true)
    }

    /// Nil unless `text` is exactly what `encode` would have made of the answer: no line breaks, full padding, and
    /// unused bits zero (RFC 4648 section 3.5 allows a decoder to insist).
    package static func decode(_ text: String) -> [UInt8]? {
        Sextets.decode(text, values: Sextets.standardValues, padded: true)
    }
}

/// Base 64 with the URL alphabet and no padding (RFC 4648 section 5), as JOSE uses it (RFC 7515 section 2).
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        Sextets.encode(bytes, alphabet: Sextets.url, padded: false)
    }

    /// Nil unless `text` is exactly what `encode` would have made of the answer.
    package static func decode(_ text: String) -> [UInt8]? {
        Sextets.decode(text, values: Sextets.urlValues, padded: false)
    }
}

/// The arithmetic both alphabets share.
enum Sextets {
    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    static let standard = common + Array("+/".utf8)
    static let url = common + Array("-_".utf8)
    static let standardValues = values(of: standard)
    static let urlValues = values(of: url)

    private static let none: UInt8 = 255

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: none, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }

    static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[index + 2]) }
            for place in 0...count { text.append(alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)]) }
            if padded { for _ in count..<3 { text.append(UInt8(ascii: "=")) } }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: String, values: [UInt8], padded: Bool) -> [UInt8]? {
        var characters = Array(text.utf8)
        if padded {
            guard characters.count % 4 == 0 else { return nil }
            for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        }
        guard characters.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var group: UInt32 = 0
        var bits = 0
        for character in characters {
            let value = values[Int(character)]
            guard value != none else { return nil }
            group = group << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
                group &= (1 << UInt32(bits)) - 1
            }
        }
        return group == 0 ? bytes : nil
    }
}
