// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The content of an error answer of APNs: `{"reason":"…"}`, and `"timestamp"` in milliseconds with a 410.
///
/// Read from the bytes, one pass: a JSON decoder costs more than the push (STYLE 5). Anything that does not look like that gives
/// nil fields, and the status class decides.
struct APNsErrorBody: Hashable, Sendable {
    var reason: String?
    /// The `timestamp` as the body has it; nil where it has none.
    var milliseconds: Int64?

    /// A reason is a word of letters; the longest known has 27.
    private static let maximumReason = 64
}

extension APNsErrorBody {
    init(_ body: [UInt8]) {
        var scan = ErrorScan(bytes: body)
        var (reason, milliseconds): (String?, Int64?) = (nil, nil)
        _ = scan.object { scan, key in
            switch key {
            case "reason": scan.string { reason = $0 }
            case "timestamp": scan.integer { milliseconds = $0 }
            default: scan.skip()
            }
        }
        if let word = reason?.utf8, !(1...Self.maximumReason).contains(word.count) || !word.allSatisfy(Self.isLetter) {
            reason = nil
        }
        (self.reason, self.milliseconds) = (reason, milliseconds)
    }

    /// The moment since when the token is dead; nil where the body does not give it in a credible way: a moment in the
    /// future would retire a token that was registered since, and one before 2008 is older than APNs.
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
}
