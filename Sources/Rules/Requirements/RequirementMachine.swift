// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// Decides what becomes of an app's requirements and campaigns. Pure: it takes all of them, one event, the stores'
/// verdicts and the time, and holds the result. A store writes the differences, in one transaction.
///
/// | state | event | next |
/// |---|---|---|
/// | none | asked by a person or a machine | `waiting`, and at once as far as its gate lets it |
/// | none | asked by another program | `asked` |
/// | `asked` | looked at, not withdrawn before, plausible | `waiting` |
/// | `asked` | released · this or a lower version is asked for | `waiting`, released · `withdrawn` |
/// | `waiting` | offered, hold or moment ahead; or kind `latest` | `announced` |
/// | `waiting`, `announced` | gate open, or none, and its moment reached | `inForce` |
/// | `waiting`, `announced` | released | `inForce`, regardless of the store and the moment from then on |
/// | `waiting`, `announced` | asked again with another moment | that moment's |
/// | `announced`, `inForce` | halted by its store, not released | `waiting`; its reach stays |
/// | `inForce`, its canary's | released | its first wave's, or everybody's |
/// | `inForce`, a wave's | the next wave begins | that wave's |
/// | `inForce`, a wave's, its campaign over | released | everybody's |
/// | live, not superseded | withdrawn · its campaign cancelled before it is for everybody | `withdrawn` |
/// | none · live | a version is blocked · unblocked | `waiting`, for everybody · `withdrawn` |
///
/// A gate that closes without a halt, a source that fails or is removed, and all other events of a campaign move
/// nothing.
package struct RequirementMachine: Sendable {
    package internal(set) var requirements: Requirements
    package internal(set) var campaigns: [CampaignFacts]
    /// The row that the event was about: asked for, released, or taken back.
    package internal(set) var subject: Int64?
    /// The blocks that the event made or ended.
    package internal(set) var blocked: [Int64] = []
    /// The bump with the configuration's values; nil: the event was no bump.
    package private(set) var bump: VersionBump?
    var nextID: Int64 = -1

    package init(_ requirements: Requirements, campaigns: [CampaignFacts]) {
        self.requirements = requirements
        self.campaigns = campaigns
    }

    /// - Returns: the changes by the event. All later reports of the decision are views of them.
    /// - Throws: `RequirementRefusal`; then the requirements and campaigns from before still hold.
    @discardableResult
    package mutating func reduce(
        _ event: RequirementEvent, by actor: Signature, in surroundings: Surroundings
    ) throws(RequirementRefusal) -> [Change] {
        let before = self
        // A changed row keeps only its author's name.
        try take(event, by: actor.plain, surroundings)
        noteWaysOut(by: .relay(at: surroundings.now))
        show(at: surroundings.now)
        return changes(by: event, of: actor, since: before)
    }

    private mutating func take(
        _ event: RequirementEvent, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        switch event {
        case .asked(let said):
            let asked = try surroundings.policy.completed(said, requirements)
            self.bump = asked
            let faults = surroundings.rules.faults(in: asked)
            if !faults.isEmpty { throw .breaksRules(faults) }
            let bump = surroundings.rules.sent(asked)
            let isAnotherPrograms = requirements.rows.contains { $0.isLive && !$0.isAccepted }
            takeUp(surroundings)
            settle(surroundings)
            try Self.checkSense(of: bump)
            try ask(bump, by: actor, surroundings)
            try block(bump, by: actor, surroundings)
            settle(surroundings)
            if let check = surroundings.policy.check {
                let required = bump.required == nil ? nil : requirements.required
                let blocks = bump.blocked.compactMap { requirements.live($0, kind: .blocked) }
                for row in [required].compactMap(\.self) + blocks { try check(row) }
            }
            for id in [subject].compactMap(\.self) + blocked {
                if let row = requirements[id] { try makeCampaign(of: row, surroundings) }
            }
            // Another program's row that is taken up with the bump gets its campaign: through it, receivers learn that
            // the row is in force.
            if isAnotherPrograms { try? makeMissingCampaign(surroundings) }
            if bump.isUrgent {
                let required = bump.required == nil ? nil : requirements.takenUp.required?.id
                for id in [required].compactMap(\.self) + blocked {
                    hurryCampaign(of: id, by: actor, at: surroundings.now)
                }
            }
        case .looked:
            takeUp(surroundings)
            settle(surroundings)
            try makeMissingCampaign(surroundings)
        case .released(let version, let kind):
            try release(version, kind, by: actor, surroundings)
            settle(surroundings)
            try? makeMissingCampaign(surroundings)
        case .withdrawn(let version, let reason):
            try withdraw(version, by: actor, reason: reason)
            settle(surroundings)
        case .unblocked(let versions, let reason):
            try unblock(versions, by: actor, reason: reason)
            settle(surroundings)
        case .campaign(let key, let event):
            try reduce(key, event, by: actor, surroundings)
        }
    }

    private mutating func show(at now: Timestamp) {
        for index in campaigns.indices {
            guard let row = requirements[campaigns[index].requirement] else { continue }
            campaigns[index].show(row, in: requirements, at: now)
        }
    }

    mutating func change(_ id: Int64, by actor: Signature, _ body: (inout Requirement) -> Void) {
        guard let index = requirements.rows.firstIndex(where: { $0.id == id }) else { return }
        let before = requirements.rows[index]
        body(&requirements.rows[index])
        // "In force since" is the moment for everybody, not that of a canary or of a first wave.
        if before.state == .inForce, !before.isForEverybody, requirements.rows[index].isForEverybody {
            requirements.rows[index].inForceAt = actor.at
        }
        if !requirements.rows[index].isWritten(as: before) { requirements.rows[index].changed = actor }
    }

    mutating func add(_ row: Requirement) -> Int64 {
        var row = row
        row.id = nextID
        nextID -= 1
        requirements.rows.append(row)
        return row.id
    }

    // MARK: Asked

    private mutating func ask(
        _ bump: VersionBump, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        let takenUp = requirements.takenUp
        let (before, latestBefore) = (takenUp.required, takenUp.latest)
        try Self.check("required", bump.required, against: before?.version)
        try Self.check("latest", bump.latest, against: latestBefore?.version)
        if let known = surroundings.known, let doubt = known.doubt(bump, takenUp) {
            throw .implausible(
                field: doubt.field, proposed: doubt.version,
                known: known.highest(takenUp.latest?.version) ?? doubt.version)
        }
        let builds = bump.builds
        try Self.check("builds.latest", builds.latest, against: takenUp.rows.compactMap(\.build).max())
        try Self.check(
            "builds.required", builds.required,
            against: takenUp.rows.filter { $0.kind == .required }.compactMap(\.build).max())
        let required = bump.required.flatMap { version in before.map { version > $0.version } ?? true ? version : nil }
        if let required {
            if requirements.isBlocked(required) { throw .isBlocked(required) }
            // A version that another program required, and that only this event has taken up, gets its campaign before
            // another takes its place. Without a URL it gets none: no push could have announced it.
            try? makeMissingCampaign(surroundings)
            replaceAsked(.required, by: required, actor)
            var row = Requirement(
                id: 0, kind: .required, version: required, build: builds.required, state: .waiting,
                isGated: surroundings.gate != nil, changed: actor)
            row.stages = surroundings.draft?.waves
            row.reach = bump.telephones == nil ? row.firstReach : 0
            (row.downloadURL, row.message, row.canary) = (bump.downloadURL, bump.message, bump.telephones)
            row.requiredFrom = bump.requiredFrom.value
            try Self.check(row.requiredFrom, at: surroundings.now)
            subject = add(row)
        } else if let before {
            if let telephones = bump.telephones {
                guard before.reach == 0 else { throw .notACanary(before.version) }
                change(before.id, by: actor) { $0.canary = telephones }
            }
            if let build = builds.required { change(before.id, by: actor) { $0.build = build } }
            try setMoment(bump, before, by: actor, surroundings)
        } else if bump.requiredFrom != .keep {
            throw .nothingWaits
        }
        let floor = [latestBefore?.version, required].compactMap(\.self).max()
        let rises = bump.latest.flatMap { latest in floor.map { latest > $0 } ?? true ? latest : nil }
        // A `latest` may have the floor's version and a higher code than the floor.
        let floorBuild = required == nil ? latestBefore?.build : builds.required
        let hasOwnBuild =
            (required != nil || latestBefore?.kind == .required) && builds.latest.map { $0 > floorBuild ?? 0 } ?? false
        if let latest = rises ?? (hasOwnBuild ? required ?? latestBefore?.version : nil) {
            var row = Requirement(
                id: 0, kind: .latest, version: latest, build: builds.latest, state: .waiting,
                isGated: surroundings.gate != nil, changed: actor)
            (row.downloadURL, row.message) = (bump.downloadURL, bump.message)
            replaceAsked(.latest, by: latest, actor)
            _ = add(row)
        } else if let build = builds.latest, required == nil, let latestBefore {
            change(latestBefore.id, by: actor) { $0.build = max($0.build ?? build, build) }
        }
        // The texts of a bump that only blocks belong to the blocks.
        let isAboutBlocks = !bump.blocked.isEmpty && bump.required == nil && bump.latest == nil
        if required == nil, !isAboutBlocks { reword(bump, before, rises == nil ? latestBefore : nil, by: actor) }
        setMinimumOS(bump, by: actor)
    }

    /// Sets the oldest system of the bump's versions; where it names none, of the required or else the latest version.
    private mutating func setMinimumOS(_ bump: VersionBump, by actor: Signature) {
        let named = [bump.required, bump.latest].compactMap(\.self)
        let fallback = (requirements.takenUp.required ?? requirements.takenUp.latest)?.version
        let meant = named.isEmpty ? [fallback].compactMap(\.self) : named
        for row in requirements.takenUp.rows where meant.contains(row.version) {
            switch bump.minimumOS {
            case .set(let minimum):
                // A store's value replaces no known one, which may be a person's.
                if bump.isListed, row.minimumOS != nil { continue }
                change(row.id, by: actor) { $0.minimumOS = minimum }
            case .keep:
                // A new row takes over the oldest system that an earlier row of the same version has.
                guard row.id < 0, row.minimumOS == nil else { continue }
                let known = requirements.takenUp.rows.last { $0.version == row.version && $0.minimumOS != nil }
                change(row.id, by: actor) { $0.minimumOS = known?.minimumOS }
            }
        }
    }

    private mutating func setMoment(
        _ bump: VersionBump, _ row: Requirement, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        guard case .set(let moment) = bump.requiredFrom, moment != row.requiredFrom else { return }
        guard row.state != .inForce else { throw .inForceAlready(row.version) }
        try Self.check(moment, at: surroundings.now)
        // A version that was announced to all stays so: without its moment it is required of them from now on.
        change(row.id, by: actor) { $0.requiredFrom = moment ?? ($0.isAnnouncedToAll ? surroundings.now : nil) }
    }

    /// The furthest that a moment may lie ahead: a forgotten one would force people one day.
    package static let furthestMoment = Duration.seconds(366 * 86_400)

    /// Refuses a moment that is over, which is most likely a slip and would force everybody at once, or is too far
    /// ahead.
    private static func check(_ moment: Timestamp?, at now: Timestamp) throws(RequirementRefusal) {
        guard let moment else { return }
        if moment <= now { throw .momentPassed(moment, now: now) }
        if moment > now + furthestMoment { throw .momentTooFar(moment, latest: now + furthestMoment) }
    }

    /// Withdraws rows of this or a higher version that are not taken up, in favour of the version that is asked for.
    private mutating func replaceAsked(_ kind: Requirement.Kind, by version: Version, _ actor: Signature) {
        for row in requirements.rows where row.state == .asked && row.kind == kind && row.version >= version {
            change(row.id, by: actor) {
                ($0.state, $0.reason) = (.withdrawn, "\(version) was asked for in its place")
            }
        }
    }

    /// A bump that names the requirement brings all of its texts: a text that it leaves out is the configuration's. Any
    /// other bump changes only the texts that it brings: a build tool that announces the same version each night does
    /// not take a message away.
    private mutating func reword(
        _ bump: VersionBump, _ required: Requirement?, _ latest: Requirement?, by actor: Signature
    ) {
        let isComplete = bump.required != nil
        guard isComplete || latest != nil else { return }
        for row in [required, latest].compactMap(\.self) {
            change(row.id, by: actor) { row in
                row.downloadURL = isComplete ? bump.downloadURL : bump.downloadURL ?? row.downloadURL
                row.message = isComplete ? bump.message : bump.message ?? row.message
                if row.reason?.hasPrefix(BumpRules.asideReason) ?? false { row.reason = nil }
            }
            // The new texts may fit into a push. If they do not, that is found when the campaign begins.
            for index in campaigns.indices where campaigns[index].requirement == row.id {
                repair(index, [.payload])
            }
        }
    }

    private static func check(
        _ field: String, _ proposed: Version?, against current: Version?
    ) throws(RequirementRefusal) {
        guard let proposed, let current, proposed < current else { return }
        throw .versionWouldFall(field: field, current: current, proposed: proposed)
    }

    private static func check(_ field: String, _ proposed: Int64?, against current: Int64?) throws(RequirementRefusal) {
        guard let proposed, let current, proposed < current, let now = try? Version(String(current)),
            let wanted = try? Version(String(max(proposed, 0)))
        else { return }
        throw .versionWouldFall(field: field, current: now, proposed: wanted)
    }

    /// Accepts another program's rows. A row that breaks the rules, was taken back by a person, is blocked, is a dead
    /// end or has no evidence waits for a person instead; only one that breaks the rules is looked at again.
    private mutating func takeUp(_ surroundings: Surroundings) {
        setAsideTexts(surroundings)
        guard let known = surroundings.known else { return }
        for row in requirements.rows
        where row.state == .asked && (row.reason?.hasPrefix(BumpRules.brokenReason) ?? true) {
            var asker = row.changed
            asker.at = surroundings.now
            let broken = surroundings.rules.reason(against: row)
            let wasWithdrawn = requirements.wasWithdrawn(row.version, kind: row.kind)
            let isBlocked = row.kind == .required && requirements.isBlocked(row.version)
            let isDeadEnd =
                row.kind == .blocked && surroundings.gate == nil && requirements.isDeadEnd(row.version, known)
            let doubt = known.doubt(row, requirements)
            change(row.id, by: asker) {
                if let broken {
                    $0 = surroundings.rules.shortened($0)
                    $0.reason = broken
                } else if wasWithdrawn {
                    $0.reason = "\(row.version) was withdrawn before: a person has to release it"
                } else if isBlocked {
                    $0.reason = "\(row.version) is blocked: unblock it, or ask for a version above it"
                } else if isDeadEnd {
                    $0.reason = Requirements.deadEndText(row.version)
                } else if let doubt {
                    $0.reason = doubt
                } else if surroundings.rules.wantsSecondPerson, row.kind != .latest {
                    $0.reason = Requirement.needsPerson
                } else {
                    $0.accept(surroundings)
                }
            }
        }
    }

    /// Another program may change the texts of a row that is taken up. A text that breaks the rules is replaced, by the
    /// address that its campaign began with or by the configuration's text.
    private mutating func setAsideTexts(_ surroundings: Surroundings) {
        for row in requirements.rows where row.isAccepted {
            let began = campaigns.first { $0.requirement == row.id }?.downloadURL
            let sanitised = surroundings.rules.sanitised(row, address: began)
            guard !sanitised.isWritten(as: row) else { continue }
            let fault = surroundings.rules.textFaults(row.downloadURL, row.message).first
            change(row.id, by: .relay(at: surroundings.now)) {
                $0 = sanitised
                if let fault { $0.reason = BumpRules.asideReason + "\(fault); \(row.changed.by) wrote it" }
            }
        }
    }
}
