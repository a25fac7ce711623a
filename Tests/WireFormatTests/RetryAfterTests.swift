// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import WireFormat

struct RetryAfterTests {
    /// RFC 9110's own example, 784111777 seconds after 1970, in its three formats; "now" is 100 seconds before.
    @Test(arguments: [
        ("120", 120), ("0", 0), ("99999999999999", Int32.max),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 100), ("Sunday, 06-Nov-94 08:49:37 GMT", 100),
        ("Sun Nov  6 08:49:37 1994", 100),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
    ])
    func understood(text: String, seconds: Int32) {
        #expect(RetryAfter.seconds(Array(text.utf8), now: 784_111_677) == seconds)
    }

    @Test(arguments: [
        "", "-1", "1.5", "soon", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
    ])
    func refused(text: String) {
        #expect(RetryAfter.seconds(Array(text.utf8), now: 0) == nil)
    }

    @Test func leapYears() {
        #expect(HTTPDate.secondsSince1970(Array("Thu, 29 Feb 2024 00:00:00 GMT".utf8), now: 0) == 1_709_164_800)
        #expect(HTTPDate.secondsSince1970(Array("Thu, 01 Jan 1970 00:00:00 GMT".utf8), now: 0) == 0)
    }

    @Test("as a duration, of a year at most")
    func durations() {
        let now = Timestamp(seconds: 784_111_777)
        #expect(RetryAfter.duration("29", at: now) == .seconds(29))
        #expect(RetryAfter.duration(" Sun, 06 Nov 1994 08:50:37 GMT", at: now) == .seconds(60))
        #expect(RetryAfter.duration("Sunday, 06-Nov-94 08:50:37 GMT", at: now) == .seconds(60))
        #expect(RetryAfter.duration("Sun Nov  6 08:50:37 1994", at: now) == .seconds(60))
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:00:00 GMT", at: now) == .zero)
        for ever in ["31622401", "4000000000", "99999999999999"] {
            #expect(RetryAfter.duration(ever, at: now) == .seconds(366 * 86_400), "\(ever)")
        }
        for wrong in [
            "soon", "Sun 06 Nov 1994 08:49:37 GMT", "Sun,11-20T21: 1 Feb 1994 08:44:37 GMT", "x 6 Nov 1994 8:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "-5",
        ] {
            #expect(RetryAfter.duration(wrong, at: now) == nil, "\(wrong)")
        }
    }

    /// RFC 9110, 5.6.7: of two digits, the year that is at most 50 years ahead.
    @Test(arguments: [("94", 784_111_777), ("30", 1_920_185_377), ("76", 3_371_878_177), ("77", 247_654_177)])
    func yearsOfTwoDigits(year: String, seconds: Int64) {
        let now: Int64 = 1_767_225_600  // 2026
        #expect(HTTPDate.secondsSince1970(Array("Sunday, 06-Nov-\(year) 08:49:37 GMT".utf8), now: now) == seconds)
    }
}
