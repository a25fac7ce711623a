// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// All requirements of one app, and the facts that follow from all of them together.
package struct Requirements: Hashable, Sendable {
    /// In the order in which they were asked for.
    package var rows: [Requirement]

    package init(_ rows: [Requirement] = []) {
        self.rows = rows
    }

    /// The highest floor that is asked for, in force or not.
    package var required: Requirement? { highest { $0.kind == .required && $0.isLive } }

    /// The highest version that users are notified of, or will be.
    package var latest: Requirement? { highest { $0.kind != .blocked && $0.isLive } }

    /// The requirements without other programs' rows that are not taken up: those do not count yet.
    package var takenUp: Requirements { Requirements(rows.filter(\.isAccepted)) }

    /// The rules that every channel goes by, the highest first. A requirement that is in force for some users alone
    /// counts until it is superseded, one that is only announced counts where it is for everybody.
    ///
    /// A blocked version is announced to no user: there is a version above it.
    package var rules: [UpgradeRule] {
        // Few rows have a rule. Their places are sorted and not the rows, which are large.
        let said = rows.indices.filter {
            rows[$0].kind == .blocked ? rows[$0].state == .inForce : rows[$0].isAnnounced
        }
        let left = said.filter { rows[$0].kind == .blocked }
        // In the order of `UpgradeTarget.isJudgedBefore`; of equal targets, the one with the greater rank comes first.
        let ordered = said.map { (place: $0, target: rows[$0].target, rank: rows[$0].rank) }.sorted {
            $0.target == $1.target ? $0.rank > $1.rank : UpgradeTarget.isJudgedBefore($0.target, $1.target)
        }
        return ordered.flatMap { place, _, _ -> [UpgradeRule] in
            let row = rows[place]
            switch row.kind {
            case .blocked: return row.rules
            case .latest where left.contains { rows[$0].version == row.version }: return []
            case .latest, .required:
                // A superseded requirement forces no user any more, but stays announced.
                let isOver = row.isStaged && isSuperseded(row)
                return row.rules.filter { $0.isForEverybody || row.isStaged && !isOver }
            }
        }
    }

    /// The floor that is in force for everybody.
    package var inForce: Requirement? { inForce(on: []) }

    /// The highest floor in force for everybody that runs on all of these systems.
    package func inForce(on systems: [Version]) -> Requirement? { inForce(on: systems, by: rules) }

    /// - Parameter rules: `rules` of these requirements.
    func inForce(on systems: [Version], by rules: [UpgradeRule]) -> Requirement? {
        first(of: rules) { $0.forces && !$0.isBlock && $0.isForEverybody && systems.allSatisfy($0.runs) }
    }

    /// The newest version that is announced to everybody.
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

    /// The floor that has taken the place of another, or of a block: nothing is sent for the superseded row then, and
    /// its gate is not asked. A floor in force for everybody takes the place of all below it; one for some users alone
    /// takes the place of those that are, or will be, for some.
    package func superseder(of row: Requirement) -> Requirement? {
        guard row.kind != .latest else { return nil }
        return highest { other in
            other.kind == .required && other.state == .inForce && other.version > row.version
                && (other.reach == Requirement.everybody || row.reach < Requirement.everybody)
        }
    }

    package func isSuperseded(_ row: Requirement) -> Bool { superseder(of: row) != nil }

    /// The floors that are accepted, and neither in force nor superseded, the highest first.
    package var waiting: [Requirement] { waiting(.required) }

    package func waiting(_ kind: Requirement.Kind) -> [Requirement] {
        rows.filter { $0.kind == kind && $0.isAccepted && $0.state != .inForce && !isSuperseded($0) }
            .sorted { $0.version > $1.version }
    }

    /// Whether anything that is asked for is not yet in force, or not yet announced.
    package var isWaiting: Bool {
        !waiting(.blocked).isEmpty || required.map { $0.state != .inForce && !isSuperseded($0) } ?? false
            || latest.map { !$0.isAnnounced && !isSuperseded($0) } ?? false
    }

    /// Whether a version was taken back and is not asked for again.
    package func wasWithdrawn(_ version: Version, kind: Requirement.Kind = .required) -> Bool {
        let same = rows.filter { $0.kind == kind && $0.version == version }
        return !same.isEmpty && same.allSatisfy { !$0.isAccepted } && same.contains { !$0.isLive }
    }

    /// The live requirement of this version; nil where there is none, or it was taken back.
    package func live(_ version: Version, kind: Requirement.Kind = .required) -> Requirement? {
        rows.first { $0.kind == kind && $0.version == version && $0.isLive }
    }

    /// A row's message, with the moment where the text has a place for it: its own, or that of the version
    /// required beside it.
    package func words(of row: Requirement, _ moments: MomentWords) -> LocalizedText? {
        row.message.map { moments.worded($0, from: row.requiredFrom ?? required?.requiredFrom) }
    }

    package subscript(id: Int64) -> Requirement? { rows.first { $0.id == id } }

    /// The highest of the rows that are meant; of equal versions the one with the higher version code, then the floor.
    ///
    /// Inlined with its condition, so that a row, which is large, is not copied.
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
    /// The rank among rows of the same version: the row with the greater rank is above.
    @inline(__always) fileprivate var rank: (Int64, Int) { (build ?? 0, kind == .required ? 1 : 0) }
}
