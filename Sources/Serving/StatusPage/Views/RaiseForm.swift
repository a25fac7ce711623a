// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Threading
import UpgradeRules
import WireFormat

/// The form for raising or blocking a version, as the body that the API takes.
struct RaiseForm {
    var fields: FormFields

    static let names: [StaticString] =
        [
            "required", "latest", "blocked",
        ] + RequirementField.allCases.map(\.name) + ["downloadUrl", "message", "telephones"]

    /// The body as the API takes it (CONTRACT, "A bump's body"), so that the same checks and error texts apply.
    ///
    /// - Parameter doubts: the doubts that the person confirmed.
    func body(confirming doubts: [Doubt] = []) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for name in Self.names {
                let key = name.description
                guard let value = fields[key] else { continue }
                switch key {
                case "blocked", "telephones": writer.member(key, Self.list(value))
                case _ where Self.moments.contains(key): writer.member(key, moment(value))
                default: writer.member(key, value)
                }
            }
            if !doubts.isEmpty {
                writer.name("confirm")
                writer.array(doubts) { writer, doubt in
                    writer.object([.reason: doubt.reason.rawValue, .version: doubt.version.text])
                }
            }
            if fields["now"] != nil { writer.member("now", true) }
        }
        return writer.bytes
    }

    private static let moments = Set(RequirementField.allCases.filter(\.isMoment).map(\.name.description))

    /// The name of the hidden field for the zone of a moment that is typed without one.
    static let zone: StaticString = "zone"

    /// A moment as the API takes it. A text that is none is left as it is, for the API to refuse.
    private func moment(_ text: String) -> String {
        let usual = fields[Self.zone.description].flatMap(LocalZone.init(named:))
        return ZonedMoment(text, in: usual)?.moment.internetTime ?? text
    }

    /// The doubts that the question showed, if they were confirmed. A doubt that arises later is not among them.
    var confirmed: [Doubt] {
        guard fields["confirm"] != nil else { return [] }
        return (fields.exact(Self.doubts.description) ?? "").split(separator: ",", maxSplits: 24).compactMap { text in
            let words = text.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 2, let reason = Doubt.Reason(rawValue: words[0]), let version = try? Version(words[1])
            else { return nil }
            return Doubt(reason, version)
        }
    }

    /// The name of the hidden field for the doubts.
    static let doubts: StaticString = "doubts"

    static func text(_ doubts: [Doubt]) -> String {
        doubts.map { "\($0.reason.rawValue) \($0.version.text)" }.joined(separator: ",")
    }

    /// Split at commas and white space. One item beyond the limit is kept, so that the API refuses the list.
    private static func list(_ text: String) -> [String] {
        text.split(maxSplits: ListBound.telephones.limit) { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}
