// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import UpgradeRules
import WireFormat

/// A decision's effect on one version, as the log and receivers of events report it.
package struct RequirementChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// It was asked for.
        case raised
        /// Another program had written it, and it is taken up.
        case takenUp
        /// Its store offers it, and no user is forced yet.
        case announced
        case inForce
        /// Its store has stopped offering it.
        case outOfForce
        /// It is in force for more users than before.
        case widened
        /// Its address, its message, its canary, its moment, its version code or its systems have changed.
        case reworded
        case withdrawn
    }

    package var kind: Kind
    /// After the change, with who made it.
    package var row: Requirement
    /// The required version before and after; nil: none. Where a requirement comes into force, goes out of it or is
    /// widened, the one in force; for a `latest`, the latest; for a block, nil.
    package var from: Version?
    package var to: Version?
    /// The version's; nil where it has none.
    package var campaign: CampaignRecord?

    /// Whether everybody below the version must upgrade since then.
    package var isInForceForEverybody: Bool { kind != .reworded && row.isForEverybody }

    /// For the log.
    package func fields(_ app: AppKey) -> [(name: String, value: String)] {
        var fields = [("app", app.app), ("platform", app.platform.rawValue), ("change", kind.rawValue)]
        if row.kind == .blocked { fields.append(("kind", row.kind.rawValue)) }
        fields += [
            ("version", row.version.text)
        ]
        if row.kind != .blocked { fields += [("from", from?.text ?? "nothing"), ("to", to?.text ?? "nothing")] }
        fields += [
            ("state", row.state.rawValue), ("reach", reach),
        ]
        if let campaign {
            fields += [("campaign", campaign.id), ("devices", String(campaign.figures.counts.audience))]
        }
        fields += [("by", row.changed.by), ("via", row.changed.via)]
        for field in RequirementField.allCases {
            if let value = row.terms[field] { fields.append((field.name.description, value.text)) }
        }
        if let reason = row.reason { fields.append(("reason", reason)) }
        return fields
    }

    /// The users that it is for: "everybody", "3 phone numbers", "12.5 percent".
    private var reach: String {
        switch row.reach {
        case 0:
            let count = row.canary?.count ?? 0
            return "\(count) phone number\(count == 1 ? "" : "s")"
        case Requirement.everybody: return "everybody"
        default: return "\(WavePlan.percentText(row.reach)) percent"
        }
    }

    /// All differences, in the order in which the versions were asked for.
    package static func all(from before: Requirements, to after: Requirements) -> [RequirementChange] {
        after.rows.compactMap { row in
            guard let kind = kind(of: row, before[row.id]) else { return nil }
            let (from, to) =
                row.kind == .latest
                ? (before.latest, after.latest)
                : [.inForce, .outOfForce, .widened].contains(kind)
                    ? (before.inForce, after.inForce) : (before.required, after.required)
            if row.kind == .blocked { return RequirementChange(kind: kind, row: row) }
            return RequirementChange(kind: kind, row: row, from: from?.version, to: to?.version)
        }
    }

    private static func kind(of row: Requirement, _ old: Requirement?) -> Kind? {
        guard let old else { return .raised }
        switch (old.state, row.state) {
        case (.asked, .waiting), (.asked, .announced), (.asked, .inForce): return .takenUp
        case (let old, .withdrawn) where old != .withdrawn: return .withdrawn
        case (let old, .inForce) where old != .inForce: return .inForce
        case (.inForce, let new) where new != .inForce: return .outOfForce
        case (.waiting, .announced): return .announced
        case (.inForce, .inForce) where old.reach < row.reach: return .widened
        default: break
        }
        // To `String`, canonically equivalent spellings are equal: no user sees another text.
        let isReworded =
            old.downloadURL != row.downloadURL || old.message != row.message || old.canary != row.canary
            || old.build != row.build || old.terms != row.terms
        return isReworded && row.isLive ? .reworded : nil
    }
}
