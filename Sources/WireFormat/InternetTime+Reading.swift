// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension Timestamp {
    /// Reads RFC 3339, section 5.6: "2026-01-31T18:00:00Z", with a fraction or an offset ("+08:00") where there is one.
    /// nil for anything else, and for days that no month has.
    package init?(internetTime text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            return value
        }
        guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74, bytes[13] == 0x3A,
            bytes[16] == 0x3A, let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...Self.length(month, year)).contains(day), hour < 24, minute < 60,
            // A leap second is the next minute's first here.
            second <= 60
        else { return nil }
        var place = 19
        var milliseconds: Int64 = 0
        if bytes[place] == 0x2E {
            let digits = bytes[(place + 1)...].prefix { (48...57).contains($0) }
            guard !digits.isEmpty else { return nil }
            for index in 0..<3 {
                let digit = index < digits.count ? Int64(digits[digits.startIndex + index] - 48) : 0
                milliseconds = milliseconds * 10 + digit
            }
            place += 1 + digits.count
        }
        guard place < bytes.count else { return nil }
        var offset: Int64 = 0
        if bytes[place] | 0x20 == 0x7A {
            guard place + 1 == bytes.count else { return nil }
        } else {
            guard bytes[place] == 0x2B || bytes[place] == 0x2D, place + 6 == bytes.count, bytes[place + 3] == 0x3A,
                let hours = number(place + 1..<place + 3), let minutes = number(place + 4..<place + 6), hours < 24,
                minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[place] == 0x2B ? 1 : -1)
        }
        let days = Self.day(year: year, month: month, day: day)
        let moment = ((days * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1000 + milliseconds
        // An offset or a leap second may lead out of the years that RFC 3339 can write.
        guard Self.writable.contains(moment) else { return nil }
        self.init(milliseconds: moment)
    }

    /// 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z.
    private static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    private static func length(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01, by eras of 400 years that begin on a 1 March, as in `internetTime`.
    private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floor(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
