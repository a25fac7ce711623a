// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The acts of people on campaigns.
extension World {
    /// The newest campaigns. A campaign that was not written to since the last look is not read again.
    func campaigns(limit: Int = 60) -> [CampaignRecord] {
        guard let relay else { return [] }
        if let listed, listed.change == change, listed.limit >= limit { return Array(listed.campaigns.prefix(limit)) }
        let changed = storage.changes()
        undisturbed {
            do {
                var list = listed ?? CampaignList(limit: 0)
                let isKnown =
                    try changed.map { changed in
                        try limit <= list.limit
                            && changed.allSatisfy { row in
                                let key = CampaignKey(row: row)
                                return list.take(try relay.store.campaign(key), key)
                            }
                    } ?? false
                if !isKnown {
                    list = CampaignList(limit: limit, campaigns: try relay.store.campaigns(before: nil, limit: limit))
                }
                list.change = change
                listed = list
            } catch {
                listed = nil
            }
        }
        return Array((listed?.campaigns ?? []).prefix(limit))
    }

    func withCampaign(_ number: Int, isOver: Bool, _ body: (CampaignRecord) throws -> String?) throws -> String? {
        let candidates = campaigns().filter { $0.state.isFinal == isOver }
        guard !candidates.isEmpty else { return nil }
        return try body(candidates[number % candidates.count])
    }

    /// Applies a person's act to the model's facts of a campaign. The act is also a reason to wait anew.
    private func change(_ campaign: CampaignRecord, _ body: (inout CampaignFacts) -> Void) {
        quietSince = tick
        ledger.stirred.insert(campaign.id)
        observeCampaigns(isSure: true)
        if let block = model.block(of: campaign.id) {
            var facts = CampaignFacts(announcement: -1)
            facts.urgentAt = model.blocks[block].urgentAt
            body(&facts)
            model.blocks[block].urgentAt = facts.urgentAt
        }
        guard var facts = model.campaigns[campaign.id] else { return }
        body(&facts)
        model.campaigns[campaign.id] = facts
    }

    func pause(_ campaign: CampaignRecord) throws -> String? {
        _ = try acting(.campaignPause, changes: { _ in campaign.state != .paused }) {
            try relay?.control.pause(campaign: campaign.id, by: $0)
        }
        did(campaign: campaign.id)
        change(campaign) { ($0.pausedAt, $0.urgentAt) = (milliseconds, nil) }
        return "campaign \(campaign.id) is paused"
    }

    /// Resumes a campaign. If it is held between two waves, this is the approval.
    ///
    /// - Parameter isUrgent: whether it is sent whatever the hour. Default no.
    func resume(_ campaign: CampaignRecord, isUrgent: Bool = false) throws -> String? {
        change(campaign) { $0.isWanted = true }
        do {
            _ = try acting(
                .campaignResume, .campaignHurry, changes: { _ in [.paused, .suspended].contains(campaign.state) }
            ) {
                try relay?.control.resume(campaign: campaign.id, isUrgent: isUrgent, by: $0)
            }
        } catch {
            change(campaign) { $0.isWanted = false }
            throw error
        }
        did(campaign: campaign.id)
        // A campaign that had not halted yet, or that waits for answers, goes on as it was.
        if let told = told[campaign.id], ["paused", "suspended"].contains(told.campaign.state), told.since < tick,
            turnDepth == 0, !isDiskFailing, relay?.lane.inFlight(of: campaign.id).isEmpty ?? true
        {
            owe(campaign)
        }
        let app = app(of: campaign)
        judgeMadness()
        for index in pushes.madness.indices where pushes.madness[index].place.app == app {
            pushes.madness[index].isAccepted = true
        }
        if campaign.facts.reason?.lowercased().hasPrefix("unregistered: ") ?? false {
            pushes.acceptedCampaigns.insert(campaign.id)
        }
        // Resuming ends the app's pauses: a few pushes find out whether the service still wants them.
        pushes.pauses = pushes.pauses.filter { $0.key.app != app }
        let isBetween = campaign.figures.waves.areBetween
        change(campaign) { facts in
            facts.pausedAt = nil
            if isBetween { facts.approvals += 1 }
            if isUrgent { facts.urgentAt = facts.urgentAt ?? milliseconds }
        }
        return "campaign \(campaign.id) is resumed\(isUrgent ? ", whatever the hour" : "")"
    }

    /// Whether a version waits to come into force, as a person is shown it.
    func isWaiting(_ app: AppKey, _ version: Version) -> Bool {
        ((try? relay?.store.version(of: app))??.requirements.live(version)).map { $0.state != .inForce } ?? false
    }

