// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import Synchronization
import UpgradeRules

/// The store under test, with the few steps that most rules begin with. Time stands still unless a rule moves it.
struct Subject: Sendable {
    let store: any RelayStore
    /// Another store on the same data; nil if the driver can have none.
    let second: (any RelayStore)?
    let app = AppKey(app: "com.example.app", platform: .ios)
    let now = Timestamp(seconds: 1_700_000_000)
    /// The runs that it owns.
    private let leases = Leases()

    private final class Leases: Sendable {
        let all = Mutex<[CampaignKey: RunLease]>([:])
    }

    init(store: any RelayStore, second: (any RelayStore)? = nil) {
        self.store = store
        self.second = second
    }

    static let url = "https://apps.example.com/app"

    func version(_ text: String) throws -> Version { try Version(text) }

    // MARK: Versions

    @discardableResult
    func bump(
        _ bump: VersionBump, at time: Timestamp? = nil, draft: CampaignDraft? = nil, receipt: WebhookReceipt? = nil,
        waitingReason: String? = nil
    ) throws -> BumpOutcome {
        let applied = try store.apply(
            bump, actor: "tester", source: "test", at: time ?? now, draft: draft, waitingReason: waitingReason,
            receipt: receipt
        ) { _ in StoredAnswer(status: 200, body: []) }
        guard case .applied(let outcome, _) = applied else {
            throw ConformanceFailure(description: "a bump was taken for a replay")
        }
        return outcome
    }

    func draft() -> CampaignDraft {
        CampaignDraft(downloadURL: Self.url, timeToLive: .seconds(3600))
    }

    /// Raises the required version and returns the campaign that this made.
    @discardableResult
    func announce(
        _ required: String = "2.0.0", app other: AppKey? = nil, isGated: Bool = false, at time: Timestamp? = nil
    ) throws -> CampaignRecord {
        let outcome = try bump(
            VersionBump(app: other ?? app, required: try version(required)), at: time, draft: draft(),
            waitingReason: isGated ? "not out yet" : nil)
        return try present(outcome.campaign, "the campaign")
    }

    /// The highest requirement that waits.
    func staged() throws -> Requirement? { try store.version(of: app)?.requirements.staged }

    func waiting() throws -> [Requirement] { try store.version(of: app)?.requirements.waiting ?? [] }

    /// Has the app store report a state of one version, and that the others are not out yet.
    ///
    /// - Returns: whether it came into force, or out of it.
    @discardableResult
    func look(
        _ required: String, _ state: GateVerdict.State = .open, _ reason: String = "shown",
        by actor: String = "appStore",
        at time: Timestamp? = nil
    ) throws -> Bool {
        let version = try version(required)
        let decision = try store.decide(
            app, .looked, by: Signature(by: actor, via: "gate", at: time ?? now),
            in: RequirementMachine.Surroundings(now: time ?? now, gate: actor) { question in
                question.version == version ? GateVerdict(state, reason) : GateVerdict(.closed, "not out yet")
            })
        func isInForce(_ requirements: Requirements) -> Bool { requirements.live(version)?.state == .inForce }
        return isInForce(decision.before) != isInForce(decision.after)
    }

    func record(_ campaign: CampaignKey) throws -> CampaignRecord {
        try present(try store.campaign(campaign), "campaign \(campaign.row)")
    }

    func counts(_ campaign: CampaignKey) throws -> CampaignCounts { try record(campaign).figures.counts }

    // MARK: Devices

    func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    func registration(
        _ number: Int, telephone: String? = nil, version: Version? = nil, app other: AppKey? = nil
    ) -> DeviceRegistration {
        DeviceRegistration(app: other ?? app, token: token(number), telephone: telephone, version: version)
    }

    /// Registers devices 0..<count of the app; device n's telephone is "138" and n.
    func registerDevices(_ count: Int, app other: AppKey? = nil, version: Version? = nil) throws {
        try store.register(
            (0..<count).map { registration($0, telephone: "138\($0)", version: version, app: other) }, at: now)
    }

    func device(_ number: Int) throws -> DeviceRecord {
        try present(try store.device(app, token: token(number)), "device \(number)")
    }

    // MARK: Sending

    /// The open shards of a campaign, which is taken over if it runs.
    func open(_ campaign: CampaignKey, channel: Channel = .production) throws -> [Shard] {
        _ = try own(campaign)
        return try store.openShards(campaign, channel: channel)
            .map { Shard(campaign: campaign, channel: channel, range: $0) }
    }

