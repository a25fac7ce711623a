// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import Terminal
import UpgradeRules
package import WireFormat

extension TextTable.Column {
    /// The state of a campaign, a delivery, a notification or a relay.
    static let state = tinted("STATE", by: Tint.ofState)
}

extension Tint {
    /// nil: the state has no colour.
    @Sendable static func ofState(_ state: String) -> Tint? {
        switch state {
        case "completed", "accepted", "delivered", "alive": .green
        case "waiting", "paused", "retrying", "pending", "lapsed": .yellow
        case "suspended", "fenced", "cancelled", "rejected", "unregistered", "expired", "failed", "dropped": .red
        default: nil
        }
    }
}

/// An answer as people read it.
extension JSONValue {
    /// The JSON itself, for a terminal.
    package func text(isPretty: Bool = false) -> String { JSONText.shown(bytes(isPretty: isPretty)) }

    /// A member with a single value, as text.
    ///
    /// - Parameter none: the text where it is missing, null or "".
    package func shown(_ field: Field, or none: String = "") -> String { Self.shown(self[field], or: none) }

    /// A personal member as the daemon sent it: whole, or masked.
    package func shown(_ field: PersonalField, or none: String = "") -> String { Self.shown(self[field], or: none) }

    /// A device's member, "" where it is missing.
    func shown(of field: DeviceField) -> String { Self.shown(self[field.name], or: "") }

    /// A term of a requirement, "" where it has none.
    func shown(of field: RequirementField) -> String { Self.shown(self[field.name.description], or: "") }

    private static func shown(_ value: JSONValue?, or none: String) -> String {
        switch value {
        case .string(let text) where !text.isEmpty: DisplayWidth.sanitised(text)
        case .number(let text): text
        case .bool(let value): "\(value)"
        default: none
        }
    }

    /// A table with a row for each entry of a page.
    func table(_ columns: [TextTable.Column], none: String, row: (JSONValue) -> [String]) -> String {
        var table = TextTable(columns)
        for item in list(.items) { table.add(row(item)) }
        return table.rows.isEmpty ? "\(none)\n" : table.text
    }

    /// The push service of one of its channels, as people know it.
    func service(of channel: JSONValue) -> String {
        let label = channel.shown(.channel)
        return Platform(rawValue: shown(.platform)).flatMap { Channel(label: label, on: $0)?.title(on: $0) } ?? label
    }

    /// "com.example.app ios".
    var place: String { "\(shown(.app)) \(shown(.platform))" }

    /// A line for each of the answer's warnings.
    var warnings: String {
        list(.warnings).compactMap(\.string).map { "warning: \(DisplayWidth.sanitised($0))\n" }.joined()
    }
}
