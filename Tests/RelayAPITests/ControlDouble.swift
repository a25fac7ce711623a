// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import UpgradeRules
import VersionSources

/// The daemon's part behind the API, without a fan-out.
final class ControlDouble: RelayControl, RequirementOperations {
    var requirements: any RequirementOperations { self }

    private let store: any RelayStore
    let faultsNow = Mutex<[ReadinessFault]>([])
    let warningsNow = Mutex<[ReadinessFault]>([])
    /// How often `faults` was asked.
    let faultLooks = Mutex(0)
    /// How often the metrics were asked for.
    let metricsLooks = Mutex(0)
    let rules = Mutex(ReleaseRules())
    /// Why new requirements wait; nil: they do not.
    let waitingReason = Mutex<String?>(nil)
    let lookup = Mutex<(any VersionLookup)?>(nil)
    /// Whether another team's app is configured, too.
    let hasOther = Mutex(false)
    /// Thrown by the next bump.
    let failure = Mutex<StoreError?>(nil)

    /// How often a store was taken on.
    let acceptances = Mutex(0)
    func storeWasAccepted() { acceptances.withLock { $0 += 1 } }

    init(store: any RelayStore) {
        self.store = store
    }

    /// A test holds it to make callers of `apps` wait.
    let gate = NSLock()

    func apps() -> [AppKey] {
        gate.withLock {}
        return [Bench.app, AppKey(app: "com.example.app", platform: .android)]
            + (hasOther.withLock(\.self) ? [Bench.other] : [])
    }

    /// Called for each app whose profile is asked for. The check of an app that is not configured asks on the thread that
    /// serves the connection.
    let profileAsked = Mutex<(@Sendable (AppKey) -> Void)?>(nil)

    func profile(of app: AppKey) -> AppProfile? {
        profileAsked.withLock { $0 }?(app)
        return app.app == "com.example.app" || hasOther.withLock(\.self) && app == Bench.other
            ? AppProfile(downloadURL: "https://example.com/app", alert: "Upgrade") : nil
    }

    func wait(of record: VersionRecord) -> RequirementWait? { nil }

    /// The store's offer to every user; default: no store is asked.
    let offerNow = Mutex(StoreOffer.unasked)

    func offer(
        of row: Requirement, among requirements: Requirements, _ app: AppKey, to audience: AudienceCountries
    ) -> StoreOffer { offerNow.withLock { $0 } }

    func warnings(of record: VersionRecord) -> [String] { [] }

    func releaseRules(of app: AppKey) -> ReleaseRules { rules.withLock { $0 } }

    /// While it is set, a test push and a plan wait until it is signalled.
    let stillness = Mutex<DispatchSemaphore?>(nil)

    private func standStill() {
        guard let stillness = stillness.withLock({ $0 }) else { return }
        stillness.wait()
        stillness.signal()
    }

    func versionLookup(of app: AppKey) -> (any VersionLookup)? { lookup.withLock { $0 } }

    func bump(
        _ bump: VersionBump, by actor: Principal, receipt: WebhookReceipt?,
        render: @escaping (BumpOutcome, SeenVersions) throws -> StoredAnswer
    ) throws -> AppliedBump {
        if let error = failure.withLock({ $0.take() }) { throw error }
        guard let profile = profile(of: bump.app) else { throw ControlError(.unknownApp, context: "no such app") }
        let seen = try store.seenVersions(of: bump.app)
        var surroundings = RequirementMachine.Surroundings.waiting(
            for: waitingReason.withLock(\.self),
            draft: CampaignDraft(downloadURL: profile.downloadURL, timeToLive: .seconds(604_800)), at: Bench.now)
        // A block is accepted here even if no version above it is known.
        if bump.blocked.isEmpty { surroundings.known = KnownVersions() }
        return try store.apply(
            bump, by: Signature(by: actor, at: Bench.now), in: surroundings, receipt: receipt,
            refused: { refusal in
                guard case .implausible(let field, let proposed, let known) = refusal else {
                    return StoreError(refusal, of: bump.app)
                }
                return ControlError(
                    .implausible(field: field, proposed: proposed, known: known), context: "implausible")
            }, render: { try render($0, seen) })
    }

