// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// The zone in which a command shows moments to a person. Everywhere else, and with `--utc`, they are in UTC, as in the API.
package enum ShownZone {
    /// nil: UTC.
    @TaskLocal package static var current: LocalZone?

    /// The text with its moments in the zone, also those within a sentence: "2026-01-31T17:05:07+08:00", which options take, too.
    ///
    /// - Parameter text: holds moments as the API writes them, RFC 3339 in UTC; anything else stays as it is.
    package static func text(_ text: String) -> String {
        guard let zone = current, text.utf8.contains(UInt8(ascii: "Z")) else { return text }
        return text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/) { found in
            Timestamp(internetTime: String(found.output)).map { local($0, in: zone) } ?? String(found.output)
        }
    }

    private static func local(_ moment: Timestamp, in zone: LocalZone) -> String {
        let local = zone.local(moment)
        let minutes = (local.milliseconds - moment.milliseconds) / 60_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let offset = "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
        return "\(local.internetTime.prefix(19))\(offset)"
    }
}
