// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import Testing

@testable import Threading

/// Zones from the system's tz database agree with Foundation's.
@Suite struct TimeZoneTests {
    /// With and without daylight saving, on both halves of the Earth, with odd offsets, with rules that have ended.
    static let zones = [
        "Asia/Shanghai", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/St_Johns",
        "America/Sao_Paulo", "America/Santiago", "Australia/Lord_Howe", "Australia/Sydney", "Antarctica/Troll",
        "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati",
        "US/Eastern", "Etc/UTC", "Etc/GMT+8", "UTC",
    ]

    /// The moments at which the two differ, in seconds since 1970.
    private func differences(_ zone: String, _ moments: some Sequence<Int64>) throws -> [Int64] {
        let (own, other) = (try #require(LocalZone(named: zone)), try #require(TimeZone(identifier: zone)))
        return moments.filter { moment in
            let offset = other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
            return own.local(Timestamp(seconds: moment)) != Timestamp(seconds: moment + Int64(offset))
        }
    }

    /// From 1970 to 2100.
    @Test(arguments: zones)
    func clocksAreThoseOfFoundation(_ zone: String) throws {
        #expect(try differences(zone, stride(from: 0, to: 4_102_444_800, by: 11 * 86_400 + 3607)).prefix(3) == [])
    }

    /// Within the file's list, at its end, and by its rule: to the second.
    @Test(arguments: zones)
    func clocksAreSetAtTheSameMoments(_ zone: String) throws {
        let other = try #require(TimeZone(identifier: zone))
        for start in [1_000_000_000, 1_767_225_600, 2_114_380_800, 2_840_140_800] {
            var moment = Date(timeIntervalSince1970: TimeInterval(start))
            for _ in 0..<6 {
                guard let next = other.nextDaylightSavingTimeTransition(after: moment) else { break }
                let second = Int64(next.timeIntervalSince1970)
                #expect(try differences(zone, second - 1...second + 1) == [], "\(next)")
                moment = next
            }
        }
    }

    @Test func everyZoneOfTheDatabaseIsRead() throws {
        let table = try String(contentsOfFile: "/usr/share/zoneinfo/zone1970.tab", encoding: .utf8)
        let names = table.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: "\t")[2] }
        #expect(names.count > 300)
        for name in names { #expect(LocalZone(named: String(name)) != nil, "\(name)") }
    }

    @Test(arguments: [
        "posix/Europe/Berlin", "right/Europe/Berlin", "Europe/../Europe/Berlin", "Europe/", "/Berlin", "Europe//Berlin",
        "Europe/Berlin ", "Europe/Bérlin", "Europe/berlin", "Europe", "./UTC", "tzdata.zi", "Europe/Berlin\0",
    ])
    func whatLeadsElsewhereIsNoZone(_ name: String) { #expect(LocalZone(named: name) == nil) }

    /// Any file that is cut short or has a byte changed is read or refused, and does no harm.
    @Test func aBrokenFileIsRefused() throws {
        let bytes = try WholeFile.read("/usr/share/zoneinfo/Europe/Berlin", limit: 1 << 20)
        #expect(TimeZoneFile(bytes) != nil)
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(TimeZoneFile(Array(bytes[..<count])) == nil, "\(count)")
        }
        for place in Array(0..<120) + stride(from: 120, to: bytes.count, by: 7) {
            var broken = bytes
            broken[place] = 0xFF
            _ = TimeZoneFile(broken)?.offset(at: 1_800_000_000)
        }
    }

    @Test(arguments: [
        ("UTC0", 0, 0), ("<+0330>-3:30", 12_600, 12_600), ("CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200),
        ("EST5EDT,M3.2.0,M11.1.0", -18_000, -14_400), ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600), ("XXX3YYY,J60/0,J300", -10_800, -7200),
        ("XXX3YYY2:00:00,59/0,299", -10_800, -7200), ("EST5EDT,0/0,J365/25", -14_400, -14_400),
    ])
    func rulesAreRead(_ text: String, _ winter: Int64, _ summer: Int64) throws {
        let rule = try #require(ClockRule(Array(text.utf8)[...]))
        // 2026-01-15 and 2026-07-15, each at noon.
        #expect(rule.offset(at: 1_768_478_400) == winter && rule.offset(at: 1_784_116_800) == summer)
    }

    @Test(arguments: [
        "", "CET", "-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,366,0", "<CET-1", "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-99999", "CET-1CEST,M3.5.0/,M10.5.0",
    ])
    func whatIsNoRuleIsRefused(_ text: String) { #expect(ClockRule(Array(text.utf8)[...]) == nil) }

    @Test(
        arguments: [
            ("Asia/Shanghai", 8.0), (":Asia/Shanghai", 8), ("CST-8", 8), ("America/St_Johns", -3.5), ("UTC", nil),
            ("", nil),
            ("Etc/UTC", nil), ("nowhere", nil), ("../etc/passwd", nil),
        ] as [(String, Double?)])
    func aTerminalsZoneIsThatOfTZ(_ variable: String, _ hours: Double?) throws {
        let zone = LocalZone.ofTerminal(["TZ": variable])
        // 2026-01-15 at noon.
        let noon = Timestamp(seconds: 1_768_478_400)
        #expect(zone.map { Double($0.local(noon).seconds - noon.seconds) / 3600 } == hours)
    }
}
