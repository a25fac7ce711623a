// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// RFC 3339, section 5.6.
extension Timestamp {
    /// 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z: the years that RFC 3339 can write.
    private static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// In UTC with milliseconds: "2026-01-31T09:05:07.250Z". A moment outside the years that can be written is written as the
    /// first or the last moment in them.
    package var internetTime: String {
        let moment = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
        let fraction = (moment % 1000 + 1000) % 1000
        let time = CalendarTime(secondsSince1970: (moment - fraction) / 1000)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func append(_ value: Int64, _ divisors: [Int64], then end: Unicode.Scalar) {
            for divisor in divisors { text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10)) }
            text.append(UInt8(ascii: end))
        }
        append(time.year, [1000, 100, 10, 1], then: "-")
        append(time.month, [10, 1], then: "-")
        append(time.day, [10, 1], then: "T")
        append(time.hour, [10, 1], then: ":")
        append(time.minute, [10, 1], then: ":")
        append(time.second, [10, 1], then: ".")
        append(fraction, [100, 10, 1], then: "Z")
        return String(decoding: text, as: UTF8.self)
    }

    /// The same without a fraction, rounded towards the past: "2026-01-31T09:05:07Z".
    package var internetSeconds: String { "\(internetTime.dropLast(".000Z".count))Z" }

    /// Reads "2026-01-31T18:00:00Z", with a fraction or an offset ("+08:00") where there is one. nil for anything else, and
    /// for days that no month has.
    package init?(internetTime text: String) {
        self.init(internetTime: Array(text.utf8)[...])
    }

    /// The same for bytes. Allocates nothing.
    package init?(internetTime bytes: ArraySlice<UInt8>) {
        let base = bytes.startIndex
        func number(_ range: Range<Int>) -> Int64? {
            range.upperBound <= bytes.count
                ? Digits.number(bytes[base + range.lowerBound..<base + range.upperBound]) : nil
        }
        guard bytes.count >= 20, bytes[base + 4] == 0x2D, bytes[base + 7] == 0x2D, bytes[base + 10] | 0x20 == 0x74,
            bytes[base + 13] == 0x3A, bytes[base + 16] == 0x3A, let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let seconds = CalendarTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second
            ).secondsSince1970
        else { return nil }
        var place = 19
        var milliseconds: Int64 = 0
        if bytes[base + place] == 0x2E {
            let digits = bytes[(base + place + 1)...].prefix { Digits.values.contains($0) }
            guard !digits.isEmpty else { return nil }
            var unit: Int64 = 100
            for digit in digits.prefix(3) {
                milliseconds += Int64(digit - 0x30) * unit
                unit /= 10
            }
            place += 1 + digits.count
        }
        guard place < bytes.count else { return nil }
        var offset: Int64 = 0
        if bytes[base + place] | 0x20 == 0x7A {
            guard place + 1 == bytes.count else { return nil }
        } else {
            let sign = bytes[base + place]
            guard sign == 0x2B || sign == 0x2D, place + 6 == bytes.count, bytes[base + place + 3] == 0x3A,
                let hours = number(place + 1..<place + 3), let minutes = number(place + 4..<place + 6), hours < 24,
                minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (sign == 0x2B ? 1 : -1)
        }
        let moment = (seconds - offset * 60) * 1000 + milliseconds
        // An offset or a leap second may lead out of the years that can be written.
        guard Self.writable.contains(moment) else { return nil }
        self.init(milliseconds: moment)
    }
}
