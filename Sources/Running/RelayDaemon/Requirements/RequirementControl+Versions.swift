// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import PushProviders
package import RelayAPI
package import RelayEngine
package import RelayStore
package import Requirements
import Telemetry
package import UpgradeRules
import VersionSources
import WireFormat

/// Versions: bumps, dry runs, and warnings about them.
extension RequirementControl {
    package func bump(
        _ bump: VersionBump, by actor: Principal, receipt: WebhookReceipt?,
        render: @escaping (BumpOutcome, SeenVersions) throws -> StoredAnswer
    ) throws -> AppliedBump {
        try self.bump(bump, by: Acting(actor), receipt: receipt, render: render)
    }

    func bump(
        _ bump: VersionBump, by acting: Acting, receipt: WebhookReceipt?,
        render: @escaping (BumpOutcome, SeenVersions) throws -> StoredAnswer
    ) throws -> AppliedBump {
        let app = try configured(bump.app)
        let actor = acting.asker
        let (now, known, route) = (clock(), try known(of: bump), routes()[bump.app])
        var surroundings = surroundings(of: bump.app, known, at: now)
        surroundings.policy = policy(of: app, for: actor)
        let measured = surroundings
        if let route {
            surroundings.policy.check = { row throws(RequirementRefusal) in _ = try self.payload(row, route) }
        }
        let signature = acting.signature(at: now)
        let applied = try judged(app, acting) {
            try measure(bump, by: signature, in: measured, acting, app.approval)
        } act: { approval in
            surroundings.approval = approval
            return try store.apply(
                bump, by: signature, in: surroundings, receipt: receipt,
                refused: { Self.error($0, of: bump.app) }, render: { try render($0, known.seen) })
        }
        progress.poke()
        if case .applied(let outcome, _) = applied, outcome.waiting == nil { warn(outcome.record, known.seen) }
        sources.poke()
        // A store's bump comes from a look that was made just now, so no other look is asked for.
        if StoreKind(rawValue: actor.name) == nil { ask(.ask(bump.app)) }
        return applied
    }

    /// Takes a version that a source found. Works like any other bump, but the configuration's URL takes precedence over the source's.
    ///
    /// - Returns: the new required version; nil where it did not rise.
    @discardableResult
    package func take(_ bump: VersionBump, from source: String) throws -> Version? {
        var bump = bump
        // A store or a file keeps naming a version that a person has withdrawn or blocked. Without this, each look would
        // report anew that it cannot be required.
        if let required = bump.required, let requirements = try store.version(of: bump.app)?.requirements,
            requirements.isOver(required)
        {
            bump.required = nil
        }
        guard bump.required != nil || bump.latest != nil || !bump.terms.isEmpty else { return nil }
        if apps()[bump.app]?.downloadURL != nil { bump.downloadURL = nil }
        bump.isListed = StoreKind(rawValue: source) != nil
        let applied: AppliedBump
        do {
            applied = try self.bump(bump, by: .source(source), receipt: nil) { _, _ in
                StoredAnswer(status: 200, body: [])
            }
        } catch let error as ControlError where error.code == .refusedBefore {
            // A person has refused it, and the source keeps naming it.
            return nil
        }
        guard case .applied(let outcome, _) = applied, outcome.requiredRose else { return nil }
        return outcome.record.required
    }

    /// The present state of an app in the configuration and in the stores.
    func surroundings(
        of app: AppKey, _ known: KnownVersions? = nil, at now: Timestamp
    ) -> RequirementMachine.Surroundings {
        sources.surroundings(
            of: app, draft: routes()[app]?.draft,
            rules: BumpRules(
                platform: app.platform, schemes: apps()[app]?.downloadSchemes,
                wantsSecondPerson: apps()[app]?.approval != nil), known, at: now)
    }

    /// The policy that the configuration sets for a bump.
    private func policy(of app: AppConfiguration, for actor: Principal) -> BumpPolicy {
        var policy = BumpPolicy()
        policy.isMachine = !actor.kind.isPerson
        policy.force = app.forcePolicy
        // Other callers can name the canary's users themselves.
        if ReleaseRules.tools.contains(actor.via) { policy.canary = app.webhooks.canary }
        policy.hasDownloadURL = app.downloadURL != nil
        return policy
    }

    /// The error for a refused bump.
    private static func error(_ refusal: RequirementRefusal, of app: AppKey) -> any Error {
        let name = "\(app.app) \(app.platform.rawValue)"
        switch refusal {
        case .wasWithdrawn(let version, .blocked):
            return ControlError(
                .withdrawn, context: "\(version) of \(name) was unblocked, and only a person blocks it again",
                hint: "\"upgrade-relay version block \(name) \(version)\"")
        case .wasWithdrawn(let version, _):
            return ControlError(
                .withdrawn, context: "\(version) of \(name) was withdrawn, and only a person asks for it again",
                hint: "\"upgrade-relay version set \(name) --required \(version)\"")
        case .implausible(let field, let proposed, let highest):
            return ControlError(
                .implausible(field: field, proposed: proposed, known: highest),
                context: KnownVersions.doubt(proposed, of: name, known: highest),
                hint: "\"upgrade-relay version set \(name) --\(field) \(proposed) --yes\" takes it, if it is meant")
        case .noDownloadURL:
            return ControlError(
                .noDownloadURL, context: "a requirement needs a downloadUrl: the app ignores a push without one",
                hint: "send `downloadUrl`, or set it in the app's configuration")
        case .unsendable(let why): return ControlError(.payloadTooLarge, context: why)
        default: return StoreError(refusal, of: app)
        }
    }

