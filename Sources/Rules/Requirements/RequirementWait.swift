// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules
import WireFormat

/// Why a requirement is not in force yet. Decided here alone: the machine, the look at the gates and all user
/// interfaces read it.
package struct RequirementWait: Hashable, Sendable {
    /// nil: another program asked for it, and it is not taken up.
    package let wait: Wait?
    /// For people.
    package let reason: String
    /// Whether its store offered the version and has stopped.
    package let isHalted: Bool

    package init(_ wait: Wait?, _ reason: String, isHalted: Bool = false) {
        (self.wait, self.reason, self.isHalted) = (wait, reason, isHalted)
    }

    /// When it ends by itself; nil where no time is known.
    package var end: Timestamp? { wait?.end }

    package static let lostStore = lostStore(or: "put the version in force by \"version release\"")
    /// A version that is only announced cannot be released.
    static let lostStoreOfLatest = lostStore(or: "announce a newer version")

    private static func lostStore(or remedy: String) -> RequirementWait {
        RequirementWait(
            .lostStore,
            "the store that it waited for is not in the configuration any more; put the source back, or \(remedy)")
    }
}

extension Requirement {
    /// Why another program's row waits where the app's configuration wants a second person (`approval`).
    static let needsPerson =
        "another program asked for it, and a second person has to approve it: \"upgrade-relay version release\""

    /// Whether only its store, or a person, lets it through.
    var waitsForStore: Bool { isGated && !isReleased }

    /// The first reason that keeps it from coming into force; nil: none does. A person's release overrules them all.
    ///
    /// - Parameter verdict: the app store's; nil: the app has no store that could be asked.
    func wait(
        for verdict: GateVerdict?, in surroundings: RequirementMachine.Surroundings
    ) -> RequirementWait? {
        if state == .asked { return RequirementWait(nil, reason ?? "it was asked for a moment ago") }
        if isReleased { return nil }
        if isGated {
            guard let verdict else { return kind == .latest ? .lostStoreOfLatest : .lostStore }
            if !verdict.isOpen {
                return RequirementWait(
                    verdict.opensAt.map(Wait.time) ?? .store, verdict.reason, isHalted: verdict.state == .halted)
            }
        }
        // A `latest` has no moment to wait for.
        guard kind != .latest, let requiredFrom, requiredFrom > surroundings.now else { return nil }
        return RequirementWait(
            .time(requiredFrom),
            "required from \(requiredFrom.internetTime); until then \(version) is announced, users may go on, and no device is "
                + "pushed to")
    }
}

extension Requirements {
    /// Why a row is not in force yet; nil: nothing is known to hold it back.
    package func wait(
        of row: Requirement, in surroundings: RequirementMachine.Surroundings
    ) -> RequirementWait? {
        row.wait(for: surroundings.verdict(question(row)), in: surroundings)
    }
}
