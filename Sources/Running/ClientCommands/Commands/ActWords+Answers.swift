import RelayEngine
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

    /// The answer to an act on a campaign, with what stays and what comes next: "2.0.0 of com.example.app ios, 500 devices: 20 left. …"
    ///
    /// - Parameter campaign: the daemon's answer; "" where it names no version.
    static func after(_ act: ActKind, _ campaign: JSONValue) -> String {
        let (name, counts) = (name(of: campaign), campaign[.counts] ?? .null)
        guard !name.isEmpty else { return "" }
        let audience = counts.count(.audience)
        let left = [DeliveryState.pending, .inFlight, .retrying].reduce(0) { $0 + (counts[$1.name]?.integer ?? 0) }
        var effects: [String] = []
        if let next = campaign[.rollout]?.shown(.next), !next.isEmpty, act != .cancel {
            effects.append("Next: \(next).")
        }
        if act == .cancel, let target = target(of: campaign), !target.isBlock {
            let stays = campaign.shown(.inForce) == target.version.text
            effects.append((stays ? CampaignEffect.stays(target) : .takesBack(target)).words)
        }
        let words = ActWords(act, name, devices: audience > 0 ? audience : nil, effects: effects)
        let sentences = words.sentences(audience > 0 ? "\(left) left" : campaign.shown(.state))
        return sentences.map { "\($0)\n" }.joined()
    }

    /// The facts before a question, and the act's effects.
    func facts(_ facts: String) -> String {
        effects.isEmpty ? facts : "\(facts)\n\(effects.joined(separator: "\n"))\n"
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
