// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import UpgradeRules

/// A campaign while it is being sent: its machine, its services, and what the status tells beyond the ledger.
///
/// Belongs to the fan-out's thread.
final class CampaignRun {
    let record: CampaignRecord
    let route: AppRoute
    /// Which of the app's services it goes by: an app's other campaign goes on beside one for some users alone.
    let isStaged: Bool
    let filter: AudienceFilter
    let payload: UpgradePayload
    /// The share of tokens called dead that is no everyday loss of phones; nil: a person has accepted more.
    let unregisteredLimit: Double?
    /// The campaign's public id, of which each push's own is made.
    let idBytes: [UInt8]
    /// The service has taken the payload for some device.
    var isPayloadTaken: Bool
    var machine: CampaignMachine
    /// The services that it sends to, the main one first.
    private(set) var services: [PushService] = []
    /// Why nothing is sent to one of its services, which suspends the campaign when nothing else is left.
    var stopCause: SuspensionCause?
    /// What was refused while a service's credential has not been judged yet.
    var unjudged: [PushEnvironment: UnjudgedRefusals] = [:]
    var pushes: RateMeter
    var devices = RateMeter()
    private(set) var waves: CampaignWaves
    /// Which device is in which wave; nil where the campaign has none.
    let draw: WaveDraw?
    /// Batches on their way, and the pushes in them, from shards and from retries.
    private(set) var batchesOut = 0
    private var shardPushesOut = 0
    private var retryPushesOut = 0

    init(record: CampaignRecord, route: AppRoute, isStaged: Bool, unregisteredLimit: Double?) {
        self.isStaged = isStaged
        self.unregisteredLimit = unregisteredLimit
        self.record = record
        self.route = route
        filter = AudienceFilter(required: record.required, telephones: record.audience)
        payload = route.payload(message: record.message, downloadURL: record.downloadURL)
        idBytes = Array(record.id.utf8)
        isPayloadTaken = record.counts.accepted > 0
        waves = record.waves
        draw = record.draw
        pushes = RateMeter(pace: route.pace?.ratePerSecond)
        machine = CampaignMachine(
            hasMoreWaves: record.hasMoreWaves, gathers: record.isGathering, isCanary: record.isCanary)
    }

    /// Nothing new is begun, and nothing is on its way any more.
    var isStopped: Bool { machine.isHalted && batchesOut == 0 }

    /// Production first, which the waves wait for.
    func add(_ service: PushService) {
        services.append(service)
        services.sort { $0.key.environment < $1.key.environment }
    }

    func service(_ environment: PushEnvironment) -> PushService? {
        services.first { $0.key.environment == environment }
    }

    /// How far each service is; one that serves a newer campaign by now is done with this one.
    var progress: [CampaignMachine.Progress] {
        services.map {
            $0.machine.progress(of: record.key.row) ?? CampaignMachine.Progress(areShardsDone: true, isDone: true)
        }
    }

    func take(_ waves: CampaignWaves) {
        self.waves = waves
    }

    /// One wave's devices of a shard; nil: all.
    func slice(_ shard: ShardRange) -> WaveSlice? {
        draw.map { WaveSlice($0, number: shard.wave) }
    }

    func left(_ batch: Batch) {
        batchesOut += 1
        add(pushes: batch.pushCount, batch.source)
    }

    func ended(_ batch: Batch) {
        batchesOut -= 1
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
