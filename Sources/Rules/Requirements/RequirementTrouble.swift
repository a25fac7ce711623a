// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// Something about an app's requirements, as they stand, that a person should know.
package enum RequirementTrouble: Hashable, Sendable {
    /// Another program's row breaks the rules, and waits for a person.
    case brokenRow(Requirement)
    /// A text that another program wrote is not used.
    case brokenText(Requirement)
    /// The launch document leaves out a requirement that is in force for everybody: it does not know a device's system,
    /// and some devices have one that is too old.
    case documentLacksSystem(Requirement, oldest: Version)

    /// - Parameter systems: the systems that the launch document goes by.
    package static func all(of requirements: Requirements, systems: [Version]) -> [RequirementTrouble] {
        var troubles: [RequirementTrouble] = requirements.rows.compactMap { row in
            let reason = row.reason ?? ""
            if row.state == .asked, reason.hasPrefix(BumpRules.brokenReason) { return .brokenRow(row) }
            if row.isAccepted, reason.hasPrefix(BumpRules.asideReason) { return .brokenText(row) }
            return nil
        }
        if let row = requirements.inForce, let minimum = row.minimumOS, let oldest = systems.min(), oldest < minimum {
            troubles.append(.documentLacksSystem(row, oldest: oldest))
        }
        return troubles
    }

    /// For readers who may see the requirements.
    package var text: String {
        switch self {
        case .brokenRow(let row), .brokenText(let row):
            return "\(row.version) (\(row.changed.by)): \(row.reason ?? "")"
        case .documentLacksSystem: return openText
        }
    }

    /// For every reader: without the contents of a row.
    package var openText: String {
        switch self {
        case .brokenRow(let row):
            return "another program asked for \(row.version), and its row breaks the rules: it waits for a person; "
                + "\"upgrade-relay version show\" says why"
        case .brokenText(let row):
            return
                "another program changed a text of \(row.version) to one that breaks the rules; users do not get it. "
                + "\"upgrade-relay version show\" says why"
        case .documentLacksSystem(let row, let oldest):
            return "the launch document does not require \(row.version), which is in force and needs system "
                + "\(row.minimumOS?.text ?? "-"): it asks for no device's, and devices have \(oldest). Apps that go by it alone are not forced"
        }
    }
}