    func plan(_ bump: VersionBump) throws -> PlanReport {
        standStill()
        let payload = UpgradePayload(type: "needUpgrade", alert: "Upgrade", downloadURL: "https://example.com/app")
        let survey = try store.survey(bump.app) { row, _ in row.telephone.isAbsent ? .noTelephone : nil }
        var report = PlanReport(survey: survey, samplePayload: payload.render(userTelephone: "138"))
        report.required = try bump.required ?? store.version(of: bump.app)?.required ?? Version("1")
        var machine = RequirementMachine(
            try store.version(of: bump.app)?.requirements ?? Requirements(), campaigns: [])
        try machine.reduce(
            .asked(bump), by: Signature(by: "plan", via: "plan", at: Bench.now),
            in: RequirementMachine.Surroundings(now: Bench.now))
        report.planned = VersionRecord(bump.app, machine.requirements)
        report.toPush = 0
        return report
    }

    func status(_ record: VersionRecord) -> VersionStatus {
        VersionStatus(record, wait: wait(of: record)) { _ in nil }
    }

    func unblock(_ versions: [Version], of app: AppKey, by actor: Principal, reason: String?) throws -> VersionRecord {
        let surroundings = RequirementMachine.Surroundings(now: Bench.now)
        let decision = try store.unblock(versions, of: app, by: actor, reason: reason, in: surroundings)
        return VersionRecord(app, decision.after)
    }

    /// The hours that a bump waits for; nil: it does not wait.
    let hours = Mutex<HoursWait?>(nil)
    func hoursWait(of outcome: BumpOutcome) -> HoursWait? {
        outcome.requiredRose || !outcome.blocked.isEmpty ? hours.withLock { $0 } : nil
    }

    func status(_ record: CampaignRecord) -> CampaignStatus {
        var status = CampaignStatus(
            record: record, counts: record.figures.counts, ratePerSecond: 0, secondsLeft: nil)
        status.wait = record.state == .paused ? .pause : nil
        return status
    }

    func pause(campaign id: String, by actor: Principal) throws -> CampaignStatus {
        try move(id, .paused, actor)
    }
    func resume(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        try move(id, .resumed, actor, isUrgent: isUrgent)
    }
    func cancel(campaign id: String, by actor: Principal) throws -> CampaignStatus {
        try move(id, .cancelled, actor)
    }

    func approve(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        try release(campaign: id, isUrgent: isUrgent, by: actor)
    }

    func release(campaign id: String, isUrgent: Bool, by actor: Principal) throws -> CampaignStatus {
        guard let record = try store.campaign(id: id) else {
            throw ControlError(.noSuchCampaign, context: "there is no campaign \(id)")
        }
        _ = try release(app: record.app, isUrgent: isUrgent, by: actor)
        return status(try store.campaign(record.key) ?? record)
    }

    func release(app: AppKey, isUrgent: Bool, by actor: Principal) throws -> VersionRecord {
        do {
            try store.decide(
                app, .released(nil), by: Signature(by: actor, via: "release", at: Bench.now),
                in: RequirementMachine.Surroundings(now: Bench.now))
        } catch is RequirementRefusal {
            throw ControlError(.wrongState, context: "nothing waits")
        }
        guard let record = try store.version(of: app) else { throw ControlError(.wrongState, context: "nothing waits") }
        return record
    }

    /// Does no act: only who may ask for it is tested here.
    func approve(_ id: Int64, by actor: Principal) throws -> Approval {
        guard let approval = try store.approval(id) else {
            throw ControlError(.noSuchApproval, context: "there is no request \(id)")
        }
        try approval.check(by: actor, at: Bench.now)
        return approval
    }

