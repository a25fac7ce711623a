// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The fields of a body in `application/x-www-form-urlencoded` (WHATWG URL, section 5.1).
enum OAuthForm {
    /// Returns nil where the body is something else, or a field comes twice: "Request and response parameters MUST NOT be
    /// included more than once" (RFC 6749, 3.2).
    static func read(_ body: [UInt8], _ contentType: ArraySlice<UInt8>?) -> [String: String]? {
        let type = contentType?.prefix { $0 != UInt8(ascii: ";") }.map { $0 | 0x20 } ?? []
        guard type == Array("application/x-www-form-urlencoded".utf8) else { return nil }
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = unescaped(halves[0]), let value = unescaped(halves[1]),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return fields
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap({ Hex.value(of: $0) }),
                    let low = rest.popFirst().flatMap({ Hex.value(of: $0) })
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
