// SPDX-License-Identifier: Apache-2.0

/// A zone's yearly rule for setting its clocks: POSIX's text for TZ, such as "CET-1CEST,M3.5.0,M10.5.0/3", as in the last
/// line of a file of the tz database (RFC 9636, 3.3.1). Pure.
struct ClockRule: Sendable, Equatable {
    /// In seconds ahead of UTC.
    private let standard: Int64
    private let saving: Saving?

    /// Daylight saving; in Europe/Dublin this is winter time, an hour behind the standard.
    private struct Saving: Sendable, Equatable {
        /// In seconds ahead of UTC.
        var offset: Int64
        var begins: Change
        var ends: Change
    }

    /// A moment of the year at which clocks are set.
    private struct Change: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// 1 to 365, without 29 February.
            case counted(Int64)
            /// 0 to 365.
            case ofYear(Int64)
            /// The month's n-th such weekday (0 for Sunday); the place 5 is the last one.
            case ofWeek(month: Int64, place: Int64, weekday: Int64)
        }

        var day: Day
        /// Seconds after the day's beginning, by the clocks before the change.
        var time: Int64

        /// The local time of the change, in seconds since 1970 as if it were UTC.
        func moment(in year: Int64) -> Int64 {
            let newYear = CivilDay.number(year, 1, 1)
            let number =
                switch day {
                case .counted(let day): newYear + day - 1 + (CivilDay.isLeap(year) && day > 59 ? 1 : 0)
                case .ofYear(let day): newYear + day
                case .ofWeek(let month, let place, let weekday): Self.day(year, month, place, weekday)
                }
            return number * 86_400 + time
        }

        private static func day(_ year: Int64, _ month: Int64, _ place: Int64, _ weekday: Int64) -> Int64 {
            let first = CivilDay.number(year, month, 1)
            let next = month == 12 ? CivilDay.number(year + 1, 1, 1) : CivilDay.number(year, month + 1, 1)
            var day = first + (weekday - CivilDay.weekday(first) + 7) % 7 + (place - 1) * 7
            if day >= next { day -= 7 }
            return day
        }
    }

    /// In seconds ahead of UTC.
    func offset(at secondsSince1970: Int64) -> Int64 {
        guard let saving else { return standard }
        let year = CivilDay.year(of: CivilDay.floor(secondsSince1970 + standard, 86_400))
        let begins = saving.begins.moment(in: year) - standard
        let ends = saving.ends.moment(in: year) - saving.offset
        let isSaving =
            begins < ends
            ? (begins..<ends).contains(secondsSince1970) : !(ends..<begins).contains(secondsSince1970)
        return isSaving ? saving.offset : standard
    }
}

extension ClockRule {
    /// Reads the text of a rule; nil for any other text.
    init?(_ text: ArraySlice<UInt8>) {
        var reader = Reader(rest: text)
        guard reader.skipName(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.rest.isEmpty else {
            saving = nil
            return
        }
        guard reader.skipName() else { return nil }
        var offset = standard + 3600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let west = reader.time() else { return nil }
            offset = -west
        }
        guard let begins = reader.change(), let ends = reader.change(), reader.rest.isEmpty else { return nil }
        saving = Saving(offset: offset, begins: begins, ends: ends)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ mark: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// An abbreviation: letters, or anything within "<" and ">".
        mutating func skipName() -> Bool {
            if skip("<") {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                rest = rest[(end + 1)...]
                return true
            }
            let before = rest.count
            rest = rest.drop { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
            return rest.count < before
        }

        /// At most three digits.
        mutating func number() -> Int64? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...3).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// "[+-]hh[:mm[:ss]]", in seconds.
        mutating func time() -> Int64? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard var seconds = number().map({ $0 * 3600 }) else { return nil }
            for unit in [60, 1] as [Int64] where skip(":") {
                guard let part = number() else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        /// ",M3.5.0/2", ",J60" or ",59"; at two o'clock where no time is given.
        mutating func change() -> Change? {
            guard skip(","), let day = day() else { return nil }
            guard skip("/") else { return Change(day: day, time: 7200) }
            return time().map { Change(day: day, time: $0) }
        }

        private mutating func day() -> Change.Day? {
            if skip("J") { return number().flatMap { (1...365).contains($0) ? .counted($0) : nil } }
            guard skip("M") else { return number().flatMap { $0 <= 365 ? .ofYear($0) : nil } }
            guard let month = number(), skip("."), let place = number(), skip("."), let weekday = number(),
                (1...12).contains(month), (1...5).contains(place), weekday <= 6
            else { return nil }
            return .ofWeek(month: month, place: place, weekday: weekday)
        }
    }
}

/// Days of the proleptic Gregorian calendar, by their number since 1970-01-01.
private enum CivilDay {
    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        (value - (value % divisor + divisor) % divisor) / divisor
    }

    static func number(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years that begin in March have their leap day at their end (H. Hinnant, "chrono-compatible low-level date algorithms").
        let year = month <= 2 ? year - 1 : year
        let inYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + floor(year, 4) - floor(year, 100) + floor(year, 400) + inYear - 719_468
    }

    static func year(of day: Int64) -> Int64 {
        // 400 years have 146,097 days: this estimate is wrong by one year at most.
        var year = 1970 + floor(day * 400, 146_097)
        while number(year + 1, 1, 1) <= day { year += 1 }
        while number(year, 1, 1) > day { year -= 1 }
        return year
    }

    /// 0 for Sunday.
    static func weekday(_ day: Int64) -> Int64 { ((day + 4) % 7 + 7) % 7 }
}
