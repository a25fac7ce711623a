// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import Testing
import Threading
import WireFormat

@testable import ClientCommands

@Suite struct ZonedMomentTests {
    @Test(
        arguments: [
            ("2026-12-01T01:00:00Z", "2026-12-01T01:00:00.000Z"),
            ("2026-12-01T09:00:00+08:00", "2026-12-01T01:00:00.000Z"),
            ("2026-12-01 09:00 Asia/Shanghai", "2026-12-01T01:00:00.000Z"),
            ("2026-12-01 09:00:30 Europe/Berlin", "2026-12-01T08:00:30.000Z"),
            ("2026-07-01 09:00 Europe/Berlin", "2026-07-01T07:00:00.000Z"),
            ("2026-12-01 09:00 UTC", "2026-12-01T09:00:00.000Z"),
            // The night of 25 hours has 02:30 twice: the first one is taken.
            ("2026-10-25 02:30 Europe/Berlin", "2026-10-25T00:30:00.000Z"),
            ("2026-10-25 03:00 Europe/Berlin", "2026-10-25T02:00:00.000Z"),
            ("2026-03-29 01:59 Europe/Berlin", "2026-03-29T00:59:00.000Z"),
            ("2026-03-29 03:00 Europe/Berlin", "2026-03-29T01:00:00.000Z"),
        ])
    func moments(_ text: String, _ expected: String) {
        #expect(ZonedMoment(text)?.moment.internetTime == expected)
    }

    @Test func aTimeWithoutAZoneIsOneOfTheUsualZone() throws {
        let zone = try #require(LocalZone(named: "Asia/Shanghai"))
        for text in ["2026-12-01 09:00", "2026-12-01T09:00", "2026-12-01 09:00:00"] {
            #expect(ZonedMoment(text, in: zone)?.moment.internetTime == "2026-12-01T01:00:00.000Z", "\(text)")
        }
        #expect(ZonedMoment("2026-12-01 09:00 UTC", in: zone)?.moment.internetTime == "2026-12-01T09:00:00.000Z")
        for text in ["2026-12-01", "09:00", "tomorrow 09:00"] { #expect(ZonedMoment(text, in: zone) == nil, "\(text)") }
    }

    @Test(
        arguments: [
            "", "2026-12-01", "2026-12-01 09:00", "09:00 Asia/Shanghai", "2026-12-01 09:00 Shanghai",
            "2026-13-01 09:00 UTC",
            "2026-12-01 25:00 UTC", "tomorrow 09:00 UTC", "2026-12-01T09:00:00",
            // The night of 23 hours has no 02:30.
            "2026-03-29 02:30 Europe/Berlin",
        ])
    func noMoments(_ text: String) {
        #expect(ZonedMoment(text) == nil)
    }
}
