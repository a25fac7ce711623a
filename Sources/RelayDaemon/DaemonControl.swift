// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import Notifications
import RelayAPI
import RelayEngine
import RelayStore
import Synchronization
import Telemetry
import UpgradeRules
import VersionSources
import WireFormat

/// What the API asks of the running daemon: the store's answers with what configuration and fan-out add.
///
/// Used from the HTTP server's threads.
final class DaemonControl: RelayControl {
    let store: any RelayStore
    let active: ActiveConfiguration.Shared
    let fanOut: FanOut
    let sources: SourceRunner
    let notifier: Notifier
    private let versionCache: VersionCache
    let signings: SigningCount
    let log: Log
    let clock: @Sendable () -> Timestamp
    let census = CensusTaker()
    /// What a force policy derives hangs on what is stored: nothing may come between the two.
    private let oneByOne = Mutex(())

    init(
        store: any RelayStore, active: ActiveConfiguration.Shared, fanOut: FanOut, sources: SourceRunner,
        notifier: Notifier,
        versionCache: VersionCache, signings: SigningCount, log: Log,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.active = active
        self.fanOut = fanOut
        self.sources = sources
        self.notifier = notifier
        self.versionCache = versionCache
        self.signings = signings
        self.log = log
        self.clock = clock
    }

    func profile(of app: AppKey) -> AppProfile? {
        active.current.apps[app].map { AppProfile(downloadURL: $0.downloadURL, alert: $0.push.alert) }
    }

    func apps() -> [AppKey] {
        active.current.apps.keys.sorted { ($0.app, $0.platform.rawValue) < ($1.app, $1.platform.rawValue) }
    }

    func releaseRules(of app: AppKey) -> ReleaseRules {
        active.current.apps[app]?.webhooks ?? ReleaseRules()
    }

    func versionLookup(of app: AppKey) -> (any VersionLookup)? {
        sources.hasLookup(app) ? sources : nil
    }

    // MARK: Versions

