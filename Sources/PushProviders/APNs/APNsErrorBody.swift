// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What an error answer of APNs carries: `{"reason":"…"}`, and `"timestamp"` in milliseconds with a 410.
///
/// Read by hand from the bytes: a JSON decoder costs more than the push (STYLE 5). Anything that does not look like
/// that gives nil fields, and the status class decides.
struct APNsErrorBody: Hashable, Sendable {
    var reason: String?
    /// As the body has it; nil where it has none.
    var milliseconds: Int64?

    /// A reason is a word of letters; the longest known has 27.
    private static let maximumReason = 64

    /// What the judge read.
    init(reason: String, milliseconds: Int64?) {
        self.reason = reason
        self.milliseconds = milliseconds
    }

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
            if digits > 0, isWhole { milliseconds = value }
        }
    }

    /// Since when the token is dead; nil where the body does not say so in a way that can be believed: a moment of the future
    /// would retire a token that was registered since, and APNs is younger than July 2008.
    func timestamp(at now: Timestamp) -> Timestamp? {
        guard let milliseconds else { return nil }
        // Apple's are milliseconds. Seconds, should they ever come, would read as a moment of January 1970, and no dead token
        // would be retired any more.
        let time =
            milliseconds < Self.firstMilliseconds
            ? Timestamp(seconds: milliseconds) : Timestamp(milliseconds: milliseconds)
        return time >= Self.earliest && time <= now + .seconds(86_400) ? time : nil
    }

    /// 1 January 2008.
    private static let earliest = Timestamp(seconds: 1_199_145_600)
    /// Less than this in milliseconds is a moment before March 1973; in seconds it is the year 5138.
    private static let firstMilliseconds: Int64 = 100_000_000_000

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
    }

    private static func isSpaceOrColon(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == UInt8(ascii: ":")
    }

    /// Where the value of a key begins, behind the colon and white space (RFC 8259, 2).
    private static func valueStart(of key: StaticString, in body: [UInt8]) -> Int? {
        let key = Array(key.description.utf8)
        guard body.count > key.count else { return nil }
        var index = 0
        while index + key.count <= body.count {
            if body[index] == key[0], body[index..<index + key.count].elementsEqual(key) {
                index += key.count
                while index < body.count, isSpaceOrColon(body[index]) { index += 1 }
                return index < body.count ? index : nil
            }
            index += 1
        }
        return nil
    }
}
