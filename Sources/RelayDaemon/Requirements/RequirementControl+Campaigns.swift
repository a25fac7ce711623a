// SPDX-License-Identifier: Apache-2.0
import FanOut
package import RelayAPI
import RelayEngine
package import RelayStore
import Telemetry
import UpgradeRules
import VersionSources
import WireFormat

/// Campaigns: how they stand, and what an operator does with them.
extension RequirementControl {
    package func status(_ record: CampaignRecord) -> CampaignStatus {
        let figures = progress.figures(of: record.key)
        let now = clock()
        var record = record
        // Read after the figures: outcomes that were recorded in between would be neither on their way nor in the ledger,
        // and nothing later corrects the last that is reported of a campaign.
        if record.state.isFinal, let newer = try? store.campaign(record.key) { record = newer }
        let counts = figures.counts(record.counts)
        if record.state == .running, record.reason == nil { record.reason = figures.trouble }
        let route = record.state == .running ? routes()[record.app] : nil
        let nextWaveAt = route.flatMap { record.waves.nextAt($0.waveRules) }
        if record.state == .running, record.reason == nil, let wave = record.waves.current, let nextWaveAt {
            record.reason =
                "wave \(wave.number + 1) of \(record.waves.list.count) is done; "
                + "the next begins at \(nextWaveAt.internetTime)"
        }
        if record.state == .running, record.reason == nil, record.isCanary {
            record.reason = Self.canaryText(record)
        }
        var waitingUntil: Timestamp?
        if record.state == .waiting {
            let verdict = sources.verdict(record.required, build: record.requiredBuild, of: record.app)
            record.reason = verdict?.reason ?? Self.lostStore
            waitingUntil = verdict?.opensAt
        }
        if record.state == .running, route == nil {
            record.reason =
                "noRoute: \(record.app.app) has no push service in the configuration; \(Self.pushHint(record.app))"
        }
        var status = CampaignStatus(
            record: record, counts: counts, ratePerSecond: record.state == .running ? figures.rate(at: now) : 0,
            secondsLeft: record.state == .running
                ? figures.secondsLeft(counts, waves: record.waves, rules: route?.waveRules, at: now) : nil,
            waitingUntil: waitingUntil)
        status.rateLimit = record.state == .running ? figures.rateLimit : nil
        status.nextWaveAt = nextWaveAt
        status.nextReminderAt = nextReminder(of: record, at: now)
        return status
    }

    private static let lostStore =
        "the store that it waited for is not in the configuration any more; put the source back, "
        + "or put the version in force by \"campaigns release\""

    private static func canaryText(_ record: CampaignRecord) -> String {
        let count = record.telephones?.count ?? 0
        let canary = "the canary of \(count) phone number\(count == 1 ? "" : "s")"
        guard record.canary?.endedAt != nil else { return "\(canary) is being sent to, and nobody else" }
        let found = record.counts.audience - record.counts.pending
        return "\(canary) is done" + (found == 0 ? ", and none of them is registered" : "")
            + "; \"campaigns release \(record.id)\" sends to everybody"
    }

    package func pause(campaign id: String, by actor: String) throws -> CampaignStatus {
        try move(id, from: [.running, .waiting], to: .paused, verb: "paused", by: actor)
    }

    package func resume(campaign id: String, by actor: String) throws -> CampaignStatus {
        // What is not in force still has to wait for its store.
        let campaign = try campaign(id)
        let record = try store.version(of: campaign.app)
        let isInForce = record?.inForce.holds(campaign.required, onlyFor: campaign.telephones) ?? false
        return try move(
            id, from: [.paused, .suspended], to: isInForce ? .running : .waiting, verb: "resumed", by: actor)
    }

    package func release(campaign id: String, by actor: String) throws -> CampaignStatus {
        let campaign = try campaign(id)
        // Of a running campaign it is the next wave that waits.
        if try store.releaseWave(campaign.key, at: clock()) {
            log(.notice, "the next wave was released by hand", [("campaign", id), ("by", actor)])
            progress.poke()
            return status(try store.campaign(campaign.key) ?? campaign)
        }
        guard campaign.state == .waiting || campaign.state == .suspended || campaign.state == .running,
            try putInForce(campaign.required, of: campaign.app, by: actor)
                || releaseCanary(campaign.required, of: campaign.app, by: actor) != nil
        else { throw wrongState(campaign.state, "released", from: [.waiting]) }
        return status(try self.campaign(id))
    }

    package func release(app: AppKey, by actor: String) throws -> VersionRecord {
        _ = try configured(app)
        let waiting = try store.waitingVersions(of: app).required.first?.required
        let isReleased =
            if let waiting {
                try putInForce(waiting, of: app, by: actor)
            } else {
                try releaseCanary(nil, of: app, by: actor) != nil
            }
        guard isReleased, let record = try store.version(of: app) else {
            throw ControlError(
                .wrongState, context: "nothing of \(app.app) (\(app.platform.rawValue)) waits to come into force",
                hint: "\"upgrade-relay version show\" tells what is required and what is in force")
        }
        return record
    }

    /// What is in force for named users alone is so for everybody.
    private func releaseCanary(_ required: Version?, of app: AppKey, by actor: String) throws -> Version? {
        let released = try store.releaseCanary(
            required, of: app, by: actor, from: "release", reason: "released by hand", at: clock())
        guard let released else { return nil }
        log(
            .notice, "a canary was released by hand: its requirement is in force for everybody",
            [
                ("app", app.app), ("platform", app.platform.rawValue), ("required", released.text), ("by", actor),
            ])
        versionCache.refresh()
        progress.poke()
        sources.poke()
        return released
    }

    private func putInForce(_ required: Version, of app: AppKey, by actor: String) throws -> Bool {
        let isNews = try store.putInForce(
            required, of: app, by: actor, from: "release", reason: "released by hand", at: clock())
        guard isNews else { return false }
        log(
            .notice, "a requirement was put in force by hand",
            [
                ("app", app.app), ("platform", app.platform.rawValue), ("required", required.text), ("by", actor),
            ])
        versionCache.refresh()
        progress.poke()
        sources.poke()
        return true
    }

    package func cancel(campaign id: String, by actor: String) throws -> CampaignStatus {
        try move(id, from: [.waiting, .running, .paused, .suspended], to: .cancelled, verb: "cancelled", by: actor)
    }

    private func campaign(_ id: String) throws -> CampaignRecord {
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
        _ id: String, from: Set<CampaignState>, to state: CampaignState, verb: String, by actor: String
    ) throws -> CampaignStatus {
        let campaign = try campaign(id)
        let moved = try store.moveCampaign(campaign.key, from: from, to: state, reason: nil, at: clock())
        let after = try self.campaign(id)
        guard moved || after.state == state else { throw wrongState(after.state, verb, from: from) }
        if moved {
            // Nothing is in force any more for the canary of a campaign that is over.
            if campaign.isCanary { versionCache.refresh() }
            log(
                .notice, "a campaign was moved by hand",
                [
                    ("campaign", id), ("app", campaign.app.app), ("from", campaign.state.rawValue),
                    ("to", state.rawValue), ("by", actor),
                ] + (state.isFinal ? after.endFields.dropFirst(2) : []))
        }
        progress.poke()
        sources.poke()
        return status(after)
    }
}
