// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import Threading
import WireFormat

/// A moment as people type it, in a command or on the page: "2026-12-01 09:00 Asia/Shanghai", or as RFC 3339 writes it.
package struct ZonedMoment {
    package let moment: Timestamp

    package static let problem =
        "is no moment; give one such as \"2026-12-01 09:00 Asia/Shanghai\" (a time that the zone has, and a zone of the tz "
        + "database) or 2026-12-01T01:00:00Z"

    /// Returns nil for anything else, for an unknown zone, and for a time that the zone leaps over when its clocks go forward. A time
    /// that the zone has twice means the first.
    ///
    /// - Parameter usual: the zone of a time that is typed without one; nil: it needs one.
    package init?(_ text: String, in usual: LocalZone? = nil) {
        if let moment = Timestamp(internetTime: text) {
            self.moment = moment
            return
        }
        var parts = text.split(separator: " ", maxSplits: 3)
        // As a browser's own field for a moment writes it.
        if usual != nil, parts.count == 1 { parts = text.split(separator: "T", maxSplits: 2) }
        guard parts.count == 3 || parts.count == 2,
            let zone = parts.count == 3 ? LocalZone(named: String(parts[2])) : usual
        else { return nil }
        let seconds = parts[1].utf8.count == 5 ? ":00" : ""
        // Read as if it were UTC; the zone then applies its offset of that day.
        guard let local = Timestamp(internetTime: "\(parts[0])T\(parts[1])\(seconds)Z"),
            let first = zone.moments(of: local).first
        else { return nil }
        moment = first
    }
}
