// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The effect of an event on the campaigns of an app.
extension RequirementMachine {
    mutating func makeMissingCampaign(_ surroundings: Surroundings) throws(RequirementRefusal) {
        let blocks = requirements.takenUp.rows.filter { $0.kind == .blocked }
        for row in [requirements.takenUp.required].compactMap(\.self) + blocks {
            try makeCampaign(of: row, surroundings)
        }
    }

    mutating func makeCampaign(
        of row: Requirement, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        guard let draft = surroundings.draft, row.kind != .latest, row.isLive,
            !campaigns.contains(where: { $0.requirement == row.id })
        else { return }
        guard let url = row.downloadURL ?? draft.downloadURL, !url.isEmpty else { throw .noDownloadURL(row.version) }
        campaigns.append(
            CampaignFacts(
                key: CampaignKey(row: nextID), requirement: row.id, state: .waiting, createdAt: surroundings.now,
                expiresAt: surroundings.now + draft.timeToLive, timeToLive: draft.timeToLive, downloadURL: url))
        nextID -= 1
    }

    /// Lets the campaign of a requirement be sent at any hour, where it has one that is not over.
    mutating func hurryCampaign(of requirement: Int64, by actor: Signature, at now: Timestamp) {
        guard let index = campaigns.firstIndex(where: { $0.requirement == requirement }),
            !campaigns[index].state.isFinal
        else { return }
        hurry(index, by: actor, at: now)
    }

    /// Keeps the name of the first actor who ordered it.
    private mutating func hurry(_ index: Int, by actor: Signature, at now: Timestamp) {
        guard campaigns[index].urgentAt == nil else { return }
        (campaigns[index].urgentAt, campaigns[index].urgentBy) = (now, actor.by)
    }

    mutating func repair(_ index: Int, _ causes: Set<SuspensionCause>) {
        guard let cause = campaigns[index].cause, causes.contains(cause) else { return }
        (campaigns[index].cause, campaigns[index].causeText) = (nil, nil)
    }

    mutating func reduce(
        _ key: CampaignKey, _ event: CampaignChange, by actor: Signature, _ surroundings: Surroundings
    ) throws(RequirementRefusal) {
        guard let index = campaigns.firstIndex(where: { $0.key == key }),
            let row = requirements[campaigns[index].requirement]
        else { return }
        let state = campaigns[index].state
        func allowed(_ states: CampaignState...) throws(RequirementRefusal) {
            guard states.contains(state) else { throw .wrongState(state) }
        }
        switch event {
        case .paused:
            try allowed(.running, .waiting)
            (campaigns[index].pausedAt, campaigns[index].pausedBy) = (surroundings.now, actor.by)
            // A campaign that is stopped is not urgent any more.
            (campaigns[index].urgentAt, campaigns[index].urgentBy) = (nil, nil)
        case .resumed:
            try allowed(.paused, .suspended)
            if campaigns[index].cause == .deadTokens { campaigns[index].acceptsDeadTokens = true }
            (campaigns[index].pausedAt, campaigns[index].pausedBy) = (nil, nil)
            (campaigns[index].cause, campaigns[index].causeText) = (nil, nil)
        case .cancelled:
            try allowed(.waiting, .running, .paused, .suspended)
            if row.isForEverybody {
                campaigns[index].end = .cancelled
            } else {
                // No user will be notified of it, and so none is forced by it either.
                change(row.id, by: actor) {
                    ($0.state, $0.reason) = (.withdrawn, "its campaign was cancelled by \(actor.by)")
                }
                settle(surroundings)
            }
        case .hurried:
            try allowed(.waiting, .running, .paused, .suspended)
            hurry(index, by: actor, at: surroundings.now)
        case .suspended(let cause, let text):
            try allowed(.running)
            (campaigns[index].cause, campaigns[index].causeText) = (cause, text)
        case .repaired(let causes):
            repair(index, causes)
        case .stageBegan(let reach):
            guard row.state == .inForce, reach > row.reach else { return }
            change(row.id, by: actor) { $0.reach = reach }
            restartTime(index, surroundings)
        case .drained:
            try allowed(.running)
            campaigns[index].end = .completed
            // All users have been reached, so the requirement is for everybody.
            if row.state == .inForce, row.reach > 0 { change(row.id, by: actor) { $0.reach = Requirement.everybody } }
        case .expired:
            guard !state.isFinal else { throw .wrongState(state) }
            campaigns[index].end = .completed
        case .reopened(let timeToLive):
            campaigns[index].end = nil
            // The emergency is over, and a later reminder is not urgent.
            (campaigns[index].urgentAt, campaigns[index].urgentBy) = (nil, nil)
            if state == .running {
                campaigns[index].expiresAt = max(campaigns[index].expiresAt, surroundings.now + timeToLive)
            } else {
                campaigns[index].timeLeft = max(campaigns[index].timeLeft ?? .zero, timeToLive)
            }
        }
    }
}
