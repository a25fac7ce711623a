// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
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
            "This is a test by upgrade-relay check-config --online: nothing has happened, and nothing is to be done."
        var writer = JSONWriter(reserving: 256)
        writer.object { writer in
            switch format {
            case .json:
                writer.member(.type, testType)
                writer.member("timestamp", now)
                writer.name("data")
                writer.object { writer in
                    writer.member("part", "check-config")
                    writer.member("reason", words)
                }
            case .slack: writer.member("text", words)
            }
        }
        return writer.bytes
    }

    /// `{type, timestamp, data}` as Standard Webhooks advises, `data` being the campaign as the API shows it, at the moment of the
    /// event, or a part of the relay as `/readyz` shows it. Users are counted and never named: a receiver needs no scope.
    package static func json(of event: RelayEvent) -> [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.object { writer in
            writer.member(.type, event.type.rawValue)
            writer.member("timestamp", event.at)
            writer.name("data")
            switch event.subject {
            case .campaign(let campaign):
                writer.campaign(
                    CampaignStatus(
                        record: campaign, counts: campaign.figures.counts, ratePerSecond: 0, secondsLeft: nil),
                    for: .counted)
            case .dead(let app, let devices, let last): writer.deadTokens(app, devices, through: last)
            case .retirable(let app, let row, let devices, let share):
                writer.object { writer in
                    writer.app(app)
                    writer.versionShare(row, of: devices)
                    writer.member(.seen, devices)
                    writer.member(.retireBelow, JSONDecimal(share, places: 6))
                }
            case .part(let part, let reason):
                writer.object { writer in
                    writer.member("part", part)
                    writer.member("reason", reason)
                }
            }
        }
        return writer.bytes
    }

    /// `{text}` in Slack's own words: "replace the ampersand, & with &amp;, the less-than sign, < with &lt;, the greater-than
    /// sign, > with &gt;" (docs.slack.dev/messaging/formatting-message-text). So no text can mention a user or link anywhere.
    package static func slack(of event: RelayEvent) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.object { writer in
            let text = NotificationText.text(of: event)
            writer.member(
                "text",
                text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))
        }
        return writer.bytes
    }
}
