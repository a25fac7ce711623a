// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Moments as the sources write them.
package enum WireTime {
    /// RFC 3339 in UTC as the App Store writes it, "2016-11-20T21:03:47Z", with or without a fraction.
    package static func internet(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == 45, bytes[7] == 45, bytes[10] == 84 || bytes[10] == 116, bytes[13] == 58,
            bytes[16] == 58, bytes[bytes.count - 1] == 90 || bytes[bytes.count - 1] == 122,
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19])
        else { return nil }
        var milliseconds: Int64 = 0
        if bytes.count > 20 {
            let fraction = bytes[20..<(bytes.count - 1)]
            guard bytes[19] == 46, (1...9).contains(fraction.count), number(fraction) != nil else { return nil }
            let three = Array((Array(fraction) + [48, 48]).prefix(3))
            milliseconds = number(three[...]) ?? 0
        }
        guard let seconds = seconds(year, month, day, hour, minute, second) else { return nil }
        return Timestamp(milliseconds: seconds * 1000 + milliseconds)
    }

    /// RFC 9110 section 10.2.3: `Retry-After` is a number of seconds or an HTTP-date.
    package static func retryAfter(_ text: String, at now: Timestamp) -> Duration? {
        let text = text.trimming(" \t")
        if let seconds = number(Array(text.utf8)[...]) { return .seconds(min(seconds, 366 * 86_400)) }
        guard let date = httpDate(text) else { return nil }
        return max(.zero, date - now)
    }

    /// RFC 9110 section 5.6.7, the form that must be sent: "Sun, 06 Nov 1994 08:49:37 GMT".
    package static func httpDate(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", days.contains(String(parts[0])),
            let day = number(Array(parts[1].utf8)[...]),
            let month = months.firstIndex(of: String(parts[2])), let year = number(Array(parts[3].utf8)[...])
        else { return nil }
        let clock = parts[4].split(separator: ":").map { number(Array($0.utf8)[...]) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            let seconds = seconds(year, Int64(month) + 1, day, hour, minute, second)
        else { return nil }
        return Timestamp(seconds: seconds)
    }

    private static let days = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...9).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    /// Seconds since 1970 in the proleptic Gregorian calendar; years are counted from March, so that the leap day is last.
    private static func seconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64, _ second: Int64
    ) -> Int64? {
        // 60: a leap second is the next minute's first.
        guard (1970...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
            (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day >= 1, day <= lengths[Int(month) - 1] else { return nil }
        let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
        let moment = days * 86_400 + hour * 3600 + minute * 60 + second
        // A leap second may lead out of the years that can be written again.
        return moment < 253_402_300_800 ? moment : nil
    }
}

extension String {
    fileprivate func trimming(_ characters: String) -> String {
        var text = self[...]
        while let first = text.first, characters.contains(first) { text.removeFirst() }
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}
