// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Threading
import WireFormat

/// A moment as people give it on the command line: "2026-12-01 09:00 Asia/Shanghai", or as RFC 3339 writes it.
struct ZonedMoment {
    let moment: Timestamp

    static let problem =
        "is no moment; give one such as \"2026-12-01 09:00 Asia/Shanghai\" (a time that the zone has, and a zone of the tz "
        + "database) or 2026-12-01T01:00:00Z"

    /// Returns nil for anything else, for an unknown zone, and for a time that the zone leaps over when its clocks go forward. A time
    /// that the zone has twice means the first.
    init?(_ text: String) {
        if let moment = Timestamp(internetTime: text) {
            self.moment = moment
            return
        }
        let parts = text.split(separator: " ")
        guard parts.count == 3, let zone = LocalZone(named: String(parts[2])) else { return nil }
        let seconds = parts[1].utf8.count == 5 ? ":00" : ""
        // Read as if it were UTC; the zone then applies its offset of that day.
        guard let local = Timestamp(internetTime: "\(parts[0])T\(parts[1])\(seconds)Z"),
            let first = zone.moments(of: local).first
        else { return nil }
        moment = first
    }
}