    /// The evidence for the versions of a bump. The offer of a store does not count for versions that a store itself names.
    private func known(of bump: VersionBump) throws -> KnownVersions {
        var known = try sources.known(of: bump.app)
        if bump.isListed { known.offered = nil }
        return known
    }

    package func withdraw(
        _ required: Version, of app: AppKey, by actor: Principal, reason: String?
    ) throws -> Withdrawal {
        _ = try configured(app)
        let withdrawal = try store.withdraw(required, of: app, by: actor, reason: reason, at: clock())
        guard let withdrawal else {
            let now = try store.version(of: app)?.required?.text ?? "nothing"
            throw ControlError(
                .wrongState,
                context: "\(required) is not what \(app.app) (\(app.platform.rawValue)) requires: that is \(now)",
                hint: "\"upgrade-relay version show\" shows what is required; it may have been withdrawn before")
        }
        progress.poke()
        sources.poke()
        return withdrawal
    }

    /// Logs warnings where clients that compare versions themselves, or the store, will disagree with the new record.
    private func warn(_ record: VersionRecord, _ seen: SeenVersions) {
        for warning in versionCache.documentWarnings(for: record, seen: seen) {
            log(
                .warning, "apps that compare versions for themselves will judge otherwise",
                [("app", record.app.app), ("platform", record.app.platform.rawValue), ("warning", warning)])
        }
        for warning in storeWarnings(of: record) {
            log(
                .warning, "the store says something else of a required version",
                [("app", record.app.app), ("platform", record.app.platform.rawValue), ("warning", warning)])
        }
    }

    package func warnings(of record: VersionRecord) -> [String] {
        [past].compactMap(\.self) + storeWarnings(of: record) + versionCache.troubles(of: record)
    }

    private func storeWarnings(of record: VersionRecord) -> [String] {
        record.requirements.takenUp.required.map { sources.warnings(of: $0, record.app) } ?? []
    }

    package func unblock(
        _ versions: [Version], of app: AppKey, by actor: Principal, reason: String?
    ) throws -> VersionRecord {
        _ = try configured(app)
        let now = clock()
        let decision = try store.unblock(
            versions, of: app, by: actor, reason: reason, in: surroundings(of: app, at: now))
        progress.poke()
        sources.poke()
        return VersionRecord(app, decision.after)
    }

    package func status(_ record: VersionRecord) -> VersionStatus {
        VersionStatus(record, wait: wait(of: record)) {
            self.wait(for: $0, among: record.requirements, of: record.app)
        }
    }

    package func wait(of record: VersionRecord) -> RequirementWait? {
        let requirements = record.requirements
        if let row = requirements.required, row.state != .inForce, !requirements.isSuperseded(row) {
            return wait(for: row, among: requirements, of: record.app)
        }
        guard let row = requirements.latest, !row.isAnnounced, !requirements.isSuperseded(row) else { return nil }
        return wait(for: row, among: requirements, of: record.app)
    }

    /// Why a requirement is not in force yet; nil: nothing is known to hold it back.
    func wait(for row: Requirement, among requirements: Requirements, of app: AppKey) -> RequirementWait? {
        requirements.wait(of: row, in: surroundings(of: app, at: clock()))
    }

    package func offer(
        of row: Requirement, among requirements: Requirements, _ app: AppKey, to audience: AudienceCountries
    ) -> StoreOffer {
        sources.offer(requirements.question(row), of: app, to: audience)
    }

    package func hoursWait(of outcome: BumpOutcome) -> HoursWait? {
        let (app, requirements) = (outcome.record.app, outcome.record.requirements)
        let floor = outcome.requiredRose ? requirements.required : nil
        let rows = [floor].compactMap(\.self) + outcome.blocked.map(\.requirement)
        return rows.lazy.compactMap {
            self.hoursWait($0, of: app, self.wait(for: $0, among: requirements, of: app))
        }
        .first
    }

    /// For each app with sending hours, the time at which pushes may begin again; nil: they may begin now.
    func openings() -> [AppKey: Timestamp?] {
        let now = clock()
        return routes().compactMapValues(\.hours).mapValues { $0.opening(after: now) }
    }

