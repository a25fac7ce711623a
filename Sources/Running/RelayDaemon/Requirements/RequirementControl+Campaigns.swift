// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
package import RelayAPI
import RelayEngine
import RelayStore
package import Requirements
import Telemetry
import UpgradeRules
import VersionSources

/// The status of campaigns, and an operator's acts on them.
extension RequirementControl {
    package func status(_ record: CampaignRecord) throws -> CampaignStatus {
        let figures = try figures(of: record)
        let now = clock()
        var record = record
        // Read after the figures: outcomes that are recorded in between would otherwise be neither in flight nor in the
        // ledger, and the last status of a campaign would never be corrected.
        if record.state.isFinal, let newer = try store.campaign(record.key) { record = newer }
        let isRunning = record.state == .running
        let counts = figures.counts(record.figures.counts, record.state)
        let route = isRunning ? routes()[record.app] : nil
        let held = record.state == .waiting ? try wait(of: record) : nil
        let hours = record.isUrgent ? nil : route?.hours
        func awake(_ time: Timestamp) -> Timestamp { hours?.soonest(from: max(time, now)) ?? time }
        let asleep = hours?.wait(of: record.id, expiresAt: record.facts.expiresAt, at: now)
        let nextWaveAt = route.flatMap { record.figures.waves.nextAt($0.waveRules) }.map(awake)
        let reason = CampaignReason(
            record: record, counts: counts, trouble: figures.trouble, isHeld: figures.standsStill,
            nextRetryAt: figures.nextRetryAt.map(awake), hasRoute: route != nil, held: held, nextWaveAt: nextWaveAt,
            hours: asleep, past: past)
        record.facts.reason = reason.text
        var status = CampaignStatus(
            record: record, counts: counts, ratePerSecond: isRunning ? figures.rate(at: now) : 0,
            secondsLeft: isRunning && !reason.standsStill
                ? Self.secondsLeft(
                    figures.secondsLeft(counts, waves: record.figures.waves, rules: route?.waveRules, at: now), hours,
                    asleep,
                    at: now) : nil,
            waitingUntil: held?.end ?? asleep?.until)
        status.wait = reason.wait
        status.rateLimit = isRunning ? figures.rateLimit : nil
        status.nextWaveAt = nextWaveAt
        status.nextReminderAt = nextReminder(of: record, at: now)
        status.waveRules = record.state.isFinal ? nil : routes()[record.app]?.waveRules
        return status
    }

    /// The reason why nothing at all is sent or decided: the store went back in time. nil: it did not.
    var past: String? { store.membership.memory.fall.map { "\($0.error)" } }

    /// The figures of the relay that sends the campaign.
    private func figures(of record: CampaignRecord) throws -> RunFigures {
        let own = progress.figures(of: record.key)
        guard !store.membership.isAlone, own == RunFigures() else { return own }
        let published = try store.publishedFigures(of: record.key)
        return published.flatMap { RunFigures(published: $0, of: record.key) } ?? own
    }

    /// The seconds left, including the time outside the sending hours. Where the sending time is unknown, this is the time to
    /// the next opening, as a lower bound.
    private static func secondsLeft(
        _ sending: Int64?, _ hours: SendingHours?, _ asleep: HoursWait?, at now: Timestamp
    ) -> Int64? {
        guard let hours else { return sending }
        let left = sending.map { hours.time(toSpend: .seconds($0), from: now) } ?? asleep.map { $0.until - now }
        return left.map { ($0.milliseconds + 999) / 1000 }
    }

    /// The reason that keeps a waiting campaign's requirement from coming into force.
    private func wait(of record: CampaignRecord) throws -> RequirementWait? {
        guard let all = try store.version(of: record.app)?.requirements, let row = all[record.requirement.id] else {
            return nil
        }
        return wait(for: row, among: all, of: record.app)
    }

    package func pause(campaign id: String, by actor: Principal) throws -> CampaignStatus {
        try move(id, .paused, to: .paused, from: [.running, .waiting], verb: "paused", by: Acting(actor))
    }

    package func resume(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        let status = try move(
            id, .resumed, to: .running, from: [.paused, .suspended], verb: "resumed", isUrgent: isUrgent,
            by: Acting(actor))
        // An operator who resumes a campaign also ends the waits of its push services.
        ask(.probe(status.record.app))
        return status
    }

    package func cancel(campaign id: String, by actor: Principal) throws -> CampaignStatus {
        try cancel(campaign: id, by: Acting(actor))
    }

    func cancel(campaign id: String, by acting: Acting) throws -> CampaignStatus {
        let campaign = try campaign(id)
        guard let app = apps()[campaign.app] else {
            return try move(id, .cancelled, to: .cancelled, from: Self.cancellable, verb: "cancelled", by: acting)
        }
        return try judged(app, acting) {
            try measure(cancelling: campaign, acting, app.approval)
        } act: {
            try move(
                id, .cancelled, to: .cancelled, from: Self.cancellable, verb: "cancelled", by: acting, approval: $0)
        }
    }

    private static let cancellable: Set<CampaignState> = [.waiting, .running, .paused, .suspended]

    package func approve(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        try campaign(id).isHeldBeforeWave
            ? resume(campaign: id, isUrgent: isUrgent, by: actor) : release(campaign: id, isUrgent: isUrgent, by: actor)
    }

