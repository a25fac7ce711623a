// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("Which counts of an app's versions are kept")
struct VersionCourseTests {
    private static let hour: Int64 = 3600
    private static let day = 24 * hour
    private static let week = 7 * day
    /// The beginning of a day, and of a week.
    private static let start = 2800 * week

    private func moment(_ seconds: Int64) -> Timestamp { Timestamp(seconds: Self.start + seconds) }

    @Test(
        "All of two days, the last of a day for 13 weeks, the last of a week for two years",
        arguments: [
            // Now, the counts, those that go.
            (0, [], []),
            (0, [0], []),
            (47 * hour, [0, hour, 23 * hour, 47 * hour], []),
            (48 * hour, [0, hour, 23 * hour, 48 * hour], []),
            (48 * hour + 1, [0, hour, 23 * hour, 48 * hour + 1], [0]),
            (72 * hour, [0, hour, 23 * hour, 25 * hour, 72 * hour], [0, hour]),
            // The last of its day stays, however old the next is.
            (30 * day, [23 * hour, day, 29 * day], []),
            (13 * week, [0, day, 6 * day, week, 13 * week], []),
            (13 * week + 1, [0, day, 6 * day, week, 13 * week + 1], [0]),
            (20 * week, [0, day, 6 * day, week, 20 * week], [0, day]),
            (104 * week, [0, week, 104 * week], []),
            (104 * week + 1, [0, week, 104 * week + 1], [0]),
            // The newest stays, however old it is.
            (500 * week, [0, week], [0]),
        ] as [(Int64, [Int64], [Int64])])
    func surplus(now: Int64, counts: [Int64], gone: [Int64]) {
        #expect(VersionCourse.surplus(of: counts.map(moment), at: moment(now)) == gone.map(moment))
    }

    @Test("An app that is counted every hour for three years has no more counts than the limit, without gaps")
    func bounded() {
        var (kept, most): ([Timestamp], Int) = ([], 0)
        // Not on the hour.
        for hours in 0..<(3 * 365 * 24) {
            let now = moment(Int64(hours) * Self.hour + 1234)
            kept.append(now)
            let surplus = Set(VersionCourse.surplus(of: kept, at: now))
            kept.removeAll { surplus.contains($0) }
            most = max(most, kept.count)
        }
        #expect(most <= VersionCourse.limit && most > VersionCourse.limit - 8, "\(most)")
        let now = kept.last ?? moment(0)
        for (one, next) in zip(kept, kept.dropFirst()) {
            let age = now - one
            let longest = age <= VersionCourse.hourly ? Self.hour : age <= VersionCourse.daily ? Self.day : Self.week
            // The end of a stretch may be followed by the end of a shorter one.
            #expect(next - one <= .seconds(longest), "\(one)")
        }
        #expect(now - (kept.first ?? now) > VersionCourse.weekly - .seconds(Self.week))
    }

    private func count(_ seconds: Int64, _ versions: [(String, Int64)], others: Int64 = 0) throws -> VersionCount {
        VersionCount(
            at: moment(seconds),
            rows: try versions.map { VersionCount.Row(version: try Version($0.0), devices: $0.1) }, others: others,
            unknown: 1)
    }

    @Test("A count has the versions with the most devices, and the rest as others")
    func most() throws {
        let counts = try (1...15).map { (version: try Version("1.\($0)"), devices: Int64(100 - $0)) }
        let (shares, _) = VersionShares.counted(
            counts + [(version: try Version("0.9"), devices: 1000)], unknown: 7, after: nil, by: RetirementRules(),
            at: moment(0))
        let count = try #require(VersionCount(shares))
        #expect(count.rows.count == VersionCount.most)
        #expect(count.rows.map(\.version.text) == (1...11).reversed().map { "1.\($0)" } + ["0.9"])
        #expect(count.others == 88 + 87 + 86 + 85 && count.unknown == 7)
        #expect(count.devices == shares.devices)
        #expect(try count.devices(of: Version("1.11.0")) == 89 && count.devices(of: Version("1.12")) == 0)
        let (none, _) = VersionShares.counted([], unknown: 0, after: shares, by: RetirementRules(), at: moment(9))
        #expect(VersionCount(none) == nil, "while no device was seen lately, nothing is known")
    }

    @Test(
        "A picture has the hours of the first days, later a count a day, and the versions that ever were the greatest")
    func shown() throws {
        let hours = try (0...48).map { try count(Int64($0) * Self.hour, [("2.0", Int64($0) + 1), ("1.0", 50)]) }
        #expect(VersionCourse.shown(hours) == hours)
        let later = hours + [try count(5 * Self.day, [("3.0", 5), ("2.0", 90)], others: 4)]
        #expect(
            VersionCourse.shown(later).map(\.at)
                == [23 * Self.hour, 47 * Self.hour, 48 * Self.hour, 5 * Self.day].map(moment))
        #expect(VersionCourse.shown([]).isEmpty)
        #expect(VersionCourse.leading(later, most: 2).map(\.text) == ["2.0", "1.0"])
        #expect(VersionCourse.leading(later, most: 9).map(\.text) == ["3.0", "2.0", "1.0"])
        let days = try (0..<400).map { try count(Int64($0) * Self.day, [("1", Int64($0) + 1)]) }
        #expect(VersionCourse.shown(days).count == 100 && VersionCourse.shown(days).last == days.last)
    }
}
