// SPDX-License-Identifier: Apache-2.0
import Requirements
import UpgradeRules
import WireFormat

/// The words of an act, from the daemon's answers.
extension ActWords {
    /// - Parameter campaign: as it was shown before the act; null: it was not shown.
    init(_ act: ActKind, of campaign: JSONValue, id: String) {
        let devices = campaign[.counts]?.count(.audience) ?? 0
        let name = Self.name(of: campaign)
        self.init(
            act, "campaign \(id)" + (name.isEmpty ? "" : " (\(name))"), devices: devices > 0 ? devices : nil,
            effects: campaign[.effects]?[act.verb]?.array?.compactMap(\.string) ?? [])
    }

    /// - Parameter version: as it was shown before the act.
    init(_ act: ActKind, _ versions: String, of name: String, _ version: JSONValue) {
        let devices = version[.shown]?[Shown.Fact.devices.rawValue]?.integer
        self.init(
            act, "\(versions) of \(name)", devices: devices,
            effects: CampaignEffect.of(act, try? Version(versions)).map(\.words))
    }

    /// The answer, a line for each sentence.
    var lines: String { sentences().map { "\($0)\n" }.joined() }

    /// The facts before a question, and the act's effects.
    func facts(_ facts: String) -> String {
        let lines = effects.map { "\($0)\n" }.joined()
        return facts.isEmpty || lines.isEmpty ? facts + lines : "\(facts)\n\(lines)"
    }

    private static func target(of campaign: JSONValue) -> UpgradeTarget? {
        let (required, blocked) = (campaign.shown(.required), campaign.shown(.blocked))
        return (try? Version(required.isEmpty ? blocked : required)).map {
            UpgradeTarget($0, isBlock: required.isEmpty)
        }
    }

    /// "2.0.0 of com.example.app ios"; "" where the answer names none.
    private static func name(of campaign: JSONValue) -> String {
        guard let target = target(of: campaign), !campaign.shown(.app).isEmpty else { return "" }
        return "\(target.version) of \(campaign.place)"
    }
}

extension JSONValue {
    /// The daemon's answer to an act in sentences, as a line; "" where it says none.
    var sentence: String {
        let text = shown(.sentence)
        return text.isEmpty ? "" : "\(text)\n"
    }
}
