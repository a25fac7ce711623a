// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The configuration's values for what a bump leaves out, and the limits of a machine's bump.
package struct BumpPolicy {
    /// Whether the bump comes from a program, a source or a webhook: no person can be asked whether it is meant.
    package var isMachine = false
    /// Which rises of the latest version force an upgrade (SEEDS S4).
    package var force = ForcePolicy.manual
    /// The telephones that a machine's required version is for first, where its bump names none; nil: it is for everybody.
    package var canary: [String]?
    /// Whether the configuration has an address. Where it has none, the last address that a bump gave stays.
    package var hasDownloadURL = true
    /// Refuses a row that no push can carry, before anything is stored (DESIGN, rule 4); nil: the app has no push
    /// service. The machine calls it once for each row of a bump.
    package var check: ((Requirement) throws(RequirementRefusal) -> Void)?

    package init() {}

    /// The bump with the configuration's values for what it leaves out.
    ///
    /// A machine may not ask for a version that a person has taken back, and makes no canary wider: while the newest
    /// requirement is for named users alone, the machine's begins with these users, too.
    func completed(_ asked: VersionBump, _ requirements: Requirements) throws(RequirementRefusal) -> VersionBump {
        let takenUp = requirements.takenUp
        var bump = asked
        func rises(_ new: Version?) -> Bool {
            new.map { new in takenUp.required.map { $0.version < new } ?? true } ?? false
        }
        if isMachine, rises(bump.required), let required = bump.required, requirements.wasWithdrawn(required) {
            throw .wasWithdrawn(required, .required)
        }
        if isMachine, let version = bump.blocked.first(where: { requirements.wasWithdrawn($0, kind: .blocked) }) {
            throw .wasWithdrawn(version, .blocked)
        }
        if bump.required == nil, let latest = bump.latest {
            bump.required = force.required(
                latest: latest, previousLatest: takenUp.latest?.version,
                previousRequired: takenUp.required?.version)
            // A store goes on offering a version that a person has taken back: this does not require it again.
            if let required = bump.required, requirements.isOver(required) { bump.required = nil }
        }
        if isMachine, rises(bump.required), bump.telephones == nil {
            let newest = [requirements.staged, requirements.waiting.first].compactMap(\.self)
                .max { $0.version < $1.version }
            bump.telephones = if let newest, newest.reach == 0 { newest.canary } else { canary }
        }
        if !hasDownloadURL, bump.downloadURL == nil {
            bump.downloadURL = VersionRecord(bump.app, requirements).texts?.downloadURL
        }
        return bump
    }
}
