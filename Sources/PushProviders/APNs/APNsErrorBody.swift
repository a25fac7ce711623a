// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What an error answer of APNs carries: `{"reason":"…"}`, and `"timestamp"` in milliseconds with a 410.
///
/// Read by hand from the bytes: a JSON decoder costs more than the push (STYLE 5). Anything that does not look like
/// that gives nil fields, and the status class decides.
struct APNsErrorBody: Hashable, Sendable {
    var reason: String?
    var timestamp: Timestamp?

    /// A reason is a word of letters; the longest known has 27.
    private static let maximumReason = 64
    /// Milliseconds; in seconds it is the year 5138.
    private static let earliest: Int64 = 100_000_000_000

    init(_ body: [UInt8]) {
        if var index = Self.valueStart(of: "\"reason\"", in: body), index < body.count,
            body[index] == UInt8(ascii: "\"")
        {
            index += 1
            let start = index
            while index < body.count, Self.isLetter(body[index]), index - start < Self.maximumReason { index += 1 }
            if index < body.count, body[index] == UInt8(ascii: "\""), index > start {
                reason = String(decoding: body[start..<index], as: UTF8.self)
            }
        }
        if let start = Self.valueStart(of: "\"timestamp\"", in: body) {
            var value: Int64 = 0
            var digits = 0
            for byte in body[start...] {
                guard byte >= 48, byte <= 57, digits < 16 else { break }
                value = value * 10 + Int64(byte - 48)
                digits += 1
            }
            // What the body ends with, or what has too many digits, may be half a number, and so another time: eleven digits of a
            // moment in 2024 are seconds of the year 2518, after every registration.
            let isWhole = start + digits < body.count && !(48...57).contains(body[start + digits])
            // Apple's are milliseconds. Seconds, should they ever come, would read as a moment of January 1970, and no dead
            // token would be retired any more; nothing was pushed before 1973, so the two cannot be confused.
            if digits > 0, isWhole {
                timestamp = value < Self.earliest ? Timestamp(seconds: value) : Timestamp(milliseconds: value)
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
    }

    /// Where the value of a key begins, behind the colon and white space.
    private static func valueStart(of key: StaticString, in body: [UInt8]) -> Int? {
        let key = Array(key.description.utf8)
        guard body.count > key.count else { return nil }
        var index = 0
        while index + key.count <= body.count {
            if body[index] == key[0], body[index..<index + key.count].elementsEqual(key) {
                index += key.count
                while index < body.count, body[index] == 32 || body[index] == UInt8(ascii: ":") { index += 1 }
                return index < body.count ? index : nil
            }
            index += 1
        }
        return nil
    }
}
