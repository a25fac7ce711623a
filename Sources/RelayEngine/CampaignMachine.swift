// SPDX-License-Identifier: Apache-2.0

/// Decides what the fan-out does next for one campaign. Pure: events in, one action out; it knows neither the store nor
/// the network.
///
/// Each shard has at most one batch on its way, so that its cursor only ever moves over recorded outcomes; many shards
/// at once hide the push service's latency. The campaign begins with one small batch, the *probe*: a bad key costs a few
/// pushes, not a few thousand. At most one batch of retries is on its way, because its devices stay "due" in the ledger
/// until it is recorded.
package struct CampaignMachine: Sendable {
    package struct Limits: Sendable, Equatable {
        /// Devices read at once.
        package var batchSize = 2000
        /// Devices in the first batch.
        package var probeSize = 64
        /// Batches on their way at once, retries included, before `mayHaveOut` says otherwise: bounds memory and what may be
        /// sent twice after a crash.
        package var batchesAtOnce = 16

        package init() {}
    }

    /// A leased shard as the machine needs to know it.
    package struct ShardRange: Sendable, Equatable {
        package var number: Int
        package var wave: Int
        package var cursor: Int64
        package var last: Int64

        package init(number: Int, wave: Int = 0, cursor: Int64, last: Int64) {
            self.number = number
            self.wave = wave
            self.cursor = cursor
            self.last = last
        }
    }

    package enum Action: Sendable, Equatable {
        /// Take shards, so that `limit` are held in all, and report them with `leased`.
        case leaseShards(limit: Int)
        /// Read a batch of the shard and report with `readShard`.
        case readShard(ShardRange, limit: Int)
        /// Read a batch of due retries and report with `readRetries`.
        case readRetries(limit: Int)
        /// Every device of the current wave has an outcome and there are more waves: note it and report with `waveEnded`.
        case endWave
        /// The next wave's time has come: begin it and report with `waveBegan`, or suspend the campaign and halt.
        case beginWave
        /// Every shard is done, no retry is scheduled and nothing is on its way: complete the campaign.
        case complete
        /// Nothing to do before an event, or before `until` where a retry or a wave is scheduled.
        case wait(until: Timestamp?)
    }

    private enum Probe: Sendable, Equatable {
        case due
        case out
        case passed
    }

    private enum Retries: Sendable, Equatable {
        /// When the next one is due; nil when none is scheduled.
        case next(Timestamp?)
        case out
    }

    private enum Wave: Sendable, Equatable {
        /// The last one, or the only one.
        case last
        /// Others are to come.
        case more
        /// The current one is over; the next may begin at this moment.
        case ended(next: Timestamp)
    }

    private let limits: Limits
    private var batchesAtOnce: Int
    private var probe = Probe.due
    private var idle: [ShardRange] = []
    private var out: [Int: ShardRange] = [:]
    private var allLeased = false
    private var retries: Retries
    private var wave: Wave
    /// Nothing new is begun.
    package private(set) var isHalted = false

    /// - Parameters:
    ///   - nextRetry: what the ledger says is scheduled.
    ///   - hasMoreWaves: the current wave is not the last. Default: there is but one.
    package init(limits: Limits, nextRetry: Timestamp?, hasMoreWaves: Bool = false) {
        self.limits = limits
        batchesAtOnce = limits.batchesAtOnce
        wave = hasMoreWaves ? .more : .last
        retries = .next(nextRetry)
    }

    /// Batches on their way.
    package var batchesOut: Int { out.count + (retries == .out ? 1 : 0) }
    /// Nothing new is begun; what is on its way comes in.
    package var isStopped: Bool { isHalted && batchesOut == 0 }

    // MARK: What to do

    package func next(at now: Timestamp) -> Action {
        guard !isHalted else { return .wait(until: nil) }
        guard batchesOut < (probe == .passed ? batchesAtOnce : 1) else { return .wait(until: nil) }
        let size = probe == .passed ? limits.batchSize : limits.probeSize
        var due: Timestamp?
        if case .next(let time?) = retries {
            if time <= now { return .readRetries(limit: size) }
            due = time
        }
        if let shard = idle.last { return .readShard(shard, limit: size) }
        // Twice what can be on its way: a lease is a transaction, and shards end one by one.
        if !allLeased { return .leaseShards(limit: 2 * batchesAtOnce) }
        guard out.isEmpty else { return .wait(until: due) }
        switch wave {
        case .last:
            if case .next(nil) = retries { return .complete }
            return .wait(until: due)
        case .more:
            return .endWave
        case .ended(let next):
            return next <= now ? .beginWave : .wait(until: due.map { min($0, next) } ?? next)
        }
    }

    // MARK: What happened

    /// So many batches may be on their way from now on; what is above it comes in.
    package mutating func mayHaveOut(_ batches: Int) {
        batchesAtOnce = max(1, batches)
    }

    /// The store gave these shards, among them those that are held already; nothing new means that none is left to take.
    package mutating func leased(_ shards: [ShardRange]) {
        let fresh = shards.filter { shard in out[shard.number] == nil && !idle.contains { $0.number == shard.number } }
        allLeased = fresh.isEmpty
        // Lowest number last, where `next` takes from.
        idle.append(contentsOf: fresh.sorted { $0.number > $1.number })
    }

    /// A batch of the shard was read and is on its way.
    package mutating func shardBatchLeft(_ number: Int) {
        guard let index = idle.lastIndex(where: { $0.number == number }) else { return }
        out[number] = idle.remove(at: index)
        if probe == .due { probe = .out }
    }

    /// The shard's batch is recorded, up to `cursor`.
    package mutating func shardBatchRecorded(_ number: Int, cursor: Int64, isDone: Bool) {
        guard var shard = out.removeValue(forKey: number) else { return }
        if probe == .out { probe = .passed }
        shard.cursor = cursor
        if !isDone { idle.append(shard) }
    }

    /// The shard's batch came back unsent as a whole and was not recorded: it is read again later.
    package mutating func shardBatchReturned(_ number: Int) {
        guard let shard = out.removeValue(forKey: number) else { return }
        if probe == .out { probe = .due }
        idle.append(shard)
    }

    /// No connection could be had for any push of a batch that is about to be recorded: as a probe it found out nothing.
    package mutating func batchMetNobody() {
        if probe == .out { probe = .due }
    }

    package mutating func retryBatchLeft() {
        retries = .out
        if probe == .due { probe = .out }
    }

    /// The retry batch is recorded, or there was nothing to read; `next` is what the ledger says is scheduled now.
    package mutating func retryBatchEnded(next: Timestamp?) {
        retries = .next(next)
        if probe == .out, out.isEmpty { probe = .passed }
    }

    /// A push of a shard batch is to be tried again at `time`.
    package mutating func retryScheduled(at time: Timestamp) {
        guard case .next(let known) = retries else { return }
        retries = .next(known.map { min($0, time) } ?? time)
    }

    /// The current wave is over and noted as such; `next` is when the next may begin. Told again when that changes.
    package mutating func waveEnded(next: Timestamp) {
        guard wave != .last else { return }
        wave = .ended(next: next)
    }

    /// The next wave has begun: it has shards to take.
    package mutating func waveBegan(hasMore: Bool) {
        wave = hasMore ? .more : .last
        allLeased = false
    }

    /// The service was away and answers again: the next batch is a small one, as at the beginning.
    package mutating func probeAgain() {
        probe = .due
    }

    /// The campaign was paused, suspended or ended, or the daemon stops.
    package mutating func halt() {
        isHalted = true
    }
}
