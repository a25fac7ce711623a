// SPDX-License-Identifier: Apache-2.0

/// `Retry-After` in both its forms (RFC 9110, 10.2.3): seconds, and a date in any of the three formats that "a recipient
/// [...] MUST accept" (RFC 9110, 5.6.7).
package enum RetryAfter {
    /// - Parameter now: seconds since 1970, on the wall clock.
    /// - Returns: seconds from now, at least 0; nil where the text is neither form.
    package static func seconds(_ text: some Collection<UInt8>, now: @autoclosure () -> Int64) -> Int32? {
        let text = Array(text)
        if !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than fit mean "for ever" as well as any.
            return text.count > 9 ? .max : text.reduce(0) { $0 * 10 + Int32($1 - 0x30) }
        }
        guard let moment = HTTPDate.secondsSince1970(text) else { return nil }
        return Int32(clamping: max(0, moment - now()))
    }
}

package enum HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    package static func secondsSince1970(_ text: [UInt8]) -> Int64? {
        let words = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "," || $0 == "-" }
        let day: Substring
        let month: Substring
        let year: Substring
        let time: Substring
        switch words.count {
        case 6 where words[5] == "GMT": (day, month, year, time) = (words[1], words[2], words[3], words[4])
        case 5: (month, day, time, year) = (words[1], words[2], words[3], words[4])
        default: return nil
        }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).compactMap { Int64($0) }
        guard let monthIndex = months.firstIndex(of: String(month)), let day = Int64(day), var year = Int64(year),
            clock.count == 3, (1...31).contains(day), (0...9999).contains(year), (0..<24).contains(clock[0]),
            (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        // Two digits: "MUST interpret a timestamp that appears to be more than 50 years in the future as [...] in the past".
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return days(year: year, month: Int64(monthIndex) + 1, day: day) * 86400 + clock[0] * 3600 + clock[1] * 60
            + clock[2]
    }

    /// Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