    package func release(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        let campaign = try campaign(id)
        // In a running campaign, the next wave may wait for a release.
        let signature = Signature(by: actor, via: "campaign", at: clock())
        if try store.releaseWave(campaign.key, isUrgent: isUrgent, by: signature) {
            log(.notice, "the next wave was released by hand", [("campaign", id)] + Self.fields(isUrgent, actor))
            progress.poke()
            return try status(store.campaign(campaign.key) ?? campaign)
        }
        guard !campaign.state.isFinal,
            try release(campaign.requirement.target, of: campaign.app, isUrgent: isUrgent, by: Acting(actor)) != nil
        else { throw wrongState(campaign.state, "released", from: [.waiting]) }
        return try status(self.campaign(id))
    }

    /// Log fields: the actor, and whether the campaign ignores the app's hours from now on.
    static func fields(_ isUrgent: Bool, _ actor: Principal) -> [(String, String)] {
        (isUrgent ? [("now", "true")] : []) + [("by", actor.name)]
    }

    package func release(app: AppKey, isUrgent: Bool, by actor: Principal) throws -> VersionRecord {
        _ = try configured(app)
        guard try release(nil, of: app, isUrgent: isUrgent, by: Acting(actor)) != nil,
            let record = try store.version(of: app)
        else {
            throw ControlError(
                .wrongState, context: "nothing of \(app.app) (\(app.platform.rawValue)) waits to come into force",
                hint: "\"upgrade-relay version show\" shows what is required and what is in force")
        }
        return record
    }

    /// Puts a waiting requirement in force, regardless of its store; extends a requirement that is in force for named users
    /// alone to all users.
    ///
    /// - Returns: nil where nothing waits.
    /// - Throws: `ApprovalAsked` where it waits for a second person.
    func release(
        _ target: UpgradeTarget?, of app: AppKey, isUrgent: Bool, by acting: Acting
    ) throws -> Requirement? {
        let now = clock()
        var surroundings = surroundings(of: app, try sources.known(of: app), at: now)
        surroundings.isUrgent = isUrgent
        let (version, kind) = (target?.version, target.map { $0.isBlock ? Requirement.Kind.blocked : .required })
        let decision: Decision
        do {
            let configuration = try configured(app)
            decision = try judged(configuration, acting) {
                try measure(
                    releasing: version, kind, of: app, isUrgent: isUrgent, acting, configuration.approval)
            } act: { approval in
                surroundings.approval = approval
                return try store.decide(
                    app, .released(version, kind), by: acting.signature(via: "release", at: now), in: surroundings)
            }
        } catch RequirementRefusal.isBlocked(let version) {
            let name = "\(app.app) \(app.platform.rawValue)"
            throw ControlError(
                .wrongState, context: "\(version) of \(name) is blocked, and cannot be released",
                hint: "\"upgrade-relay version unblock \(name) \(version)\", or withdraw what is required")
        } catch RequirementRefusal.deadEnd(let version) {
            throw StoreError(.deadEnd(version), of: app)
        } catch is RequirementRefusal {
            return nil
        }
        progress.poke()
        sources.poke()
        if let waiting = decision.waiting { throw ApprovalAsked(waiting) }
        return decision.subject
    }

    func campaign(_ id: String) throws -> CampaignRecord {
        guard let campaign = try store.campaign(id: id) else {
            throw ControlError(.noSuchCampaign, context: "there is no campaign \(id)")
        }
        return campaign
    }

    private func wrongState(_ state: CampaignState, _ verb: String, from: Set<CampaignState>) -> ControlError {
        ControlError(
            .wrongState, context: "the campaign is \(state.rawValue) and cannot be \(verb)",
            hint: "only a campaign that is " + from.map(\.rawValue).sorted().joined(separator: " or ") + " can")
    }

    private func move(
        _ id: String, _ event: CampaignChange, to state: CampaignState, from: Set<CampaignState>, verb: String,
        isUrgent: Bool = false, by acting: Acting, approval: ApprovalCheck? = nil
    ) throws -> CampaignStatus {
        let campaign = try campaign(id)
        let now = clock()
        var surroundings = surroundings(of: campaign.app, at: now)
        surroundings.isUrgent = isUrgent
        surroundings.approval = approval
        func decide(_ event: CampaignChange) throws -> Bool {
            let decision = try store.decide(
                campaign.app, .campaign(campaign.key, event), by: acting.signature(via: "campaign", at: now),
                in: surroundings)
            if let waiting = decision.waiting { throw ApprovalAsked(waiting) }
            return decision.hasChanged
        }
        var moved = false
        do {
            moved = try decide(event)
        } catch is RequirementRefusal {
            // A campaign that runs already can still be made urgent.
            if isUrgent, campaign.state == state { moved = try decide(.hurried) }
        }
        let after = try self.campaign(id)
        guard moved || after.state == state else { throw wrongState(after.state, verb, from: from) }
        if moved {
            log(
                .notice, "a campaign was moved by hand",
                [
                    ("campaign", id), ("app", campaign.app.app), ("from", campaign.state.rawValue),
                    ("to", after.state.rawValue),
                ] + Self.fields(isUrgent, acting.actor) + (after.state.isFinal ? after.endFields.dropFirst(2) : []))
        }
        progress.poke()
        sources.poke()
        return try status(after)
    }
}
