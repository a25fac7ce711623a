// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
import Terminal
package import UpgradeRules
import WireFormat

/// The contents of a push, and its delivery.
package struct PushConfiguration: Sendable, Equatable {
    /// The `page.type` that the app's code looks for. Default needUpgrade.
    package var type = "needUpgrade"
    /// The words on the phone, and how loudly they are shown; their body is used where a bump brings no message.
    package var words = PushWords(usualText)
    /// APNs' priority: 10 at once, 5 as the battery allows, 1 never wakes the device. For a push service with two priorities, 10
    /// is the high one. Default 10.
    package var priority = 10
    /// How long after the rise pushes are sent, and how long the push service keeps one for a phone that is off. Default 7
    /// days.
    package var timeToLive = Duration.seconds(7 * 86_400)
    /// The times after a campaign's start at which users who are still behind get the push again. Default never.
    package var reminders = ReminderSchedule([])

    private static let usualText = "A new version is required."
}

extension PushConfiguration {
    init(reading reader: ConfigurationReader, of platform: Platform) {
        type = reader.string("type", default: type, check: shortText)
        words = Self.readAlert(reader)
        priority = reader.choice("priority", default: priority, among: [1, 5, 10], "a priority")
        timeToLive = reader.duration("timeToLive", default: "7d", in: .seconds(60)...(.seconds(30 * 86_400)))
        words.sound = reader.string("sound", check: shortText)
        switch platform {
        case .ios:
            words.interruptionLevel = reader.parsed(
                "interruptionLevel", among: Self.levels, Self.interruptionLevel)
            words.threadID = reader.string("threadId", check: shortText)
        case .android:
            for key in ["interruptionLevel", "threadId"] where reader.raw(key) != nil {
                reader.fault(key, "is for ios; \(ProviderName.own(of: platform).text) has nothing like it")
            }
        }
        reminders = Self.readReminders(reader)
        reader.finish()
    }

    private struct NoLevel: Error, CustomStringConvertible {
        let description: String
    }

    private static let levels = PushWords.InterruptionLevel.allCases.map { "\"\($0.rawValue)\"" }

    private static func interruptionLevel(_ text: String) throws -> PushWords.InterruptionLevel {
        if let level = PushWords.InterruptionLevel(rawValue: text) { return level }
        let levels = ConfigurationReader.alternatives(levels)
        throw NoLevel(
            description: text == "critical"
                ? "is not sent: Apple, \"Critical alerts require a special entitlement issued by Apple\"; \(levels)"
                : "is not an interruption level; \(levels)")
    }

    // MARK: The words

    /// A text, or a dictionary with the members of Apple's `alert`.
    private static func readAlert(_ reader: ConfigurationReader) -> PushWords {
        let alert = reader.textOrObject("alert", default: usualText, check: sentence)
        guard let reader = alert.object else { return PushWords(alert.text) }
        let body = reader.string("body", check: sentence)
        var words = PushWords(body ?? usualText)
        words.appBody = readAppText(reader, "locKey", "locArgs", insteadOf: "body")
        words.title = reader.string("title", check: title)
        words.appTitle = readAppText(reader, "titleLocKey", "titleLocArgs", insteadOf: "title")
        if reader.raw("body") == nil, reader.raw("locKey") == nil {
            reader.fault("body", "missing; a sentence for the user, or locKey: a key of the app's own texts")
        }
        reader.finish()
        return words
    }

    private static func readAppText(
        _ reader: ConfigurationReader, _ key: String, _ arguments: String, insteadOf text: String
    ) -> PushWords.AppText? {
        let name = reader.string(key, check: shortText)
        let values = reader.list(arguments).compactMap { value, path -> String? in
            if value.string == nil { reader.fault(at: path, "\(value.held) is not text") }
            return value.string
        }
        if reader.raw(key) == nil {
            if reader.raw(arguments) != nil { reader.fault(arguments, "needs \(key), the text that they stand in") }
        } else if reader.raw(text) != nil {
            // Apple: "Use this key, instead of the body key".
            reader.fault(key, "stands beside \(text), in whose place it is; one of them")
        }
        return name.map { PushWords.AppText(key: $0, arguments: values) }
    }

    private static func title(_ text: String) -> String? {
        shortText(text) ?? PlainText.fault(in: text, lines: false)
    }

    private static func sentence(_ text: String) -> String? {
        text.isEmpty ? "is empty; a sentence for the user" : BumpRules.messageFault(text)
    }

    // MARK: Reminders

    /// A reminder is a nudge: users would not put up with more than five.
    private static let mostReminders = 5
    private static let reminderTimes = Duration.seconds(3600)...Duration.seconds(365 * 86_400)

    private static func readReminders(_ reader: ConfigurationReader) -> ReminderSchedule {
        let list = reader.list("remind")
        if list.count > mostReminders {
            reader.fault("remind", "has \(list.count) reminders; at most \(mostReminders)")
            return ReminderSchedule([])
        }
        var times: [Duration] = []
        for (value, path) in list {
            guard let time = value.string.flatMap(DurationText.parse) else {
                reader.fault(at: path, "\(value.held) is not a duration; write it like \"3d\" or \"12h\"")
                continue
            }
            guard reminderTimes.contains(time) else {
                let limits = [reminderTimes.lowerBound, reminderTimes.upperBound].map(DurationText.exact)
                reader.fault(at: path, "\(value.held) is out of range; from \(limits[0]) to \(limits[1])")
                continue
            }
            if let last = times.last, time <= last {
                reader.fault(
                    at: path, "\(value.held) does not rise; each time counts from the campaign's start")
                continue
            }
            times.append(time)
        }
        return ReminderSchedule(times)
    }
}
