// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// Single versions that must be left, whatever the floor.
///
/// A block is a requirement like any other: it waits for its store, which must offer a version above it that is not
/// blocked; a person takes it back; it has its campaign. It has no canary, no waves and no moment: all users of a bad
/// build must leave it.
extension RequirementMachine {
    mutating func block(
        _ bump: VersionBump, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        let news = bump.blocked.filter { !requirements.isBlocked($0) }
        // The rows of this bump are there already: its latest version counts as a way out, and its required one as required.
        if surroundings.gate == nil, let known = surroundings.known,
            let version = news.first(where: { requirements.isDeadEnd($0, known, besides: bump.blocked) })
        {
            throw .deadEnd(version)
        }
        if let latest = bump.latest, bump.blocked.contains(latest),
            !requirements.hasWayOut(of: latest, besides: bump.blocked, surroundings.known ?? KnownVersions())
        {
            throw .deadEnd(latest)
        }
        if surroundings.gate == nil, let known = surroundings.known,
            let version = requirements.withoutWayOut(bump.blocked, known)
                .first(where: { !bump.confirms(Doubt(.nothingAbove, $0)) })
        {
            throw .nothingAbove(version)
        }
        for version in bump.blocked {
            if let known = requirements.live(version, kind: .blocked) {
                change(known.id, by: actor) {
                    ($0.downloadURL, $0.message) = (bump.downloadURL ?? $0.downloadURL, bump.message ?? $0.message)
                }
                continue
            }
            var row = Requirement(
                id: 0, kind: .blocked, version: version, state: .waiting, isGated: surroundings.gate != nil,
                changed: actor)
            (row.downloadURL, row.message) = (bump.downloadURL, bump.message)
            blocked.append(add(row))
        }
    }

    /// Refuses a bump that both requires and blocks a version, whatever is confirmed: users who obey it would be locked
    /// out.
    static func checkSense(of bump: VersionBump) throws(RequirementRefusal) {
        if let version = bump.required, bump.blocked.contains(version) { throw .deadEnd(version) }
    }

    mutating func unblock(
        _ versions: [Version], by actor: Signature, reason: String?
    ) throws(RequirementRefusal) {
        for version in versions {
            guard let row = requirements.live(version, kind: .blocked) else { throw .notBlocked(version) }
            blocked.append(row.id)
            change(row.id, by: actor) { row in
                (row.state, row.reason) = (.withdrawn, "unblocked by \(actor.by)" + (reason.map { ": \($0)" } ?? ""))
            }
        }
    }

    /// Sets the oldest system of each block: the block can be obeyed on systems that run an announced version above it.
    /// These versions come and go, so the system is computed anew at each event.
    mutating func noteWaysOut(by actor: Signature) {
        for row in requirements.blocks {
            let minimum = requirements.minimumOS(toLeave: row)
            guard minimum?.text != row.minimumOS?.text else { continue }
            change(row.id, by: actor) { $0.minimumOS = minimum }
        }
    }
}

extension Requirements {
    /// The blocks, in force or not, the highest first.
    package var blocks: [Requirement] {
        rows.filter { $0.kind == .blocked && $0.isLive }.sorted { $0.version > $1.version }
    }

    package var blocked: [Version] { blocks.map(\.version) }

    package func isBlocked(_ version: Version) -> Bool { live(version, kind: .blocked) != nil }

    /// Whether a version was withdrawn or is blocked: then no machine may ask for it.
    package func isOver(_ version: Version) -> Bool {
        wasWithdrawn(version) || isBlocked(version)
    }

    /// The question to the store about one of the requirements.
    package func question(_ row: Requirement, isReminder: Bool? = nil) -> GateQuestion {
        GateQuestion(
            row.version, build: row.build, isReminder: isReminder ?? (row.kind == .latest), blocked: blocked)
    }

    /// The given versions above which no unblocked version is known. Where no store is asked, a known version is the
    /// only evidence for a way out.
    package func withoutWayOut(_ versions: [Version], _ known: KnownVersions) -> [Version] {
        versions.filter { !isBlocked($0) && !hasWayOut(of: $0, besides: versions, known) }
    }

    /// - Parameter versions: versions that will be blocked as well.
    fileprivate func hasWayOut(of version: Version, besides versions: [Version], _ known: KnownVersions) -> Bool {
        let all = blocked + versions
        let others = Requirements(takenUp.rows.filter { !all.contains($0.version) })
        return known.highest(others.latest?.version).map { $0 > version && !all.contains($0) } ?? false
    }

    /// Whether a block would have everybody leave a version that everybody must have, with nothing above it: all users
    /// would be locked out. A block that waits for a store to offer a version above it does not do that.
    func isDeadEnd(_ version: Version, _ known: KnownVersions, besides versions: [Version] = []) -> Bool {
        takenUp.rows.contains { $0.kind == .required && $0.version == version && !isSuperseded($0) }
            && !hasWayOut(of: version, besides: versions + [version], known)
    }

    /// The reason for refusing a block that is a dead end.
    package static func deadEndText(_ version: Version) -> String {
        "\(version) is required, and nothing above it is known: blocked, it would lock everybody out"
    }

    /// The oldest system that runs an announced version above a blocked one; nil: any, or not known.
    fileprivate func minimumOS(toLeave row: Requirement) -> Version? {
        let blocked = blocked
        let above = rows.filter { other in
            other.kind != .blocked && other.isAnnounced && other.version > row.version
                && !blocked.contains(other.version)
        }
        let minimums = above.compactMap(\.minimumOS)
        return minimums.count == above.count ? minimums.min() : nil
    }
}