    /// - Parameter wait: what holds the requirement back.
    private func hoursWait(_ row: Requirement, of app: AppKey, _ wait: RequirementWait?) -> HoursWait? {
        guard let route = routes()[app], let hours = route.hours else { return nil }
        let now = clock()
        guard row.state != .inForce, let wait else {
            return hours.wait(from: now, timeToLive: route.timeToLive, at: now)
        }
        return wait.end.flatMap { hours.wait(from: max($0, now), timeToLive: route.timeToLive, at: now) }
    }

    package func plan(_ bump: VersionBump) throws -> PlanReport {
        let app = try configured(bump.app)
        let known = try known(of: bump)
        // The dry run reports what the bump itself would, once it is confirmed.
        var confirmed = bump
        confirmed.confirmation = .dryRun
        let stored = try store.version(of: bump.app)?.requirements ?? Requirements()
        let now = clock()
        var machine = RequirementMachine(stored, campaigns: [])
        do {
            var surroundings = surroundings(of: bump.app, known, at: now)
            surroundings.policy = policy(of: app, for: Principal("plan", .token, via: "api"))
            surroundings.draft = nil
            try machine.reduce(.asked(confirmed), by: Signature(by: "plan", via: "plan", at: now), in: surroundings)
        } catch {
            throw Self.error(error, of: bump.app)
        }
        let (bump, planned) = (machine.bump ?? confirmed, machine.requirements)
        let blocks = bump.blocked.compactMap { planned.live($0, kind: .blocked) }
        let isAboutBlocks = bump.required == nil && bump.latest == nil && !blocks.isEmpty
        guard let row = isAboutBlocks ? blocks.first : planned.required else {
            throw ControlError(
                .noRequirement, context: "no required version is given, none is stored and no force policy derives one",
                hint: "send `required`, or in `blocked` the versions that must be left")
        }
        let route = try route(of: bump.app)
        let payload: UpgradePayload
        do {
            payload = try self.payload(row, route)
        } catch {
            throw Self.error(error, of: bump.app)
        }
        let audience = PlannedAudience(bump, row, blocks, in: planned, isAboutBlocks: isAboutBlocks)
        var counts = audience.counts
        let reached = ReachedAudience(bump, in: planned)
        var reachedDevices: Int64 = 0
        let survey = try store.survey(bump.app) { row, devices in
            if reached.contains(row, in: devices) { reachedDevices += 1 }
            return audience.reason(against: row, in: devices, &counts)
        }
        let sample = route.main.provider.sample(
            payload, telephone: bump.telephones?.first ?? "13800138000", timeToLive: route.timeToLive)
        var report = PlanReport(survey: survey, samplePayload: sample.body)
        report.samplePayloadSize = sample.size
        (report.toPush, report.canary, report.blocks) = (counts.toPush, counts.canary, counts.blocks)
        report.toPushByChannel = counts.toPushByChannel
        let reach = ApprovalReach(devices: reachedDevices, of: survey.audience)
        report.wantsSecondPerson = app.approval?.wantsSecondPerson(for: reach) ?? false
        report.required = isAboutBlocks ? nil : row.version
        // An id below 0 marks a row that the machine has made, and that is not stored yet.
        report.rises = isAboutBlocks ? blocks.contains { $0.id < 0 } : row.id < 0
        if !report.rises {
            report.campaign = try store.campaigns(before: nil, limit: 100).first { $0.requirement.id == row.id }?.id
        }
        report.waves = report.rises ? route.draft.waves : row.stages
        report.planned = VersionRecord(bump.app, planned)
        report.largestKnown = known.highest(stored.takenUp.latest?.version)
        let rises = known.doubts(bump, stored).map { Doubt(.implausibleRise, $0.version) }
        let blocked = sources.decidingStore(of: bump.app) == nil ? stored.withoutWayOut(bump.blocked, known) : []
        report.doubts =
            rises.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            + blocked.map { Doubt(.nothingAbove, $0) }
        report.wait = row.state == .inForce ? nil : wait(for: row, among: planned, of: bump.app)
        if report.toPush > 0, !bump.isUrgent { report.hours = hoursWait(row, of: bump.app, report.wait) }
        return report
    }

    /// The payload that the row's campaign would send, checked before anything is stored. It is made from the same
    /// input and by the same code as in `CampaignRun`.
    private func payload(_ row: Requirement, _ route: AppRoute) throws(RequirementRefusal) -> UpgradePayload {
        guard let url = row.downloadURL ?? route.draft.downloadURL, !url.isEmpty else {
            throw .noDownloadURL(row.version)
        }
        let longest = row.canary?.lazy.map { UpgradePayload.escapedSize($0.utf8) }.max() ?? Self.usualTelephone
        do {
            let payload = route.payload(
                message: row.words(route.moments)?.text, downloadURL: url, target: row.target, build: row.build)
            try route.check(payload, longestTelephone: longest)
            return payload
        } catch {
            throw .unsendable("\(error)")
        }
    }

    /// Bytes kept free for a telephone: E.164 has fifteen digits at most. Where a longer one does not fit, only its own push
    /// is refused, with a row in the ledger.
    private static let usualTelephone = 16
}
