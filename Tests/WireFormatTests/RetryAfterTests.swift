// SPDX-License-Identifier: Apache-2.0
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
        #expect(HTTPDate.secondsSince1970(Array("Thu, 29 Feb 2024 00:00:00 GMT".utf8)) == 1_709_164_800)
        #expect(HTTPDate.secondsSince1970(Array("Thu, 01 Jan 1970 00:00:00 GMT".utf8)) == 0)
    }
}
