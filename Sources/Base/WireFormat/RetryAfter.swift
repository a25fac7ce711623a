// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// `Retry-After` in both its forms (RFC 9110, 10.2.3): seconds, and a date in any of the three formats that "a recipient
/// [...] MUST accept" (RFC 9110, 5.6.7).
package enum RetryAfter {
    /// The longest time that `duration` returns: a year.
    private static let longest: Int32 = 366 * 86_400

    /// - Parameter now: seconds since 1970, on the wall clock.
    /// - Returns: seconds from now, at least 0; nil where the text is neither form.
    package static func seconds(_ text: some Collection<UInt8>, now: @autoclosure () -> Int64) -> Int32? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = Array(text.drop(while: isSpace))
        while let last = text.last, isSpace(last) { text.removeLast() }
        if !text.isEmpty, text.allSatisfy({ Digits.values.contains($0) }) {
            // More digits than fit count as "for ever".
            return Digits.number(text).map { Int32($0) } ?? .max
        }
        let now = now()
        guard let moment = HTTPDate.secondsSince1970(text, now: now) else { return nil }
        return Int32(clamping: max(0, moment - now))
    }

    /// The same as a duration of a year at most.
    package static func duration(_ text: String, at now: Timestamp) -> Duration? {
        seconds(text.utf8, now: now.seconds).map { .seconds(min($0, longest)) }
    }
}

package enum HTTPDate {
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: seconds since 1970; where the year has two digits, they are those of a year near it.
    package static func secondsSince1970(_ text: [UInt8], now: Int64) -> Int64? {
        // The longest form has six words.
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", maxSplits: 6)
        guard let weekday = words.first, days.contains(String(weekday.prefix(3))) else { return nil }
        let date: [Substring]
        let clock: Substring
        switch words.count {
        case 6 where weekday.last == "," && words[5] == "GMT": (date, clock) = (Array(words[1...3]), words[4])
        case 4 where weekday.last == "," && words[3] == "GMT":
            (date, clock) = (words[1].split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false), words[2])
        case 5: (date, clock) = ([words[2], words[1], words[4]], words[3])
        default: return nil
        }
        let times = clock.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
            .compactMap { Digits.number($0.utf8) }
        guard date.count == 3, times.count == 3, let day = Digits.number(date[0].utf8),
            let month = months.firstIndex(of: String(date[1])), let year = Digits.number(date[2].utf8)
        else { return nil }
        return CalendarTime(
            year: words.count == 4 ? full(year, now) : year, month: Int64(month) + 1, day: day, hour: times[0],
            minute: times[1], second: times[2]
        ).secondsSince1970
    }

    /// "MUST interpret a timestamp that appears to be more than 50 years in the future as representing the most recent year
    /// in the past that had the same last two digits" (RFC 9110, 5.6.7).
    private static func full(_ year: Int64, _ now: Int64) -> Int64 {
        let thisYear = CalendarTime(secondsSince1970: now).year
        let full = thisYear - thisYear % 100 + year
        return full > thisYear + 50 ? full - 100 : full
    }
}
