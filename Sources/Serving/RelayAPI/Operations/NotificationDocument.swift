// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import WireFormat

/// The body of a notification to a receiver.
package enum NotificationDocument {
    package static func body(of event: RelayEvent, in format: NotificationFormat) -> [UInt8] {
        switch format {
        case .json: json(of: event)
        case .slack: slack(of: event)
        }
    }

    /// The type that `check-config --online` sends: it is no event, so no receiver is configured for it.
    package static let testType = "relay.test"

    /// A test notification, worded so that no reader takes it for news.
    package static func test(at now: Timestamp, in format: NotificationFormat) -> [UInt8] {
        let words =
            "This is a test by upgrade-relay check-config --online: nothing has happened, and you need do nothing."
        switch format {
        case .json:
            var writer = JSONWriter(reserving: 256)
            writer.object(
                SentEvent(type: testType, at: now, data: (part: "check-config", reason: words)), EventShapes.part)
            return writer.bytes
        case .slack: return slack(words)
        }
    }

    /// `{type, timestamp, data}` as Standard Webhooks advises, `data` being the campaign as the API shows it, at the moment of the
    /// event, or a part of the relay as `/readyz` shows it. Users are counted and never named: a receiver needs no scope.
    package static func json(of event: RelayEvent) -> [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        func write<Data>(_ data: Data, _ shape: Shape<SentEvent<Data>>, for sight: Redaction) {
            writer.object(SentEvent(type: event.type.rawValue, at: event.at, data: data), shape, for: sight)
        }
        switch event.subject {
        case .campaign(let campaign): write(campaign, EventShapes.campaign, for: .counted)
        // Tokens are not masked: a receiver gets this event only if its configuration names it.
        case .dead(let app, let devices, let last):
            write((app: app, devices: devices, through: last), EventShapes.dead, for: .whole)
        case .retirable(let app, let row, let devices, let share):
            write((app: app, row: row, devices: devices, retireBelow: share), EventShapes.retirable, for: .counted)
        case .part(let part, let reason): write((part: part, reason: reason), EventShapes.part, for: .counted)
        case .approval(let approval):
            write(ShownApproval(approval, at: event.at), EventShapes.approval, for: .counted)
        }
        return writer.bytes
    }

    /// `{text}` in Slack's own words: "replace the ampersand, & with &amp;, the less-than sign, < with &lt;, the greater-than
    /// sign, > with &gt;" (docs.slack.dev/messaging/formatting-message-text). So no text can mention a user or link anywhere.
    package static func slack(of event: RelayEvent) -> [UInt8] {
        slack(NotificationText.text(of: event))
    }

    private static func slack(_ text: String) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            writer.member(
                "text",
                text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))
        }
        return writer.bytes
    }
}
