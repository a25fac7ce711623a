// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Base 64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Nil unless `text` is exactly what `encode` would have made of the answer: no line breaks, full padding, and
    /// unused bits zero (RFC 4648 section 3.5 allows a decoder to insist).
    package static func decode(_ text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        return Array(data)
    }
}

/// Base 64 with the URL alphabet and no padding (RFC 4648 section 5), as JOSE uses it (RFC 7515 section 2).
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }
        return exchanged(text, ("+", "-"), ("/", "_"))
    }

    /// Nil unless `text` is exactly what `encode` would have made of the answer.
    package static func decode(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Base64.decode(exchanged(Array(text.utf8), ("-", "+"), ("_", "/")) + padding)
    }

    private static func exchanged(_ text: [UInt8], _ pairs: (Unicode.Scalar, Unicode.Scalar)...) -> String {
        let bytes = text.map { byte in
            pairs.first { UInt8(ascii: $0.0) == byte }.map { UInt8(ascii: $0.1) } ?? byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
