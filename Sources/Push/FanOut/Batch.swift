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

    /// The campaign that it is for; nil while it is spare.
    private(set) var run: CampaignRun?
    private(set) var service: PushService?
    private(set) var source = Source.retries
    private(set) var template: PushTemplate?
    /// Batches are numbered as they are filled.
    private(set) var tag = 0
    var devices = DeviceRows()
    /// One row for each device, once `settle` has run; until then only the rows of devices that get no push are final.
    private var rows: [LedgerRow] = []
    /// An empty array, whose memory the next batch uses.
    private var spareTargets: [PushTarget] = []
    private(set) var requests: Requests?
    /// Tokens that the service called bad, on their way to the app's other environment.
    private(set) var secondTries: Requests?

    /// The commit for the ledger, once it is known: a commit that fails is tried again unchanged.
    var settled: LedgerCommit?
    /// Whether tokens that the service called bad were not tried in the other environment, because of the app's hours,
    /// a pause of the credential, or a claim that may be lost.
    var isDeniedSecondTries = false
    /// Pushes recorded as refused before the credential was known to be at fault; they are tried again.
    var recalled: LedgerCommit?
    /// The batch's commits for the ledger.
    var commits: [LedgerCommit] { settled.map { [$0] + (recalled.map { [$0] } ?? []) } ?? [] }

    /// The channels of devices that are handed over to another of the app's services.
    private(set) var handedTo: Set<Channel> = []

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
        self.run = run
        self.service = service
        self.source = source
        self.tag = tag
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
                handedTo.insert(row.channel)
            } else if source == .retries, !run.hasBegun(row, in: devices) {
                ledgerRow.state = .retrying
                ledgerRow.reason = "NotSent"
                ledgerRow.nextAttemptAt = now + Self.restBeforeItsWave
            } else if targets.count >= most {
                devices.cut(to: index)
                if case .shard(let shard, _) = source { self.source = .shard(shard, isLast: false) }
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
        self.template = template
        let batch = RequestBatch(
            template: template.request, tag: tag, capacity: targets.count, bytesPerRequest: provider.bytesPerPush)
        batch.reportsUnreachable = service.reportsUnreachable
        provider.append(targets, of: devices.bytes, campaign: run.idBytes, to: batch)
        requests = Requests(batch: batch, targets: targets, rows: targetRows)
    }

    // MARK: The other environment

    /// Builds requests to the app's other service for all tokens that this one called bad, once in a batch.
    ///
    /// - Returns: the requests to send; nil where no token was bad.
    func makeSecondTries(with template: PushTemplate) -> RequestBatch? {
        guard secondTries == nil, let run, let provider = service?.provider, let requests else { return nil }
        let bad = provider.badTokens(in: requests.batch)
        guard !bad.isEmpty else { return nil }
        let batch = RequestBatch(
            template: template.request, tag: tag, capacity: bad.count, bytesPerRequest: provider.bytesPerPush)
        // The batch must not wait for a server that is only asked as a check.
        batch.reportsUnreachable = true
        let targets = bad.map { requests.targets[$0] }
        provider.append(targets, of: devices.bytes, campaign: run.idBytes, to: batch)
        secondTries = Requests(batch: batch, targets: targets, rows: bad.map { requests.rows[$0] })
        return batch
    }

    /// Whether one of its answers calls for a pause of the credential.
    var wantsPause: Bool {
        guard let provider = service?.provider, let requests else { return false }
        return provider.wantsPause(requests.batch)
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
        guard let requests, let service else { return }
        let provider = service.provider
        settlement.settle(requests, of: &rows, devices: devices, by: provider, at: now)
        // Second tries come after the first answers, which they follow up.
        if let secondTries {
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

    /// The commit for the ledger.
    func commit(for campaign: CampaignKey, _ settlement: Settlement) -> LedgerCommit {
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
        commit.corrections = service?.corrections(of: settlement.takenByOther) ?? []
        if run?.draw != nil { commit.waves = WaveTally.tallies(of: rows, areRetries: source == .retries) }
        return commit
    }

    /// Brings forward the times that were set by a clock that was ahead.
    func bringForward(to now: Timestamp) {
        settled?.bringForward(to: now)
        recalled?.bringForward(to: now)
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
        for answer in secondTries?.batch.answers ?? [] { end.resends += max(0, Int(answer.sends) - 1) }
        if case .shard = source, let settled {
            end.shard = settled.advanced
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
        // First, so that the buffers below have one owner again and are emptied in place.
        settled = nil
        isDeniedSecondTries = false
        recalled = nil
        devices.removeAll()
        rows.removeAll(keepingCapacity: true)
        // Kept for the next batch: nothing else has them now.
        spareTargets = requests?.targets ?? spareTargets
        requests = nil
        spareTargets.removeAll(keepingCapacity: true)
        secondTries = nil
        template = nil
        run = nil
        service = nil
        handedTo.removeAll(keepingCapacity: true)
    }
}