    private func own(_ campaign: CampaignKey) throws -> RunLease? {
        if let lease = leases.all.withLock({ $0[campaign] }) { return lease }
        let lease = try store.claimRun(campaign)
        leases.all.withLock { $0[campaign] = lease }
        return lease
    }

    /// Gives back a campaign that it owns.
    func giveBack(_ campaign: CampaignKey) throws {
        if let lease = leases.all.withLock({ $0.removeValue(forKey: campaign) }) { try store.releaseRun(lease) }
    }

    /// Records batches of a campaign, as its owner.
    ///
    /// - Returns: whether they are recorded.
    @discardableResult
    func commit(_ batches: [LedgerCommit], at time: Timestamp) throws -> Bool {
        guard let campaign = batches.first?.campaign else { return true }
        let lease = try present(try own(campaign), "the run of campaign \(campaign.row)")
        let isRecorded = try store.commit(batches, of: lease, at: time)
        if isRecorded { leases.all.withLock { $0[campaign]?.commits += 1 } }
        return isRecorded
    }

    /// Reads the next devices of a shard and makes a commit of them, one outcome each.
    func batch(
        _ shard: Shard, limit: Int = 1000, last: Bool = false,
        outcome: (DeviceRow) -> LedgerRow = { LedgerRow(device: $0.id, state: .accepted, attempts: 1) }
    ) throws -> LedgerCommit {
        var devices = DeviceRows()
        try store.readDevices(
            app, channel: shard.channel, after: shard.cursor, through: shard.last, limit: limit, into: &devices)
        let rows = devices.rows.map { device in
            var row = outcome(device)
            row.telephone = device.telephone
            return row
        }
        return LedgerCommit(
            campaign: shard.campaign, shard: shard.range, cursor: devices.rows.last?.id ?? shard.last,
            shardDone: last || devices.rows.last.map { $0.id >= shard.last } ?? true, rows: rows, devices: devices,
            retirements: [])
    }

    /// Plans the campaign as one shard and returns that.
    func onlyShard(_ campaign: CampaignRecord) throws -> Shard {
        try store.planShards(campaign.key, shardSize: 1_000_000, waves: nil, at: now)
        return try present(try open(campaign.key).first, "the shard")
    }

    /// A commit for due retries.
    func retry(_ campaign: CampaignKey, _ rows: [LedgerRow], _ devices: DeviceRows = DeviceRows()) -> LedgerCommit {
        LedgerCommit(
            campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: rows, devices: devices, retirements: [])
    }
}

extension RelayStore {
    /// Takes a campaign over and records batches of it.
    ///
    /// - Returns: whether they are recorded.
    @discardableResult
    package func commitAnew(_ batches: [LedgerCommit], at time: Timestamp) throws -> Bool {
        guard let campaign = batches.first?.campaign else { return true }
        let lease = try present(try claimRun(campaign), "the run of campaign \(campaign.row)")
        return try commit(batches, of: lease, at: time)
    }

    /// The first shard that a campaign has left for production.
    package func firstShard(of campaign: CampaignKey) throws -> ShardRange? {
        try openShards(campaign, channel: .production).first
    }
}

extension SightingStore {
    /// Records one sighting; false when the token is unknown.
    @discardableResult
    func sawVersion(_ version: Version, app: AppKey, token: String, at now: Timestamp) throws -> Bool {
        try sawVersions([Sighting(app: app, token: token, version: version)], at: now) > 0
    }
}

extension DeviceRegistry {
    @discardableResult
    package func register(
        _ batch: RegistrationBatch, at now: Timestamp, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts {
        try register(batch, at: now, isDryRun: false, stored: stored)
    }
}

extension Ledger {
    func deliveries(
        telephone: String?, token: String?, after: DeliveryPosition?, limit: Int
    ) throws -> [Delivery] {
        try deliveries(DeliveryFilter(telephone: telephone, token: token), after: after, limit: limit)
    }
}

/// A shard with its campaign and environment.
@dynamicMemberLookup
struct Shard: Hashable, Sendable {
    var campaign: CampaignKey
    var channel: Channel
    var range: ShardRange

    subscript<Value>(dynamicMember member: WritableKeyPath<ShardRange, Value>) -> Value {
        get { range[keyPath: member] }
        set { range[keyPath: member] = newValue }
    }
}
