// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import Testing
import WireFormat

@Suite("Dates and times")
struct InternetTimeTests {
    @Test("moments as sources and clients write them")
    func moments() {
        #expect(Timestamp(internetTime: "2016-11-20T21:03:47Z") == Timestamp(seconds: 1_479_675_827))
        #expect(Timestamp(internetTime: "1970-01-01T00:00:00.250Z") == Timestamp(milliseconds: 250))
        #expect(Timestamp(internetTime: "1970-01-01t00:00:00.25z") == Timestamp(milliseconds: 250))
        #expect(Timestamp(internetTime: "2024-02-29T23:59:59Z") == Timestamp(seconds: 1_709_251_199))
        #expect(Timestamp(internetTime: "2016-11-20T22:03:47+01:00") == Timestamp(seconds: 1_479_675_827))
        // A leap second is the next minute's first.
        #expect(Timestamp(internetTime: "2016-12-31T23:59:60Z") == Timestamp(seconds: 1_483_228_800))
        #expect(Timestamp(internetTime: "0000-01-01T00:00:00Z") == Timestamp(milliseconds: -62_167_219_200_000))
    }

    @Test(
        "what is no moment",
        arguments: [
            "9999-12-31T23:59:60Z", "", "2016-11-20", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2016-13-01T00:00:00Z", "2016-00-01T00:00:00Z", "2016-01-00T00:00:00Z", "2016-11-31T00:00:00Z",
            "2016-11-20T24:00:00Z", "2016-11-20T21:60:00Z", "2016-11-20T21:03:61Z", "2016-11-20T21:03:47",
            "2016-11-20T21:03:47.Z", "2016-11-20T21:03:47+24:00", "+016-11-20T21:03:47Z", "0000-01-01T00:00:00+00:01",
        ])
    func none(text: String) {
        #expect(Timestamp(internetTime: text) == nil)
    }

    @Test("seconds are written as Foundation writes them")
    func seconds() {
        for second in stride(from: -62_135_596_800, to: 253_402_300_800, by: 86_400 * 397 + 3607) as StrideTo<Int64> {
            let other = Date(timeIntervalSince1970: TimeInterval(second)).formatted(.iso8601)
            // Before 1582 its calendar is another one.
            if second > -12_000_000_000 { #expect(Timestamp(seconds: second).internetSeconds == other) }
        }
        #expect(Timestamp(milliseconds: 1_800_000_000_999).internetSeconds == "2027-01-15T08:00:00Z")
        #expect(Timestamp(seconds: 253_402_300_799).internetSeconds == "9999-12-31T23:59:59Z")
    }

    @Test("every day of 800 years is written and read back")
    func days() {
        for day in Int64(-146_097)...146_097 {
            let moment = Timestamp(milliseconds: day * 86_400_000 + 86_399_999)
            guard Timestamp(internetTime: moment.internetTime) == moment else {
                Issue.record("\(day): \(moment.internetTime)")
                return
            }
        }
    }

    @Test("a moment that cannot be written is the nearest that can")
    func unwritable() {
        #expect(Timestamp(milliseconds: .max).internetTime == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).internetTime == "0000-01-01T00:00:00.000Z")
    }
}
