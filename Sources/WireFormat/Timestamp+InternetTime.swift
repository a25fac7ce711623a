// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension Timestamp {
    /// RFC 3339 in UTC with milliseconds: "2026-01-31T09:05:07.250Z".
    package var internetTime: String {
        let days = Self.floor(milliseconds, by: 86_400_000)
        let (year, month, day) = Self.civil(day: days)
        let inDay = milliseconds - days * 86_400_000
        let fields: [(Int64, Int)] = [
            (year, 4), (month, 2), (day, 2), (inDay / 3_600_000, 2), (inDay / 60_000 % 60, 2), (inDay / 1000 % 60, 2),
            (inDay % 1000, 3),
        ]
        var text = ""
        for (index, (value, width)) in fields.enumerated() {
            let digits = String(max(value, 0))
            text += String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
            text += ["-", "-", "T", ":", ":", ".", "Z"][index]
        }
        return text
    }

    /// The proleptic Gregorian date of a day counted from 1970-01-01, by whole eras of 400 years (146,097 days) that begin
    /// on a 1 March, so that the leap day is an era's, and a year's, last.
    private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}
