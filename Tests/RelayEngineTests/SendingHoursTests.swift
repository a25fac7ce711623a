// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import Threading
import WireFormat

/// The hours of the day in which pushes may begin, in zones as the tz database has them.
@Suite struct SendingHoursTests {
    static func hours(_ from: String, _ to: String, _ zone: String) throws -> SendingHours {
        let (first, last) = (try #require(SendingHours.DayTime(from)), try #require(SendingHours.DayTime(to)))
        let zone = try #require(LocalZone(named: zone))
        return try #require(SendingHours(from: first, to: last, zone: zone))
    }

    static func moment(_ text: String) throws -> Timestamp {
        try #require(Timestamp(internetTime: text.count == 16 ? text + ":00Z" : text + "Z"), "\(text)")
    }

    struct Day: Sendable, CustomTestStringConvertible {
        let (from, to, zone): (String, String, String)
        /// A moment, and the window that is open then, else the next: in UTC.
        let (now, opens, closes): (String, String, String)

        init(_ hours: String, _ zone: String, at now: String, _ opens: String, _ closes: String) {
            (from, to, self.zone) = (String(hours.prefix(5)), String(hours.suffix(5)), zone)
            (self.now, self.opens, self.closes) = (now, opens, closes)
        }

        var testDescription: String { "\(from) to \(to) \(zone) at \(now)" }
    }

    static let days: [Day] = [
        // No daylight saving.
        Day("08:00 22:00", "Asia/Shanghai", at: "2026-12-01T00:00", "2026-12-01T00:00", "2026-12-01T14:00"),
        Day("08:00 22:00", "Asia/Shanghai", at: "2026-12-01T13:59:59", "2026-12-01T00:00", "2026-12-01T14:00"),
        Day("08:00 22:00", "Asia/Shanghai", at: "2026-12-01T14:00", "2026-12-02T00:00", "2026-12-02T14:00"),
        Day("08:00 22:00", "Asia/Shanghai", at: "2026-12-01T23:59:59.999", "2026-12-02T00:00", "2026-12-02T14:00"),
        // Over midnight.
        Day("22:00 06:00", "Asia/Shanghai", at: "2026-12-01T16:30", "2026-12-01T14:00", "2026-12-01T22:00"),
        Day("22:00 06:00", "Asia/Shanghai", at: "2026-12-01T22:00", "2026-12-02T14:00", "2026-12-02T22:00"),
        // To the end of the day.
        Day("08:00 00:00", "Asia/Shanghai", at: "2026-12-01T15:59", "2026-12-01T00:00", "2026-12-01T16:00"),
        // A day of 23 hours, and one of 25, around usual hours: the wall clock counts.
        Day("08:00 22:00", "Europe/Berlin", at: "2026-03-28T21:00", "2026-03-29T06:00", "2026-03-29T20:00"),
        Day("08:00 22:00", "Europe/Berlin", at: "2026-10-24T20:00", "2026-10-25T07:00", "2026-10-25T21:00"),
        Day("08:00 22:00", "America/New_York", at: "2026-03-08T03:00", "2026-03-08T12:00", "2026-03-09T02:00"),
        Day("08:00 22:00", "America/New_York", at: "2026-11-01T02:00", "2026-11-01T13:00", "2026-11-02T03:00"),
        // Clocks leap from 02:00 to 03:00 at 01:00 UTC: it opens, it closes, as they leap.
        Day("02:30 22:00", "Europe/Berlin", at: "2026-03-29T00:59:59", "2026-03-29T01:00", "2026-03-29T20:00"),
        Day("22:00 02:30", "Europe/Berlin", at: "2026-03-29T00:30", "2026-03-28T21:00", "2026-03-29T01:00"),
        Day("22:00 02:30", "Europe/Berlin", at: "2026-03-29T01:00", "2026-03-29T20:00", "2026-03-30T00:30"),
        Day("03:00 22:00", "Europe/Berlin", at: "2026-03-29T00:00", "2026-03-29T01:00", "2026-03-29T20:00"),
        // Both are leaped over: not on that day.
        Day("02:15 02:45", "Europe/Berlin", at: "2026-03-29T00:30", "2026-03-30T00:15", "2026-03-30T00:45"),
        // Clocks are set from 03:00 to 02:00 at 01:00 UTC, and show 02:30 twice: it opens at the second, and closes at the first.
        Day("02:30 22:00", "Europe/Berlin", at: "2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T21:00"),
        Day("22:00 02:30", "Europe/Berlin", at: "2026-10-25T00:29:59", "2026-10-24T20:00", "2026-10-25T00:30"),
        Day("22:00 02:30", "Europe/Berlin", at: "2026-10-25T00:30", "2026-10-25T21:00", "2026-10-26T01:30"),
        Day("22:00 02:30", "Europe/Berlin", at: "2026-10-25T01:10", "2026-10-25T21:00", "2026-10-26T01:30"),
        // All of it twice: once.
        Day("02:15 02:45", "Europe/Berlin", at: "2026-10-25T00:00", "2026-10-25T01:15", "2026-10-25T01:45"),
        Day("01:30 22:00", "America/New_York", at: "2026-11-01T05:30", "2026-11-01T06:30", "2026-11-02T03:00"),
        // Half an hour, on the other half of the Earth: from 02:00 to 02:30, and from 02:00 to 01:30.
        Day("02:15 22:00", "Australia/Lord_Howe", at: "2026-10-03T15:00", "2026-10-03T15:30", "2026-10-04T11:00"),
        Day("01:45 22:00", "Australia/Lord_Howe", at: "2026-04-04T14:46", "2026-04-04T15:15", "2026-04-05T11:30"),
        Day("22:00 01:45", "Australia/Lord_Howe", at: "2026-04-04T14:45", "2026-04-05T11:30", "2026-04-05T15:15"),
    ]

    @Test(arguments: days)
    func windows(_ day: Day) throws {
        let hours = try Self.hours(day.from, day.to, day.zone)
        let now = try Self.moment(day.now)
        let window = hours.window(at: now)
        #expect(window.opens.internetTime == (try Self.moment(day.opens)).internetTime)
        #expect(window.closes.internetTime == (try Self.moment(day.closes)).internetTime)
        #expect(hours.isOpen(at: now) == (window.opens <= now))
        #expect(hours.soonest(from: now) == max(now, window.opens))
    }

    /// For each quarter of an hour of two years: an open moment shows a time of the window, and the other way round, except for
    /// hours that clocks show twice.
    @Test(arguments: ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll"])
    func openIsWhatClocksShow(_ zone: String) throws {
        for (from, to) in [
            ("08:00", "22:00"), ("22:00", "06:00"), ("02:15", "02:45"), ("01:45", "01:30"), ("00:00", "23:59"),
        ] {
            let hours = try Self.hours(from, to, zone)
            var differ = 0
            var moment = try Self.moment("2026-01-01T00:00")
            for _ in 0..<(2 * 365 * 96) {
                let shown = try #require(SendingHours.DayTime(hours.clock(at: moment)))
                let isWithin =
                    hours.from.minutes < hours.to.minutes
                    ? (hours.from.minutes..<hours.to.minutes).contains(shown.minutes)
                    : shown.minutes >= hours.from.minutes || shown.minutes < hours.to.minutes
                let isOpen = hours.isOpen(at: moment)
                if isOpen { #expect(isWithin, "\(hours) at \(moment.internetTime)") }
                if isWithin, !isOpen { differ += 1 }
                moment = moment + .seconds(900)
            }
            // Two hours in each of two autumns at most (Antarctica/Troll).
            #expect(differ <= 2 * 8)
        }
    }

    /// The time that sending takes includes the nights.
    @Test func nightsAreNoTimeToSendIn() throws {
        let hours = try Self.hours("08:00", "22:00", "Asia/Shanghai")
        let evening = try Self.moment("2026-12-01T13:00")
        #expect(hours.time(toSpend: .seconds(3600), from: evening) == .seconds(3600))
        #expect(hours.time(toSpend: .seconds(3601), from: evening) == .seconds(11 * 3600 + 1))
        #expect(hours.time(toSpend: .zero, from: evening + .seconds(3600)) == .seconds(10 * 3600))
        #expect(hours.time(toSpend: .seconds(20 * 3600), from: evening) == .seconds(20 * 3600 + 2 * 10 * 3600))
        #expect(hours.time(toSpend: .seconds(400 * 14 * 3600), from: evening) == nil)
    }

    @Test func aTimeOfDayIsReadToTheMinute() {
        #expect(SendingHours.DayTime("23:59")?.minutes == 1439 && SendingHours.DayTime("00:00")?.minutes == 0)
        for text in ["24:00", "8:00", "08:60", "08.00", "08:00:00", "-1:00", "", "٠٨:٠٠"] {
            #expect(SendingHours.DayTime(text) == nil, "\(text)")
        }
    }

    @Test func onlyNamesOfTheDatabaseAreZones() {
        for name in ["Asia/Shanghai", "Europe/Kyiv", "US/Eastern", "Etc/UTC", "UTC"] {
            #expect(LocalZone(named: name)?.name == name)
        }
        for name in ["GMT+8", "EST", "+08:00", "asia/shanghai", "Asia/Peking", "../etc/passwd", " UTC", ""] {
            #expect(LocalZone(named: name) == nil, "\(name)")
        }
    }
}

/// Whether a campaign may begin anything, and when that changes.
@Suite struct HoursWatchTests {
    private let opens = Timestamp(seconds: 1_800_000_000)

    /// From `opens` for 14 hours of each day.
    private func watch() throws -> HoursWatch {
        let zone = LocalZone(name: "Test/Zone") { [opens] _ in 28_800 - (opens.seconds % 86_400) }
        let (first, last) = (try #require(SendingHours.DayTime("08:00")), try #require(SendingHours.DayTime("22:00")))
        return HoursWatch(SendingHours(from: first, to: last, zone: zone))
    }

    @Test func fallsAsleepAndWakes() throws {
        var watch = try watch()
        let closes = opens + .seconds(14 * 3600)
        let next = opens + .seconds(86_400)
        #expect(watch.look(isUrgent: false, at: opens) == .none && watch.changesAt == closes && !watch.isAsleep)
        #expect(watch.look(isUrgent: false, at: closes - .milliseconds(1)) == .none)
        #expect(watch.look(isUrgent: false, at: closes) == .fellAsleep(until: next))
        #expect(watch.look(isUrgent: false, at: closes) == .none, "once")
        #expect(watch.sleepsUntil == next && watch.changesAt == next)
        #expect(watch.look(isUrgent: false, at: next) == .woke && watch.changesAt == next + .seconds(14 * 3600))
    }

    @Test func whoIsBegunAtNightSleepsAtOnce() throws {
        var watch = try watch()
        #expect(watch.look(isUrgent: false, at: opens - .seconds(60)) == .fellAsleep(until: opens))
    }

    @Test func whatIsWantedAtOnceWakesAndDoesNotSleep() throws {
        var watch = try watch()
        let night = opens + .seconds(15 * 3600)
        _ = watch.look(isUrgent: false, at: night)
        #expect(watch.look(isUrgent: true, at: night) == .woke && watch.changesAt == nil)
        #expect(watch.look(isUrgent: true, at: night + .seconds(30 * 86_400)) == .none)
        // A pause has taken that back.
        #expect(watch.look(isUrgent: false, at: night) == .fellAsleep(until: opens + .seconds(86_400)))
    }

    /// A clock that was set is followed, both ways: the time of an earlier look is not kept.
    @Test func aClockThatIsSetIsFollowed() throws {
        var watch = try watch()
        let day = opens + .seconds(3600)
        #expect(watch.look(isUrgent: false, at: day) == .none)
        #expect(watch.look(isUrgent: false, at: day - .seconds(2 * 3600)) == .fellAsleep(until: opens))
        #expect(watch.look(isUrgent: false, at: day) == .woke)
        #expect(
            watch.look(isUrgent: false, at: day + .seconds(20 * 3600)) == .fellAsleep(until: opens + .seconds(86_400)))
        #expect(watch.look(isUrgent: false, at: day) == .woke)
    }

    @Test func withoutHoursNothingChanges() {
        var watch = HoursWatch(nil)
        #expect(watch.look(isUrgent: false, at: opens) == .none && watch.changesAt == nil && !watch.isAsleep)
    }
}
