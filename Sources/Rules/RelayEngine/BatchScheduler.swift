// SPDX-License-Identifier: Apache-2.0

/// Decides which batch of one campaign's devices goes next to one push service. Pure: events in, one step out.
///
/// Each shard has at most one batch on its way, so that its cursor only ever moves over recorded outcomes; many shards
/// at once hide the push service's latency. At most one batch of retries is on its way, because its devices stay "due" in
/// the ledger until it is recorded.
package struct BatchScheduler: Sendable {
    package enum Step: Sendable, Equatable {
        /// Look up the shards that are left, and report them with `opened`.
        case openShards
        /// Read a batch of the shard.
        case readShard(ShardRange)
        /// Read a batch of due retries.
        case readRetries
        /// Nothing to read before an event, or before `until` where a retry is scheduled.
        case wait(until: Timestamp?)
    }

    /// Where a batch's devices came from.
    package enum Source: Sendable, Equatable {
        case shard(Int)
        case retries
    }

    private enum Retries: Sendable, Equatable {
        /// When the next one is due; nil when none is scheduled.
        case next(Timestamp?)
        case out
    }

    private var idle: [ShardRange] = []
    private var out: [Int: ShardRange] = [:]
    private var areOpened = false
    private var retries: Retries

    /// - Parameter nextRetry: when the ledger's next retry is due.
    package init(nextRetry: Timestamp?) {
        retries = .next(nextRetry)
    }

    package var batchesOut: Int { out.count + (retries == .out ? 1 : 0) }
    /// Every device of the known shards has an outcome; retries may follow.
    package var areShardsDone: Bool { areOpened && idle.isEmpty && out.isEmpty }
    /// Nothing is left to do, now or later.
    package var isDone: Bool { areShardsDone && retries == .next(nil) }

    /// - Parameters:
    ///   - most: batches that may be on their way.
    ///   - isProbe: whether the service is judged by what leaves now. Then first tries go before retries, which may have
    ///     failed for reasons of their own.
    package func next(at now: Timestamp, atMost most: Int, isProbe: Bool = false) -> Step {
        guard batchesOut < most else { return .wait(until: nil) }
        let retriesAt: Timestamp? = if case .next(let time) = retries { time } else { nil }
        let isRetryDue = retriesAt.map { $0 <= now } ?? false
        if isRetryDue, !isProbe { return .readRetries }
        if let shard = idle.last {
            // The last wave takes every device without an outcome: pushes on their way from an earlier wave would be sent
            // twice.
            if !out.values.contains(where: { $0.wave < shard.wave }) { return .readShard(shard) }
        } else if !areOpened {
            return .openShards
        }
        return isRetryDue ? .readRetries : .wait(until: retriesAt)
    }

    /// When the next retry is due, where nothing else is left and no batch is on its way.
    package var nextRetry: Timestamp? {
        if areShardsDone, case .next(let time) = retries { time } else { nil }
    }

    // MARK: What happened

    /// These shards are left, including those that are worked on already.
    package mutating func opened(_ shards: [ShardRange]) {
        let known = Set(idle.map(\.number)).union(out.keys)
        let fresh = shards.filter { !known.contains($0.number) }
        areOpened = true
        // Lowest number last, where `next` takes from.
        idle.append(contentsOf: fresh.sorted { $0.number > $1.number })
    }

    /// A batch was read and is on its way.
    package mutating func left(_ source: Source) {
        switch source {
        case .retries:
            retries = .out
        case .shard(let number):
            guard let index = idle.lastIndex(where: { $0.number == number }) else { return }
            out[number] = idle.remove(at: index)
        }
    }

    /// The shard's batch is recorded, and the shard is now `shard`; nil: the batch came back unsent and is read again later.
    package mutating func shardBatchEnded(_ number: Int, now shard: ShardRange?) {
        guard let before = out.removeValue(forKey: number) else { return }
        let left = shard ?? before
        if !left.isDone { idle.append(left) }
    }

    /// The retry batch is recorded, or there was nothing to read; `next` is when the ledger's next retry is due.
    package mutating func retryBatchEnded(next: Timestamp?) {
        retries = .next(next)
    }

    /// A push will be tried again at `time`.
    package mutating func retryScheduled(at time: Timestamp) {
        guard case .next(let known) = retries else { return }
        retries = .next(known.map { min($0, time) } ?? time)
    }

    /// A wave has begun: it has shards to take.
    package mutating func shardsWereAdded() {
        areOpened = false
    }
}
