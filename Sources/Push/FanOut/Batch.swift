// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements

/// A batch of devices of one campaign for one push service: read, filtered, sent, answered, and turned into ledger rows.
///
/// Belongs to the fan-out's thread; only its requests travel to the lanes and back. Reused, so that its memory is
/// allocated once.
final class Batch {
    /// Where the devices came from.
    enum Source: Equatable {
        case shard(ShardRange, isLast: Bool)
        case retries
    }

    /// Requests that travel together, and the pushes that they carry.
    struct Requests {
        let batch: RequestBatch
        let targets: [PushTarget]
        /// For each push, the index of its ledger row.
        let rows: [Int32]
    }

    /// A filled batch: the campaign and the service that it is for.
    struct Load {
        let run: CampaignRun
        let service: PushService
        var source: Source
        /// Batches are numbered as they are filled.
        let tag: Int
        /// The channels of devices that are handed over to another of the app's services.
        var handedTo: Set<Channel> = []
        /// nil: each device was filtered or handed over.
        var sent: Sent?
    }

    /// The part of a batch that went to a lane.
    struct Sent {
        let template: PushTemplate
        let requests: Requests
        var secondTries = SecondTries()
    }

    /// The batch's commits for the ledger: those that fail are tried again unchanged.
    struct Commits {
        var outcomes: LedgerCommit
        /// Pushes recorded as refused before the credential was known to be at fault; they are tried again.
        var recalled: LedgerCommit?

        var all: [LedgerCommit] { [outcomes] + (recalled.map { [$0] } ?? []) }
    }

    /// How far the batch is, with what exists then.
    private enum Phase {
        /// Kept for its memory.
        case spare
        /// On its way, or back. A batch that no lane has sent is read again and never settled.
        case filled(Load)
        /// Its outcomes are known, and wait for the store or are recorded.
        case settled(Load, Commits)
        /// Its outcomes were given up.
        case dropped(Load)
    }

    private var phase = Phase.spare
    /// When it was given to a lane; nil: it was not yet.
    var leftAt: MonotonicTime?
    var devices = DeviceRows()
    /// One row for each device, once `settle` has run; until then only the rows of devices that get no push are final.
    private var rows: [LedgerRow] = []
    /// An empty array, whose memory the next batch uses.
    private var spareTargets: [PushTarget] = []

    /// nil while it is spare.
    var load: Load? {
        switch phase {
        case .spare: nil
        case .filled(let load), .settled(let load, _), .dropped(let load): load
        }
    }

    /// nil until its outcomes are known, and where they were given up.
    var commits: Commits? { if case .settled(_, let commits) = phase { commits } else { nil } }

    var run: CampaignRun? { load?.run }
    var service: PushService? { load?.service }
    var source: Source { load?.source ?? .retries }
    var tag: Int { load?.tag ?? 0 }
    var requests: Requests? { load?.sent?.requests }

    /// The number of pushes on their way.
    var pushCount: Int { requests?.rows.count ?? 0 }

    /// The number that selects the lane: a shard's batches all go to one lane.
    var pin: Int {
        switch source {
        case .shard(let shard, _): shard.number
        case .retries: 0
        }
    }

    var schedulerSource: BatchScheduler.Source {
        switch source {
        case .shard(let shard, _): .shard(shard.number)
        case .retries: .retries
        }
    }

    // MARK: Before sending

    /// The interval at which a retry is read again whose device now belongs to a user of a later wave. Such retries are
    /// few, and a wave waits for minutes or for a person.
    private static let restBeforeItsWave = Duration.seconds(600)

