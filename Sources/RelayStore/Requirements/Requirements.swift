// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// All requirements of one app, and what follows from looking at all of them.
package struct Requirements: Hashable, Sendable {
    /// In the order in which they were asked for.
    package var rows: [Requirement]

    package init(_ rows: [Requirement] = []) {
        self.rows = rows
    }

    /// The highest floor that is asked for, in force or not.
    package var required: Requirement? { highest { $0.kind == .required && $0.isLive } }

    /// The highest version that users are, or are to be, told of.
    package var latest: Requirement? { highest { $0.kind != .blocked && $0.isLive } }

    /// Without what another program wrote and nobody has taken up: that is no word of anybody's yet.
    package var takenUp: Requirements { Requirements(rows.filter(\.isAccepted)) }

    /// What every channel goes by, the highest first. What is in force for some users alone counts until it is superseded, what is only
    /// announced where it is for everybody.
    ///
    /// What is blocked is announced to nobody: there is a version above it.
    package var rules: [UpgradeRule] {
        // Few of all rows say anything. Their places are sorted, for a row is large.
        let said = rows.indices.filter {
            rows[$0].kind == .blocked ? rows[$0].state == .inForce : rows[$0].isAnnounced
        }
        let left = said.filter { rows[$0].kind == .blocked }
        // In the order of `UpgradeTarget.isJudgedBefore`; of equal targets the one that is above.
        let ordered = said.map { (place: $0, target: rows[$0].target, rank: rows[$0].rank) }.sorted {
            $0.target == $1.target ? $0.rank > $1.rank : UpgradeTarget.isJudgedBefore($0.target, $1.target)
        }
        return ordered.flatMap { place, _, _ -> [UpgradeRule] in
            let row = rows[place]
            switch row.kind {
            case .blocked: return row.rules
            case .latest where left.contains { rows[$0].version == row.version }: return []
            case .latest, .required:
                // Superseded, it forces nobody who was to come, but is as announced as before.
                let isOver = row.isStaged && isSuperseded(row)
                return row.rules.filter { $0.isForEverybody || row.isStaged && !isOver }
            }
        }
    }

    /// The floor that is in force for everybody.
    package var inForce: Requirement? { inForce(on: []) }

    /// The same, the highest that runs on all of these systems.
    package func inForce(on systems: [Version]) -> Requirement? { inForce(on: systems, by: rules) }

    /// - Parameter rules: these requirements'.
    func inForce(on systems: [Version], by rules: [UpgradeRule]) -> Requirement? {
        first(of: rules) { $0.forces && !$0.isBlock && $0.isForEverybody && systems.allSatisfy($0.runs) }
    }

    /// The newest version that everybody is told of.
    package var announced: Requirement? { announced(on: []) }

    package func announced(on systems: [Version]) -> Requirement? { announced(on: systems, by: rules) }

    func announced(on systems: [Version], by rules: [UpgradeRule]) -> Requirement? {
        first(of: rules) { !$0.isBlock && $0.isForEverybody && systems.allSatisfy($0.runs) }
    }

    /// The floor that is in force for some users alone.
    package var staged: Requirement? { first(of: rules) { !$0.isForEverybody } }

    private func first(of rules: [UpgradeRule], where isMeant: (UpgradeRule) -> Bool) -> Requirement? {
        rules.first(where: isMeant).flatMap { self[$0.id] }
    }

    /// The floor that has taken the place of another, or of a block: nothing is sent for that one then, and its gate is not asked. What is in
    /// force for everybody takes the place of all below it, what is for some users alone that of what is, or is to be, for some.
    package func superseder(of row: Requirement) -> Requirement? {
        guard row.kind != .latest else { return nil }
        return highest { other in
            other.kind == .required && other.state == .inForce && other.version > row.version
                && (other.reach == Requirement.everybody || row.reach < Requirement.everybody)
        }
    }

    package func isSuperseded(_ row: Requirement) -> Bool { superseder(of: row) != nil }

    /// Accepted, and neither in force nor superseded: floors, the highest first.
    package var waiting: [Requirement] { waiting(.required) }

    package func waiting(_ kind: Requirement.Kind) -> [Requirement] {
        rows.filter { $0.kind == kind && $0.isAccepted && $0.state != .inForce && !isSuperseded($0) }
            .sorted { $0.version > $1.version }
    }

    /// Whether anything that is asked for is not in force, or not announced, yet.
    package var isWaiting: Bool {
        !waiting(.blocked).isEmpty || required.map { $0.state != .inForce && !isSuperseded($0) } ?? false
            || latest.map { !$0.isAnnounced && !isSuperseded($0) } ?? false
    }

    /// Whether a version was taken back and is not asked for again.
    package func wasWithdrawn(_ version: Version, kind: Requirement.Kind = .required) -> Bool {
        let same = rows.filter { $0.kind == kind && $0.version == version }
        return !same.isEmpty && same.allSatisfy { !$0.isAccepted } && same.contains { !$0.isLive }
    }

    /// The one of this version that counts; nil where there is none, or it was taken back.
    package func live(_ version: Version, kind: Requirement.Kind = .required) -> Requirement? {
        rows.first { $0.kind == kind && $0.version == version && $0.isLive }
    }

    /// What one says, with the moment where that names it: its own, or that of what is required beside it.
    package func words(of row: Requirement, _ moments: MomentWords) -> LocalizedText? {
        row.message.map { moments.worded($0, from: row.requiredFrom ?? required?.requiredFrom) }
    }

    package subscript(id: Int64) -> Requirement? { rows.first { $0.id == id } }

    /// Of equal versions the floor, then the one with the higher version code.
    ///
    /// Inlined with what is asked, so that a row, which is large, is looked at where it is.
    @inline(__always) private func highest(where isMeant: (Requirement) -> Bool) -> Requirement? {
        var best: Int?
        for place in rows.indices where isMeant(rows[place]) {
            guard let other = best else {
                best = place
                continue
            }
            if rows[place].version > rows[other].version
                || rows[place].version == rows[other].version && rows[place].rank > rows[other].rank
            {
                best = place
            }
        }
        return best.map { rows[$0] }
    }
}

extension Requirement {
    /// The row with the greater rank is above, where two have one version.
    @inline(__always) fileprivate var rank: (Int64, Int) { (build ?? 0, kind == .required ? 1 : 0) }
}