    func refuse(approval id: Int64, by actor: Principal, reason: String) throws -> Approval {
        guard
            let closed = try store.refuse(
                approval: id, by: Signature(by: actor, at: Bench.now), reason: reason)
        else { throw ControlError(.noSuchApproval, context: "there is no request \(id)") }
        return closed
    }

    func eraseUser(
        _ telephone: String, by actor: Principal, where isMeant: (AppKey) -> Bool
    ) throws -> UserErasure {
        try store.eraseUser(telephone, by: Signature(by: actor, at: Bench.now), where: isMeant)
    }

    func withdraw(_ required: Version, of app: AppKey, by actor: Principal, reason: String?) throws -> Withdrawal {
        guard let withdrawal = try store.withdraw(required, of: app, by: actor, reason: reason, at: Bench.now) else {
            throw ControlError(.wrongState, context: "\(required) is not required")
        }
        return withdrawal
    }

    func retry(
        campaign id: String, states: Set<DeliveryState>, isUrgent: Bool, by actor: Principal
    ) throws -> CampaignStatus {
        guard let campaign = try store.campaign(id: id) else {
            throw ControlError(.noSuchCampaign, context: "there is no such campaign")
        }
        let draft = RoundDraft(.retry(states), timeToLive: .seconds(604_800))
        let answer = try store.reopen(campaign.key, for: draft, by: Signature(by: actor, at: Bench.now))
        guard answer == .opened, let campaign = try store.campaign(id: id) else {
            throw ControlError(.wrongState, context: "the campaign cannot be retried", hint: "\(answer)")
        }
        return status(campaign)
    }

    /// Why a reload is refused; nil: it is taken.
    let reloadRefusal = Mutex<String?>(nil)

    func reload(by actor: String) throws -> ReloadReport {
        if let reason = reloadRefusal.withLock(\.self) { throw ControlError(.notReloaded, context: reason) }
        return ReloadReport(apps: 2, warnings: ["what changed in listen needs a restart"])
    }

    func testPush(_ wish: TestPushRequest, by actor: String) throws -> [TestPushReport] {
        standStill()
        guard case .token(let token, let environment) = wish.target else {
            throw ControlError(.noSuchDevice, context: "no device of this user is registered")
        }
        let device =
            try store.device(wish.app, token: token)?.registration
            ?? DeviceRegistration(
                app: wish.app, token: token, telephone: nil, version: nil, environment: environment ?? .production)
        var result = TestPushResult(state: .rejected, pushID: "0", server: "https://127.0.0.1:1")
        (result.status, result.reason, result.remedy) = (400, "BadDeviceToken", "another environment")
        return [(device, result)]
    }

    let node = OwnNode(
        NodeDescription(name: "relay-1", release: "1.2.3", address: "127.0.0.1:8080", configuration: "d1"),
        startedAt: Bench.now)

    func faults() -> [ReadinessFault] {
        faultLooks.withLock { $0 += 1 }
        return faultsNow.withLock { $0 }
    }

    func warnings() -> [ReadinessFault] { warningsNow.withLock { $0 } }

    func writeMetrics(to text: inout MetricsText) { metricsLooks.withLock { $0 += 1 } }

    private func move(
        _ id: String, _ event: CampaignChange, _ actor: Principal, isUrgent: Bool = false
    ) throws -> CampaignStatus {
        guard let record = try store.campaign(id: id) else {
            throw ControlError(.noSuchCampaign, context: "there is no campaign \(id)")
        }
        var surroundings = RequirementMachine.Surroundings(now: Bench.now)
        surroundings.isUrgent = isUrgent
        let signature = Signature(by: actor, via: "campaign", at: Bench.now)
        var hasMoved = false
        do {
            hasMoved = try store.decide(
                record.app, .campaign(record.key, event), by: signature, in: surroundings
            ).hasChanged
        } catch is RequirementRefusal {}
        guard hasMoved, let moved = try store.campaign(record.key)
        else {
            throw ControlError(.wrongState, context: "the campaign is \(record.state.rawValue)")
        }
        return status(moved)
    }
}