    func bump(
        _ bump: VersionBump, actor: String, source: String, receipt: WebhookReceipt?,
        render: (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        let app = try configured(bump.app)
        let applied = try oneByOne.withLock { _ in
            let bump = try derived(bump, app)
            if bump.required != nil, let route = active.current.routes[bump.app] { _ = try payload(bump, app, route) }
            return try store.apply(
                bump, actor: actor, source: source, at: clock(), draft: active.current.routes[bump.app]?.draft,
                waitingReason: app.waitingReason, receipt: receipt, render: render)
        }
        fanOut.poke()
        if case .applied(let outcome, _) = applied { warn(outcome.record) }
        sources.poke()
        // What came from a store was asked just now.
        if StoreKind(rawValue: source) == nil { sources.askNow(bump.app) }
        return applied
    }

    /// What a source found out: as any other bump, but for a URL that the configuration knows better.
    func take(_ bump: VersionBump, from source: String) throws {
        var bump = bump
        if active.current.apps[bump.app]?.downloadURL != nil { bump.downloadURL = nil }
        _ = try self.bump(bump, actor: source, source: source, receipt: nil) { _ in
            StoredAnswer(status: 200, body: [])
        }
    }

    /// The bump with the requirement that the app's force policy derives, where it brings none of its own (SEEDS S4).
    private func derived(_ bump: VersionBump, _ app: AppConfiguration) throws -> VersionBump {
        guard bump.required == nil, let latest = bump.latest, app.forcePolicy != .manual else { return bump }
        let stored = try store.version(of: bump.app)
        var bump = bump
        bump.required = app.forcePolicy.required(
            latest: latest, previousLatest: stored?.latest, previousRequired: stored?.required)
        return bump
    }

    /// Says in the log what clients that compare for themselves will make of the new record.
    private func warn(_ record: VersionRecord) {
        guard let seen = try? store.seenVersions(of: record.app) else { return }
        for warning in versionCache.advice(for: record, seen: seen).warnings {
            log(
                .warning, "apps that compare versions for themselves will judge otherwise",
                [("app", record.app.app), ("platform", record.app.platform.rawValue), ("warning", warning)])
        }
    }

    func wait(of record: VersionRecord) -> GateVerdict? {
        let inForce = record.inForce
        if let required = record.required, !inForce.holds(required, onlyFor: record.telephones) {
            return sources.verdict(required, build: record.builds.required, of: record.app)
        }
        guard let latest = record.latest, !record.isLatestOfCanary, inForce.latest.map({ $0 < latest }) ?? true else {
            return nil
        }
        return sources.verdict(latest, build: record.builds.latest, of: record.app, isReminder: true)
    }

    func plan(_ bump: VersionBump) throws -> PlanReport {
        let app = try configured(bump.app)
        let bump = try derived(bump, app)
        let stored = try store.version(of: bump.app)?.required
        guard let required = bump.required ?? stored else {
            throw ControlError(
                .noRequirement, context: "no required version is given, none is stored and no force policy derives one",
                hint: "send `required`")
        }
        // The dry run says what the bump itself would say.
        if let stored, required < stored {
            throw StoreError(
                .versionWouldFall(field: "required", current: stored, proposed: required),
                context: "required is \(stored) and would fall to \(required)")
        }
        guard let route = active.current.routes[bump.app] else {
            throw ControlError(
                .unknownApp, context: "\(bump.app.app) has no push service on \(bump.app.platform.rawValue)",
                hint: "add `apns` to the app's configuration")
        }
        let payload = try payload(bump, app, route)
        let filter = AudienceFilter(required: required, telephones: nil)
        let canary = bump.telephones.map { AudienceFilter(required: required, telephones: $0) }
        var inCanary: Int64 = 0
        let survey = try store.survey(bump.app) { row, devices in
            if let canary, canary.reason(against: row, in: devices) == nil { inCanary += 1 }
            return filter.reason(against: row, in: devices)
        }
        var report = PlanReport(
            survey: survey, samplePayload: payload.render(userTelephone: bump.telephones?.first ?? "13800138000"))
        if canary != nil { report.canary = inCanary }
        report.gate = sources.verdict(required, build: bump.builds.required, of: bump.app)
        return report
    }

    private func configured(_ app: AppKey) throws -> AppConfiguration {
        let apps = active.current.apps
        guard let configuration = apps[app] else {
            throw ControlError(
                .unknownApp, context: "\(app.app) is not configured for \(app.platform.rawValue)",
                hint: "the configuration knows "
                    + apps.keys.map { "\($0.app)/\($0.platform.rawValue)" }.sorted()
                    .joined(separator: ", "))
        }
        return configuration
    }

    /// The payload that the bump would send, checked before anything is stored (DESIGN, rule 4).
    private func payload(_ bump: VersionBump, _ app: AppConfiguration, _ route: AppRoute) throws -> UpgradePayload {
        guard let url = try bump.downloadURL ?? store.version(of: bump.app)?.downloadURL ?? app.downloadURL else {
            throw ControlError(
                .noDownloadURL, context: "a requirement needs a downloadUrl: the app ignores a push without one",
                hint: "send `downloadUrl`, or set it in the app's configuration")
        }
        let longest = bump.telephones?.lazy.map { UpgradePayload.escapedSize($0.utf8) }.max() ?? Self.usualTelephone
        do {
            return try route.payload(message: bump.message, downloadURL: url).checked(longestTelephone: longest)
        } catch {
            throw ControlError(.payloadTooLarge, context: "\(error)")
        }
    }

    /// Bytes kept free for a telephone: E.164 has fifteen digits at most. A longer one that does not fit is refused by
    /// itself, with a row in the ledger.
    private static let usualTelephone = 16

    // MARK: Campaigns

    func status(_ record: CampaignRecord) -> CampaignStatus {
        let figures = fanOut.figures(of: record.key)
        let now = clock()
        var record = record
        // Read after the figures: outcomes that were recorded in between would be neither on their way nor in the ledger,
        // and nothing later corrects the last that is reported of a campaign.
        if record.state.isFinal, let newer = try? store.campaign(record.key) { record = newer }
        let counts = figures.counts(record.counts)
        if record.state == .running, record.reason == nil { record.reason = figures.trouble }
        let route = record.state == .running ? active.current.routes[record.app] : nil
        let nextWaveAt = route.flatMap { record.waves.nextAt($0.waveRules) }
        if record.state == .running, record.reason == nil, let wave = record.waves.current, let nextWaveAt {
            record.reason =
                "wave \(wave.number + 1) of \(record.waves.list.count) is done; "
                + "the next begins at \(nextWaveAt.internetTime)"
        }
        if record.state == .running, record.reason == nil, record.isCanary {
            record.reason = Self.canaryText(record, releaseAt: record.canaryReleaseAt(route?.waveRules))
        }
        var waitingUntil: Timestamp?
        if record.state == .waiting,
            let verdict = sources.verdict(record.required, build: record.requiredBuild, of: record.app)
        {
            (record.reason, waitingUntil) = (verdict.reason, verdict.opensAt)
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

    private static func canaryText(_ record: CampaignRecord, releaseAt: Timestamp?) -> String {
        let count = record.telephones?.count ?? 0
        let canary = "the canary of \(count) phone number\(count == 1 ? "" : "s")"
        guard record.canary?.endedAt != nil else { return "\(canary) is being sent to, and nobody else" }
        if let releaseAt { return "\(canary) is done; everybody else is sent to from \(releaseAt.internetTime)" }
        let found = record.counts.audience - record.counts.pending
        return "\(canary) is done" + (found == 0 ? ", and none of them is registered" : "")
            + "; \"campaigns release \(record.id)\" sends to everybody"
    }

    func pause(campaign id: String, by actor: String) throws -> CampaignStatus {
        try move(id, from: [.running, .waiting], to: .paused, verb: "paused", by: actor)
    }

    func resume(campaign id: String, by actor: String) throws -> CampaignStatus {
        // What is not in force still has to wait for its store.
        let campaign = try campaign(id)
        let record = try store.version(of: campaign.app)
        let isInForce = record?.inForce.holds(campaign.required, onlyFor: campaign.telephones) ?? false
        return try move(
            id, from: [.paused, .suspended], to: isInForce ? .running : .waiting, verb: "resumed", by: actor)
    }

    func release(campaign id: String, by actor: String) throws -> CampaignStatus {
        let campaign = try campaign(id)
        // Of a running campaign it is the next wave that waits.
        if try store.releaseWave(campaign.key, at: clock()) {
            log(.notice, "the next wave was released by hand", [("campaign", id), ("by", actor)])
            fanOut.poke()
            return status(try store.campaign(campaign.key) ?? campaign)
        }
        guard campaign.state == .waiting || campaign.state == .suspended || campaign.state == .running,
            try putInForce(campaign.required, of: campaign.app, by: actor)
                || releaseCanary(campaign.required, of: campaign.app, by: actor) != nil
        else { throw wrongState(campaign.state, "released", from: [.waiting]) }
        return status(try self.campaign(id))
    }

    func release(app: AppKey, by actor: String) throws -> VersionRecord {
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
        fanOut.poke()
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
        fanOut.poke()
        sources.poke()
        return true
    }

    func cancel(campaign id: String, by actor: String) throws -> CampaignStatus {
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
                ])
        }
        fanOut.poke()
        sources.poke()
        return status(after)
    }

    // MARK: The service's status

    /// What the service's status line reports. Reads one campaign of the store at most.
    @Sendable func activity() -> ServiceStatus.Activity {
        let running = fanOut.campaigns
        // A store that cannot be read is among the faults.
        let first = running.first.flatMap { try? store.campaign($0) }
        return ServiceStatus.Activity(
            campaign: first.map(status), others: max(running.count - 1, 0),
            fault: faults().first.map { "\($0.part): \($0.reason)" })
    }

    // MARK: Readiness

    func faults() -> [ReadinessFault] {
        let faults = fanOut.faults().merging(sources.faults()) { first, _ in first }
        return faults.map { ReadinessFault(part: $0.key, reason: $0.value) }.sorted { $0.part < $1.part }
    }
}
