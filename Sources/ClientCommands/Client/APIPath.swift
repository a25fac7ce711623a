// SPDX-License-Identifier: Apache-2.0

/// Builds paths from parts that may hold anything.
package enum APIPath {
    /// "/v1/apps/com.example.app/ios": each part percent-encoded (RFC 3986, 2.1).
    package static func make(_ parts: [String], query: [(String, String?)] = []) -> String {
        let path = "/" + parts.map(encoded).joined(separator: "/")
        let pairs = query.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
        return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
    }

    /// All but the unreserved characters (RFC 3986, 2.3).
    package static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(Character(Unicode.Scalar(byte)))
            default:
                result.append("%")
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 15)])
            }
        }
        return result
    }
}