    /// Filters the devices that were read and builds the requests for the rest.
    ///
    /// A device that now belongs to another service, because its environment was changed since the campaign was planned, is
    /// handed over: the ledger gets it as due there at once. A retry whose device now belongs to another user waits for that
    /// user's wave.
    ///
    /// - Parameters:
    ///   - most: the most pushes; the devices from the first one beyond that are left for a later batch.
    ///   - tag: the batch's own number; its requests carry it.
    func fill(
        for run: CampaignRun, _ service: PushService, source: Source, atMost most: Int = .max, tag: Int,
        at now: Timestamp
    ) throws {
        var load = Load(run: run, service: service, source: source, tag: tag)
        defer { phase = .filled(load) }
        let (provider, payload, filter) = (service.provider, run.payload, run.filter)
        let channel = service.key.channel
        rows.removeAll(keepingCapacity: true)
        var targets = spareTargets
        spareTargets = []
        var targetRows: [Int32] = []
        targetRows.reserveCapacity(devices.count)
        for index in devices.rows.indices {
            let row = devices.rows[index]
            var ledgerRow = LedgerRow(
                device: row.id, state: .filtered, attempts: row.attempts, telephone: row.telephone)
            ledgerRow.wave = row.wave
            ledgerRow.isReminder = row.again.contains(.reminder)
            ledgerRow.channel = channel
            if let reason = filter.reason(against: row, in: devices) {
                ledgerRow.reason = reason.rawValue
            } else if row.channel != channel {
                ledgerRow.state = .retrying
                ledgerRow.reason = "NotSent"
                ledgerRow.nextAttemptAt = now
                ledgerRow.channel = row.channel
                load.handedTo.insert(row.channel)
            } else if source == .retries, !run.hasBegun(row, in: devices) {
                ledgerRow.state = .retrying
                ledgerRow.reason = "NotSent"
                ledgerRow.nextAttemptAt = now + Self.restBeforeItsWave
            } else if targets.count >= most {
                devices.cut(to: index)
                if case .shard(let shard, _) = source { load.source = .shard(shard, isLast: false) }
                break
            } else {
                targets.append(PushTarget(token: row.token, telephone: row.telephone, device: row.id))
                targetRows.append(Int32(index))
                ledgerRow.state = .inFlight
            }
            rows.append(ledgerRow)
        }
        // From the end, so that the earlier places do not move.
        for refusal in provider.refusals(of: targets, in: devices.bytes, payload).reversed() {
            let row = Int(targetRows[refusal.place])
            rows[row].state = .rejected
            rows[row].reason = refusal.reason
            targets.remove(at: refusal.place)
            targetRows.remove(at: refusal.place)
        }
        guard !targets.isEmpty else { return }
        let template = try service.template(for: run)
        let batch = RequestBatch(
            template: template.request, tag: tag, capacity: targets.count, bytesPerRequest: provider.bytesPerPush)
        batch.reportsUnreachable = service.reportsUnreachable
        provider.append(targets, of: devices.bytes, campaign: run.idBytes, to: batch)
        load.sent = Sent(
            template: template, requests: Requests(batch: batch, targets: targets, rows: targetRows))
    }

    /// Notes what became of its second tries.
    func note(_ secondTries: SecondTries) {
        guard case .filled(var load) = phase else { return }
        load.sent?.secondTries = secondTries
        phase = .filled(load)
    }

    // MARK: After sending

    /// Whether nothing was sent at all, so that the batch can simply be read again later. A push that was refused until
    /// the pool gave up is retried by its own schedule instead.
    var isUntouched: Bool {
        guard let requests else { return false }
        return requests.batch.answers.allSatisfy { $0.kind == .unsent && $0.sends < PoolMachine.sendLimit }
    }

    /// Turns the answers into ledger rows.
    func settle(with settlement: inout Settlement, at now: Timestamp) {
        guard let load, let sent = load.sent else { return }
        let provider = load.service.provider
        settlement.settle(sent.requests, of: &rows, devices: devices, by: provider, at: now)
        // Second tries come after the first answers, which they follow up.
        if let secondTries = sent.secondTries.requests {
            settlement.settleSecondTries(secondTries, of: &rows, devices: devices, by: provider, at: now)
        }
    }

    /// Marks refused pushes for a retry: the credential was at fault, not the pushes.
    func retry(_ reasons: some Collection<String>, at time: Timestamp) {
        for index in rows.indices where isAnswered(rows[index], reasons) {
            rows[index].state = .retrying
            rows[index].nextAttemptAt = time
        }
    }

    /// The rows of refused pushes, with their users' telephones.
    func refusals(_ reasons: some Collection<String>) -> [(LedgerRow, telephone: [UInt8])] {
        rows.filter { $0.state != .retrying && isAnswered($0, reasons) }
            .map { ($0, Array(devices.bytes[$0.telephone.range])) }
    }