    func release(_ campaign: CampaignRecord) throws -> String? {
        let isWaiting = isWaiting(campaign.app, campaign.requirement.version)
        let before = try relay?.store.version(of: campaign.app)?.requirements
        change(campaign) { $0.isWanted = true }
        do {
            _ = try acting(.campaignRelease) {
                try relay?.control.release(campaign: campaign.id, isUrgent: false, by: $0)
            }
        } catch {
            change(campaign) { $0.isWanted = false }
            throw error
        }
        if let app = app(of: campaign) { judgeSecond(app, release: campaign.requirement, before) }
        did(campaign: campaign.id)
        if campaign.requirement.kind == .blocked {
            model.offersWayOut(app(of: campaign) ?? -1) { $0 == Self.number(of: campaign.requirement.version.text) }
        }
        if campaign.state == .running, campaign.figures.waves.areBetween {
            watched.releasedWaves[campaign.id] = (tick, campaign.figures.waves.list.count { $0.begunAt != nil })
            change(campaign) { $0.approvals += 1 }
        } else if campaign.requirement.kind != .blocked, let app = app(of: campaign) {
            model.release(app, Self.number(of: campaign.requirement.version.text), isWaiting: isWaiting)
        }
        return "campaign \(campaign.id) is released"
    }

    func cancel(_ campaign: CampaignRecord) throws -> String? {
        ledger.stirred.insert(campaign.id)
        // A version that was in force for every user stays so; any other is taken back. It may have come into force in the turn that this
        // falls into.
        observeCampaigns(isSure: true)
        if let block = model.block(of: campaign.id) {
            _ = try acting(.campaignCancel) { try cancel(campaign, by: $0) }
            model.blocks[block].isCancelled = true
            did(campaign: campaign.id)
            return "campaign \(campaign.id) of a block is cancelled"
        }
        let place =
            model.campaigns[campaign.id]?.announcement
            ?? app(of: campaign).flatMap { model.newest($0, Self.number(of: campaign.requirement.version.text)) }
        let before = model.announcements
        // A version that its store offered while a newer one had taken its place still waits: it was never let through.
        let isWaiting = isWaiting(campaign.app, campaign.requirement.version)
        // A canary with a moment is taken back whether that was reached or not, which two clocks leave open.
        let isCanary = place.map { before[$0].requiredFrom != nil && !before[$0].isForAll } ?? false
        if let place, isWaiting || isCanary || !before[place].isUnclear && model.inForceAt(before[place]) == nil {
            model.takeBack(place)
        } else if let place, before[place].isUnclear {
            // It may have been in force for every user, and stays so; or it is taken back.
            model.forgetTold(before[place].app, before[place].version)
            model.announcements[place].mayBeTakenBack = true
        }
        do {
            _ = try acting(.campaignCancel) { try cancel(campaign, by: $0) }
        } catch {
            for index in before.indices {
                model.announcements[index].withdrawnAt = before[index].withdrawnAt
                model.announcements[index].mayBeTakenBack = before[index].mayBeTakenBack
            }
            throw error
        }
        did(campaign: campaign.id)
        if let app = app(of: campaign) { model.decided(app) }
        change(campaign) { $0.cancelledAt = milliseconds }
        return "campaign \(campaign.id) is cancelled"
    }

    func retry(_ campaign: CampaignRecord) throws -> String? {
        _ = try acting(.campaignRetry) {
            try relay?.control.retry(
                campaign: campaign.id, states: Set(CampaignRound.retried), isUrgent: false, by: $0)
        }
        did(campaign: campaign.id)
        change(campaign) { ($0.cancelledAt, $0.pausedAt, $0.urgentAt) = (nil, nil, nil) }
        // Sending it again skips the waits that the service asked for.
        pushes.forgetRetries(of: campaign.id, inFlight: relay?.lane.inFlight(of: campaign.id) ?? [])
        if let app = app(of: campaign) { sentAgainAt[app] = tick }
        return "campaign \(campaign.id) is retried"
    }

    /// The relay logs that a campaign is complete. A reminder may follow in the same turn, so that the campaign is never seen as completed:
    /// the tokens that its service had called dead were judged all the same.
    func ended(_ id: String) {
        undisturbed {
            guard let app = told[id]?.campaign.app, let open = try? relay?.store.openCampaigns() else { return }
            let isAlone = !open.contains { $0.id != id && $0.state == .running && self.app(of: $0) == app }
            if isAlone { pushes.ended(campaignOf: app) }
        }
    }

    /// Waves that were over without a push, as the relay logged it then or still shows it.
    func emptyWaves(of campaign: CampaignRecord) -> Int {
        let shown = campaign.figures.waves.list.count { $0.endedAt != nil && $0.pushes == 0 }
        return max(emptyWaves[campaign.id] ?? 0, shown)
    }

    func app(of campaign: CampaignRecord) -> Int? { settings.apps.first { settings.key($0) == campaign.app } }
}
