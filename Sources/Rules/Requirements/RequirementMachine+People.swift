// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import UpgradeRules

/// A person's decisions about requirements that wait, and about those in force.
extension RequirementMachine {
    /// The requirement that a release would let through; nil: nothing waits.
    package func releasable(_ version: Version?, _ kind: Requirement.Kind?) -> Requirement? {
        let candidates = requirements.rows.filter { row in
            // A requirement in waves is left out while its campaign has a wave to come: then that wave waits, not
            // the requirement.
            row.kind != .latest && row.isLive && !requirements.isSuperseded(row)
                && (row.state != .inForce || row.reach == 0 || isLeftInWaves(row))
                && version.map { $0 == row.version } ?? true && kind.map { $0 == row.kind } ?? true
        }
        .sorted { $0.version > $1.version }
        // A row of another program that is held back comes last: a person who releases a canary does not mean that row.
        return candidates.first { $0.isAccepted && $0.state != .inForce }
            ?? candidates.first(where: \.isAccepted) ?? candidates.first
    }

    mutating func release(
        _ version: Version?, _ kind: Requirement.Kind?, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        guard let row = releasable(version, kind) else { throw .nothingWaits }
        if row.kind == .required, requirements.isBlocked(row.version) { throw .isBlocked(row.version) }
        if row.state == .asked {
            let faults = surroundings.rules.faults(in: row)
            if !faults.isEmpty { throw .breaksRules(faults) }
        }
        // A release overrules the store: only this check still keeps the block from locking users out.
        if row.kind == .blocked, row.state != .inForce,
            requirements.isDeadEnd(row.version, surroundings.known ?? KnownVersions())
        {
            throw .deadEnd(row.version)
        }
        subject = row.id
        if row.state == .inForce {
            let reach = isLeftInWaves(row) ? Requirement.everybody : row.firstReach
            change(row.id, by: actor) { ($0.reach, $0.reason) = (reach, "released by hand") }
            for index in campaigns.indices where campaigns[index].requirement == row.id {
                restartTime(index, surroundings)
            }
        } else {
            change(row.id, by: actor) { row in
                if row.state == .asked { row.accept(surroundings) }
                (row.isReleased, row.reason) = (true, "released by hand")
            }
        }
    }

    /// Whether its campaign ended, by its time to live or by hand, before all of its waves had begun.
    private func isLeftInWaves(_ row: Requirement) -> Bool {
        (1..<Requirement.everybody).contains(row.reach)
            && campaigns.contains { $0.requirement == row.id && $0.end != nil }
    }

    /// Gives a stage that begins the whole time to live.
    mutating func restartTime(_ index: Int, _ surroundings: Surroundings) {
        let all = campaigns[index].timeToLive
        if campaigns[index].state == .running {
            campaigns[index].expiresAt = surroundings.now + all
        } else {
            campaigns[index].timeLeft = all
        }
    }

    mutating func withdraw(
        _ version: Version, by actor: Signature, reason: String?
    ) throws(RequirementRefusal) {
        guard let row = requirements.live(version), !requirements.isSuperseded(row) else {
            throw .notRequired(version, now: requirements.required?.version)
        }
        subject = row.id
        change(row.id, by: actor) { row in
            (row.state, row.reason) = (.withdrawn, "withdrawn by \(actor.by)" + (reason.map { ": \($0)" } ?? ""))
        }
    }
}
