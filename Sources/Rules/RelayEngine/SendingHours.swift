// SPDX-License-Identifier: Apache-2.0

/// The hours of the day in which an app's pushes may begin (`pace.hours`), by the clocks of a zone. Pure: it depends on the
/// time alone, and nothing is stored.
///
/// Each day has one window, from `from` to the next `to` after it, also over midnight. On the two days of a year when clocks
/// are set, users who sleep come first:
///
/// | clocks | `from` | `to` |
/// |---|---|---|
/// | leap over it | opens as they leap | closes as they leap |
/// | show it twice | opens at the second | closes at the first after the opening |
///
/// So while a window is open, clocks show a time in it, and none opens twice. A window of which both ends are leaped over
/// does not open on that day.
package struct SendingHours: Sendable, Hashable {
    package struct Window: Sendable, Hashable {
        package var opens: Timestamp
        /// Exclusive.
        package var closes: Timestamp

        package init(opens: Timestamp, closes: Timestamp) {
            self.opens = opens
            self.closes = closes
        }
    }

    /// A time of day to the minute: 0 to 1439 minutes past midnight.
    package struct DayTime: Sendable, Hashable {
        package let minutes: Int

        /// nil out of range.
        package init?(minutes: Int) {
            guard (0..<Self.ofDay).contains(minutes) else { return nil }
            self.minutes = minutes
        }

        /// "08:00", "23:59"; nil for anything else.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
                [bytes[0], bytes[1], bytes[3], bytes[4]].allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            else { return nil }
            func number(_ place: Int) -> Int { Int(bytes[place] - 48) * 10 + Int(bytes[place + 1] - 48) }
            guard number(3) < 60 else { return nil }
            self.init(minutes: number(0) * 60 + number(3))
        }

        private init() { minutes = 0 }

        package static let midnight = DayTime()

        static let ofDay = 24 * 60

        /// "08:00"
        package var text: String {
            func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
            return two(minutes / 60) + ":" + two(minutes % 60)
        }
    }

    package let from: DayTime
    package let to: DayTime
    package let zone: LocalZone

    /// nil where both are the same: that could mean never or always.
    package init?(from: DayTime, to: DayTime, zone: LocalZone) {
        guard from != to else { return nil }
        self.from = from
        self.to = to
        self.zone = zone
    }

    /// How long nothing may begin, from one window to the next, on a day of 24 hours.
    package var closed: Duration {
        .seconds(60 * ((from.minutes - to.minutes + DayTime.ofDay) % DayTime.ofDay))
    }

    /// The open window, or the next one if none is open.
    package func window(at now: Timestamp) -> Window {
        let today = zone.local(now).milliseconds / Self.day.milliseconds
        // Where a day is longer than usual, the window of the day before yesterday may be open. Only a day on which clocks
        // leap has none.
        var day = today - 2
        while true {
            if let window = window(ofDay: day), window.closes > now { return window }
            day += 1
        }
    }

    /// When the next window opens; nil: one is open.
    package func opening(after now: Timestamp) -> Timestamp? {
        let opens = window(at: now).opens
        return opens > now ? opens : nil
    }

    /// `now` if a window is open, else when the next one opens.
    package func soonest(from now: Timestamp) -> Timestamp { opening(after: now) ?? now }

    package func isOpen(at now: Timestamp) -> Bool { opening(after: now) == nil }

    /// How long from now until `time` has passed within windows; nil where that is more than a year.
    package func time(toSpend time: Duration, from now: Timestamp) -> Duration? {
        var (left, moment) = (time, now)
        for _ in 0..<366 {
            let window = window(at: moment)
            let begin = max(window.opens, moment)
            if begin + left <= window.closes { return begin + left - now }
            left -= window.closes - begin
            moment = window.closes
        }
        return nil
    }

    private static let day = Duration.seconds(86_400)

    /// - Parameter day: since 1970, by the zone's calendar.
    private func window(ofDay day: Int64) -> Window? {
        func local(_ day: Int64, _ time: DayTime) -> Timestamp {
            Timestamp(seconds: day * 86_400 + Int64(time.minutes) * 60)
        }
        let (first, last) = (local(day, from), local(to.minutes > from.minutes ? day : day + 1, to))
        let opens = zone.moments(of: first).last ?? zone.leap(over: first)
        let ends = zone.moments(of: last)
        let closes = ends.isEmpty ? zone.leap(over: last) : ends.first { $0 > opens }
        return closes.flatMap { $0 > opens ? Window(opens: opens, closes: $0) : nil }
    }
}

extension SendingHours: CustomStringConvertible {
    /// "08:00 to 22:00 Asia/Shanghai"
    package var description: String { "\(from.text) to \(to.text) \(zone.name)" }

    /// The time on the zone's clocks, without the date: "22:10".
    package func clock(at moment: Timestamp) -> String {
        let past = zone.local(moment).milliseconds % Self.day.milliseconds
        let minutes = Int((past + Self.day.milliseconds) % Self.day.milliseconds) / 60_000
        return DayTime(minutes: minutes)?.text ?? ""
    }
}
