// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// Traces of one campaign's batches for one service: the scheduler's decision after each event.
@Suite struct BatchSchedulerTests {
    private let start = Timestamp(seconds: 1_000)

    private func shard(_ number: Int, cursor: Int64? = nil) -> ShardRange {
        ShardRange(number: number, cursor: cursor ?? Int64(number * 1000), last: Int64(number * 1000 + 999))
    }

    @Test func withoutShardsAndRetriesAllIsDone() {
        var scheduler = BatchScheduler(nextRetry: nil)
        #expect(scheduler.next(at: start, atMost: 4) == .openShards)
        #expect(!scheduler.isDone)
        scheduler.opened([])
        #expect(scheduler.next(at: start, atMost: 4) == .wait(until: nil))
        #expect(scheduler.areShardsDone && scheduler.isDone)
    }

    @Test func aShardHasOneBatchOnItsWayAndOthersGoBesideIt() {
        var scheduler = BatchScheduler(nextRetry: nil)
        scheduler.opened([shard(0), shard(1), shard(2)])
        scheduler.left(.shard(0))
        scheduler.shardBatchEnded(0, now: shard(0, cursor: 9))
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(0, cursor: 9)))
        scheduler.left(.shard(0))
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(1)))
        scheduler.left(.shard(1))
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(2)))
        scheduler.left(.shard(2))
        #expect(scheduler.next(at: start, atMost: 4) == .wait(until: nil))
        scheduler.shardsWereAdded()
        #expect(scheduler.next(at: start, atMost: 4) == .openShards)
        scheduler.opened([shard(0), shard(1), shard(2)])
        #expect(scheduler.next(at: start, atMost: 4) == .wait(until: nil), "what is on its way is not begun again")
    }

    @Test func batchesOnTheirWayAreBounded() {
        var scheduler = BatchScheduler(nextRetry: nil)
        scheduler.opened([shard(1), shard(2), shard(3)])
        scheduler.left(.shard(1))
        scheduler.left(.shard(2))
        #expect(scheduler.batchesOut == 2)
        #expect(scheduler.next(at: start, atMost: 2) == .wait(until: nil))
        #expect(scheduler.next(at: start, atMost: 3) == .readShard(shard(3)), "as many as was said last")
        scheduler.shardBatchEnded(1, now: shard(1, cursor: 1999))
        #expect(scheduler.next(at: start, atMost: 2) == .readShard(shard(3)))
    }

    @Test func dueRetriesGoBeforeFreshDevicesAndOneBatchAtATime() {
        var scheduler = BatchScheduler(nextRetry: start)
        scheduler.opened([shard(0)])
        #expect(scheduler.next(at: start, atMost: 4) == .readRetries)
        scheduler.left(.retries)
        scheduler.retryScheduled(at: start)
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(0)))
        scheduler.retryBatchEnded(next: start)
        #expect(scheduler.next(at: start, atMost: 4) == .readRetries)
        scheduler.left(.retries)
        scheduler.retryBatchEnded(next: nil)
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(0)))
    }

    @Test func aScheduledRetryIsWaitedForAndKeepsItFromBeingDone() {
        var scheduler = BatchScheduler(nextRetry: nil)
        scheduler.opened([shard(0)])
        scheduler.left(.shard(0))
        scheduler.retryScheduled(at: start + .seconds(9))
        scheduler.retryScheduled(at: start + .seconds(5))
        scheduler.shardBatchEnded(0, now: shard(0, cursor: 999))
        #expect(scheduler.next(at: start, atMost: 4) == .wait(until: start + .seconds(5)))
        #expect(scheduler.areShardsDone && !scheduler.isDone)
        #expect(scheduler.next(at: start + .seconds(5), atMost: 4) == .readRetries)
        scheduler.left(.retries)
        #expect(!scheduler.isDone)
        scheduler.retryBatchEnded(next: nil)
        #expect(scheduler.isDone)
    }

    @Test func aBatchThatComesBackUnsentIsReadAgainFromTheSameCursor() {
        var scheduler = BatchScheduler(nextRetry: nil)
        scheduler.opened([shard(0)])
        scheduler.left(.shard(0))
        scheduler.shardBatchEnded(0, now: nil)
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(shard(0)))
    }

    @Test func aNewWaveHasShardsToTake() {
        var scheduler = BatchScheduler(nextRetry: nil)
        scheduler.opened([])
        #expect(scheduler.areShardsDone)
        scheduler.shardsWereAdded()
        #expect(!scheduler.areShardsDone)
        #expect(scheduler.next(at: start, atMost: 4) == .openShards)
    }

    /// A service that was in trouble has two waves to send at once; the last one takes every device without an outcome.
    @Test func aWaveWaitsForWhatIsOnItsWayOfTheOneBefore() {
        var scheduler = BatchScheduler(nextRetry: nil)
        let later = ShardRange(number: 1, wave: 1, cursor: 0, last: 999)
        scheduler.opened([shard(0), later])
        scheduler.left(.shard(0))
        #expect(scheduler.next(at: start, atMost: 4) == .wait(until: nil))
        scheduler.retryScheduled(at: start)
        #expect(scheduler.next(at: start, atMost: 4) == .readRetries)
        scheduler.shardBatchEnded(0, now: shard(0, cursor: 999))
        scheduler.retryBatchEnded(next: nil)
        #expect(scheduler.next(at: start, atMost: 4) == .readShard(later))
    }
}
