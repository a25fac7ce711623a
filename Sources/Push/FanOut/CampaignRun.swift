// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A campaign while it is being sent: its lifecycle, its services, and the status figures that the ledger does not have.
///
/// Belongs to the fan-out's thread.
final class CampaignRun {
    private(set) var record: CampaignRecord
    /// Its outcomes are recorded under this lease.
    private(set) var lease: RunLease
    /// The number of batches in a commit that failed with an error but may have been recorded.
    private var triedBatches: Int?
    let route: AppRoute
    /// The app's services that it uses.
    let track: PushService.Track
    private(set) var filter: AudienceFilter
    let payload: UpgradePayload
    /// The share of tokens called dead above which it is no everyday loss of phones; nil: a person has accepted more.
    let unregisteredLimit: Double?
    /// The campaign's public id, from which each push's own id is made.
    let idBytes: [UInt8]
    /// Whether the service has accepted the payload for at least one device.
    var isPayloadTaken: Bool
    var lifecycle: CampaignLifecycle
    /// Watches the hours in which the campaign may begin pushes.
    var hours: HoursWatch
    /// The services that it sends to, the main one first.
    private(set) var services: [PushService] = []
    /// Pushes refused before a service's credential was judged.
    var unjudged: [Channel: UnjudgedRefusals] = [:]
    var pushes: RateMeter
    var devices = RateMeter()
    /// The wave of each device; nil where the campaign has none.
    let draw: WaveDraw?
    /// Pushes on their way, from shards and from retries.
    private var shardPushesOut = 0
    private var retryPushesOut = 0

    init(
        record: CampaignRecord, lease: RunLease, lifecycle: CampaignLifecycle, route: AppRoute,
        track: PushService.Track,
        unregisteredLimit: Double?
    ) {
        self.lease = lease
        self.lifecycle = lifecycle
        self.track = track
        self.unregisteredLimit = unregisteredLimit
        self.record = record
        self.route = route
        filter = AudienceFilter(record)
        payload = route.payload(of: record)
        idBytes = Array(record.id.utf8)
        isPayloadTaken = record.figures.counts.accepted > 0
        draw = record.draw
        hours = HoursWatch(route.hours)
        pushes = RateMeter(pace: route.pace?.ratePerSecond)
    }

    /// Adds a service; production comes first, as the waves wait for it.
    func add(_ service: PushService) {
        services.append(service)
        services.sort { $0.key.channel < $1.key.channel }
    }

    func sends(for project: String) -> Bool { route.quotas.contains { $0.project == project } }

    func service(_ channel: Channel) -> PushService? {
        services.first { $0.key.channel == channel }
    }

    /// The progress of each service; one that now serves a newer campaign is done with this one.
    var progress: [CampaignLifecycle.Progress] {
        services.map {
            $0.machine.progress(of: record.key.row) ?? CampaignLifecycle.Progress(areShardsDone: true, isDone: true)
        }
    }

    /// The batches that are recorded next: after a commit that may have been recorded, exactly the same ones again.
    func next(of batches: [Batch]) -> [Batch] { triedBatches.map { Array(batches.prefix($0)) } ?? batches }

    /// Records the outcomes of its batches.
    ///
    /// - Returns: false where the campaign now has another owner.
    func commit(_ commits: [LedgerCommit], ofBatches count: Int, to store: any RelayStore, at now: Timestamp) throws
        -> Bool
    {
        guard !commits.isEmpty else { return true }
        triedBatches = count
        do {
            let isRecorded = try store.commit(commits, of: lease, at: now)
            if isRecorded { lease.commits += 1 }
            triedBatches = nil
            return isRecorded
        } catch let error as StoreError where error.code == .conflict {
            triedBatches = nil
            throw error
        }
    }

    /// Takes over the store's present record. Its terms do not change, except for the OS versions that its app version runs on.
    func take(_ record: CampaignRecord) {
        if record.requirement.minimumOS != self.record.requirement.minimumOS { filter = AudienceFilter(record) }
        self.record = record
    }

    /// One wave's devices of a shard; nil: all.
    func slice(_ shard: ShardRange) -> WaveSlice? {
        draw.map { WaveSlice($0, number: shard.wave) }
    }

    /// Whether the wave of a device's present user has begun, or the canary names this user: before that, a push would
    /// require the update here while a login would not.
    func hasBegun(_ row: DeviceRow, in devices: DeviceRows) -> Bool {
        guard draw != nil, Int(row.wave) > record.figures.waves.current?.number ?? 0 else { return true }
        return record.requirement.canary?.contains { devices.bytes[row.telephone.range].elementsEqual($0.utf8) }
            ?? false
    }

    /// Restarts the rate: the next wave's ramp begins below the rate measured last.
    func restartRate() { pushes = RateMeter(pace: route.pace?.ratePerSecond) }

    /// Begins nothing new, and calls back pushes that have not left.
    func callBack() {
        for service in services {
            service.machine.halt(campaign: record.key.row)
            service.withdraw()
        }
    }

    func left(_ batch: Batch) {
        lifecycle.batchLeft()
        add(pushes: batch.pushCount, batch.source)
    }

    func ended(_ batch: Batch) {
        lifecycle.batchRecorded(ofRetries: batch.source == .retries)
        add(pushes: -batch.pushCount, batch.source)
    }

    private func add(pushes: Int, _ source: Batch.Source) {
        switch source {
        case .shard: shardPushesOut += pushes
        case .retries: retryPushesOut += pushes
        }
    }

    var pushesOut: Int { shardPushesOut + retryPushesOut }

    var figures: RunFigures {
        RunFigures(
            shardRequestsOut: shardPushesOut, retryRequestsOut: retryPushesOut, pushes: pushes, devices: devices)
    }
}

extension CampaignRecord {
    /// The input for the lifecycle of a running campaign. A canary's time to live does not begin before a person has released it.
    func seen(_ rules: WaveRules?) -> CampaignLifecycle.Seen {
        CampaignLifecycle.Seen(
            CampaignLifecycle.Terms(
                isCanary: isCanary, telephones: audience, rounds: figures.rounds.count,
                message: requirement.message?.text,
                downloadURL: facts.downloadURL),
            expiresAt: isCanary ? nil : facts.expiresAt,
            nextWaveAt: figures.waves.areBetween ? figures.waves.nextAt(rules) : nil)
    }
}

extension AudienceFilter {
    fileprivate init(_ record: CampaignRecord) {
        self.init(record.requirement.target, minimumOS: record.requirement.minimumOS, telephones: record.audience)
    }
}
