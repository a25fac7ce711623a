// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A date and a time of day in UTC, by the C library's calendar (timegm(3), gmtime_r(3): proleptic Gregorian).
struct CalendarTime {
    var year: Int64
    /// 1 to 12.
    var month: Int64
    var day: Int64
    var hour: Int64
    var minute: Int64
    /// 60 is a leap second, which counts as the next minute's first here.
    var second: Int64
}

extension CalendarTime {
    init(secondsSince1970: Int64) {
        var moment = time_t(secondsSince1970)
        var fields = tm()
        // Fails only where the year does not fit an int.
        _ = unsafe gmtime_r(&moment, &fields)
        self.init(
            year: Int64(fields.tm_year) + 1900, month: Int64(fields.tm_mon) + 1, day: Int64(fields.tm_mday),
            hour: Int64(fields.tm_hour), minute: Int64(fields.tm_min), second: Int64(fields.tm_sec))
    }

    /// nil for a day that its month does not have, or a time that no day has. The year has four digits at most.
    var secondsSince1970: Int64? {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day)
        let midnight = unsafe Int64(timegm(&fields))
        // timegm(3) carries 30 February over into March, which the fields show.
        guard Int64(fields.tm_mday) == day else { return nil }
        return midnight + hour * 3600 + minute * 60 + second
    }
}
