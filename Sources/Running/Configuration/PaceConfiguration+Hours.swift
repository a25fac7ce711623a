// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal
import Threading
import WireFormat

/// `pace.hours`.
extension PaceConfiguration {
    /// The least time that a campaign's time to live must leave after the closed hours. Clocks change by two hours at most
    /// (Antarctica/Troll), so some of this time is left even after the longest night.
    private static let leastAwake = Duration.seconds(3 * 3600)

    static func readHours(_ reader: ConfigurationReader, timeToLive: Duration) -> SendingHours? {
        guard let inner = reader.optionalObject("hours") else { return nil }
        let from = inner.parsed("from", dayTime)
        // A day's last moment is the next day's first.
        let to = inner.parsed("to") { $0 == "24:00" ? .midnight : try dayTime($0) }
        let zone = inner.parsed("zone") { name in
            guard let zone = LocalZone(named: name) else { throw Unreadable(LocalZone.problem) }
            return zone
        }
        let examples = ["from": "\"08:00\"", "to": "\"22:00\"", "zone": "\"Asia/Shanghai\""]
        for (key, example) in examples.sorted(by: { $0.key < $1.key }) where inner.raw(key) == nil {
            inner.fault(key, "is missing; give one such as \(example)")
        }
        inner.finish()
        guard let from, let to, let zone else { return nil }
        guard let hours = SendingHours(from: from, to: to, zone: zone) else {
            inner.fault(
                "to",
                "\"\(to.text)\" is from, too; give another time, or leave hours out where pushes may go out at any time"
            )
            return nil
        }
        let least = hours.closed + leastAwake
        if timeToLive < least {
            reader.fault(
                "hours",
                "nothing begins for \(DurationText.exact(hours.closed)) of each day, and push.timeToLive is "
                    + "\(DurationText.exact(timeToLive)): a campaign could end in its first night; give it "
                    + "\(DurationText.exact(least)) or more")
        }
        return hours
    }

    /// A text's fault, as words that follow the text.
    private struct Unreadable: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private static func dayTime(_ text: String) throws -> SendingHours.DayTime {
        guard let time = SendingHours.DayTime(text) else {
            throw Unreadable("is no time of day; give one such as \"08:00\", from \"00:00\" to \"23:59\"")
        }
        return time
    }
}
