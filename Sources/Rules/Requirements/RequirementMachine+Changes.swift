// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

extension RequirementMachine {
    /// The changes by an event: first the steps of the versions, in the order in which the versions were asked for,
    /// then the act as a whole, then the campaigns.
    func changes(by event: RequirementEvent, of actor: Signature, since before: RequirementMachine) -> [Change] {
        // Most looks find nothing.
        if requirements == before.requirements, campaigns == before.campaigns, case .looked = event { return [] }
        return Differences(before: before, after: self, actor: actor).all(by: event)
    }
}

/// Two states of a machine, and what differs between them.
private struct Differences {
    let before: RequirementMachine
    let after: RequirementMachine
    let actor: Signature

    private var old: Requirements { before.requirements }
    private var new: Requirements { after.requirements }

    func all(by event: RequirementEvent) -> [Change] { steps + act(event) + moves(but: event) }

    private func change(_ kind: Change.Kind, of requirement: Int64?, by signature: Signature? = nil) -> Change {
        Change(kind, by: signature ?? actor, requirement: requirement)
    }

    /// Rows are only appended, so a row keeps its place.
    private func row(before place: Int) -> Requirement? { old.rows.indices.contains(place) ? old.rows[place] : nil }

    // MARK: Versions

    private var steps: [Change] {
        new.rows.enumerated().compactMap { place, row in
            let known = self.row(before: place)
            guard let step = Self.step(to: row, from: known) else { return nil }
            return change(
                .version(step, row, versions(beside: row, step)), of: row.id, by: author(of: step, row, known))
        }
    }

    private static func step(to row: Requirement, from old: Requirement?) -> Change.VersionStep? {
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
        let isReworded = old.downloadURL != row.downloadURL || old.message != row.message || old.terms != row.terms
        return isReworded && row.isLive ? .reworded : nil
    }

    private func versions(beside row: Requirement, _ step: Change.VersionStep) -> Change.Move<Version?> {
        func move(_ find: (Requirements) -> Requirement?) -> Change.Move<Version?> {
            Change.Move(from: find(old)?.version, to: find(new)?.version)
        }
        switch (row.kind, step) {
        case (.blocked, _): return Change.Move(from: nil, to: nil)
        case (.latest, _): return move(\.latest)
        case (.required, .inForce), (.required, .outOfForce), (.required, .widened): return move(\.inForce)
        case (.required, _): return move(\.required)
        }
    }

    private func author(of step: Change.VersionStep, _ row: Requirement, _ old: Requirement?) -> Signature {
        // The author is the program that asked for it, under the name that it gave itself (`changed_by`), whichever
        // actor's event took it up.
        if step == .takenUp, !row.isReleased, let old { return Signature(by: .database(old.changed.by), at: actor.at) }
        return row.changed == actor.plain ? actor : row.changed
    }

    // MARK: Acts

    private func act(_ event: RequirementEvent) -> [Change] {
        switch event {
        case .looked: return []
        case .asked(let bump): return asked(after.bump ?? bump)
        case .released(let version, _):
            guard let id = after.subject, let row = new[id] else { return [] }
            return [change(.released(row.version, isNamed: version != nil, standing(of: row)), of: id)]
        case .withdrawn(let version, let reason):
            return [
                change(.takenBack(version, reason: reason, Change.Move(from: old, to: new)), of: after.subject)
            ]
        case .unblocked(_, let reason):
            return after.blocked.compactMap { new[$0] }.map { row in
                change(.unblocked(row.version, reason: reason, standing(of: row)), of: row.id)
            }
        case .campaign(let key, let order): return [self.order(order, to: key)].compactMap(\.self)
        }
    }

    private func standing(of row: Requirement) -> Change.Move<Change.Standing?> {
        Change.Move(
            from: old[row.id].map { Change.Standing($0, in: old) }, to: Change.Standing(row, in: new))
    }

    private func asked(_ bump: VersionBump) -> [Change] {
        // A changed row keeps only its author's name, hence `plain`. Versions that wait for a store may move in the
        // same event: the actor did not ask for that.
        let changed = new.rows.enumerated().filter { place, row in
            self.row(before: place).map { !row.isWritten(as: $0) && row.changed == actor.plain } ?? true
        }
        let blocks = changed.filter { $0.element.kind == .blocked }.map { place, row in
            change(.blocked(row, before: self.row(before: place)), of: row.id)
        }
        let isHurried = bump.isUrgent && bump.blocked.isEmpty && after.campaigns.indices.contains(where: isHurried)
        guard blocks.count < changed.count || isHurried else { return blocks }
        let floor = after.subject ?? (bump.required == nil ? nil : new.takenUp.required?.id)
        return [change(.bumped(bump, Change.Move(from: old, to: new)), of: floor)] + blocks
    }

    // MARK: Campaigns

    private func campaign(before place: Int) -> CampaignFacts? {
        before.campaigns.indices.contains(place) ? before.campaigns[place] : nil
    }

    /// Whether the event lets a campaign be sent at any hour.
    private func isHurried(_ place: Int) -> Bool {
        after.campaigns[place].urgentAt != nil && campaign(before: place)?.urgentAt == nil
    }

    /// The change by an order to a campaign; nil: there is none, or `moves` has it.
    private func order(_ order: CampaignChange, to key: CampaignKey) -> Change? {
        guard let place = after.campaigns.firstIndex(where: { $0.key == key }), let old = campaign(before: place)
        else { return nil }
        let new = after.campaigns[place]
        let move = Change.Move(from: old, to: new)
        let kind: Change.Kind
        switch order {
        case .stageBegan:
            func reach(_ all: Requirements) -> Int? { all[new.requirement]?.reach }
            return change(.stageBegan(Change.Move(from: reach(self.old), to: reach(self.new))), of: new.requirement)
        case .paused: kind = .paused(move)
        case .resumed: kind = .resumed(move)
        case .cancelled: kind = .cancelled(move)
        case .hurried: kind = .hurried(move, isByBump: false)
        case .suspended, .repaired, .drained, .expired, .reopened: return nil
        }
        return old == new ? nil : change(kind, of: new.requirement)
    }

    /// - Parameter event: if it is a person's order to a campaign, this campaign has the change of that order, and none
    ///   here.
    private func moves(but event: RequirementEvent) -> [Change] {
        var ordered: CampaignKey?
        if case .campaign(let key, let order) = event {
            switch order {
            // The store adds the change of a campaign that is opened again: only it knows for which devices.
            case .paused, .resumed, .cancelled, .hurried, .reopened: ordered = key
            case .suspended, .repaired, .stageBegan, .drained, .expired: break
            }
        }
        let relay = Signature(by: .relay, at: actor.at)
        return after.campaigns.indices.flatMap { place -> [Change] in
            let new = after.campaigns[place]
            guard new.key != ordered else { return [] }
            guard let old = campaign(before: place) else {
                let isInForce = requirement(of: new)?.isForEverybody ?? false
                return [change(.created(new, isInForce: isInForce), of: new.requirement, by: relay)]
            }
            let move = Change.Move(from: old, to: new)
            return (old.state == new.state ? [] : [change(.moved(move), of: new.requirement, by: relay)])
                + (isHurried(place) ? [change(.hurried(move, isByBump: true), of: new.requirement)] : [])
        }
    }

    private func requirement(of campaign: CampaignFacts) -> Requirement? { new[campaign.requirement] }
}