    /// Whether the service gave this reason, and not the relay.
    private func isAnswered(_ row: LedgerRow, _ reasons: some Collection<String>) -> Bool {
        row.attempts > 0 && row.state != .expired && row.reason.map { reasons.contains($0) } ?? false
    }

    /// The devices among these whose pushes the service accepted.
    func taken(of devices: Set<Int64>) -> Set<Int64> {
        Set(rows.lazy.filter { $0.state == .accepted && devices.contains($0.device) }.map(\.device))
    }

    /// How long its requests took to be answered.
    private var latency: LatencyHistogram {
        var latency = requests?.batch.latency ?? LatencyHistogram()
        if let secondTries = load?.sent?.secondTries.requests { latency.add(secondTries.batch.latency) }
        return latency
    }

    /// The commit for the ledger.
    func commit(for campaign: CampaignKey, _ settlement: Settlement, at now: Timestamp) -> LedgerCommit {
        var commit =
            switch source {
            case .retries:
                LedgerCommit(
                    campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: rows, devices: devices,
                    retirements: settlement.retirements)
            case .shard(let shard, let isLast):
                LedgerCommit(
                    campaign: campaign, shard: shard,
                    cursor: isLast ? shard.last : rows.last?.device ?? shard.last, shardDone: isLast, rows: rows,
                    devices: devices, retirements: settlement.retirements)
            }
        commit.corrections = service?.corrections(of: settlement.secondTries.taken) ?? []
        if run?.draw != nil { commit.waves = WaveTally.tallies(of: rows, areRetries: source == .retries) }
        let latency = latency
        if latency.count > 0 {
            commit.latency = LatencyStretch(at: now, begunAt: run?.record.begunAt ?? now, latency: latency)
        }
        return commit
    }

    /// Notes its commits: all that follows from its answers is decided.
    func settled(_ commits: Commits) {
        if let load { phase = .settled(load, commits) }
    }

    /// Gives its outcomes up.
    func drop() {
        if let load { phase = .dropped(load) }
    }

    /// Brings forward the times that were set by a clock that was ahead.
    func bringForward(to now: Timestamp) {
        guard var commits else { return }
        commits.outcomes.bringForward(to: now)
        commits.recalled?.bringForward(to: now)
        settled(commits)
    }

    /// How the batch ended, for the service's machine.
    var end: ServiceMachine.End {
        var end = ServiceMachine.End(source: schedulerSource, tag: tag, pushes: pushCount)
        if let batch = requests?.batch {
            let isOneEach = batch.isOneEach
            for (request, answer) in batch.answers.enumerated() {
                let pushes = isOneEach ? 1 : batch.pushes(of: request).count
                end.resends += max(0, Int(answer.sends) - 1) * pushes
                guard answer.kind == .unreachable || answer.kind == .unsent && answer.retryAfter >= 0 else { continue }
                end.unreached += pushes
                end.rest = max(end.rest, .seconds(Int64(answer.retryAfter)))
            }
        }
        for answer in load?.sent?.secondTries.requests?.batch.answers ?? [] {
            end.resends += max(0, Int(answer.sends) - 1)
        }
        if case .shard = source, let commits {
            end.shard = commits.outcomes.advanced
            end.earliestRetry =
                rows.lazy.filter { [service] in $0.state == .retrying && $0.channel == service?.key.channel }
                .compactMap(\.nextAttemptAt).min()
        }
        return end
    }

    func count(into tally: inout PushTally) {
        guard let service else { return }
        tally.add(rows, reasons: service.provider.knownReasons)
    }

    /// Frees the lanes' memory, keeps the batch's own.
    func clear() {
        // First, so that the buffers below have one owner again and are emptied in place. The targets are kept for the next batch:
        // nothing else has them now.
        spareTargets = requests?.targets ?? spareTargets
        phase = .spare
        leftAt = nil
        spareTargets.removeAll(keepingCapacity: true)
        devices.removeAll()
        rows.removeAll(keepingCapacity: true)
    }
}
