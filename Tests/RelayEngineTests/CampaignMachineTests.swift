// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// Traces of one campaign: what the machine says after each event.
@Suite struct CampaignMachineTests {
    private let start = Timestamp(seconds: 1_000)

    private func machine(batches: Int = 4, nextRetry: Timestamp? = nil) -> CampaignMachine {
        var limits = CampaignMachine.Limits()
        limits.batchSize = 100
        limits.probeSize = 10
        limits.batchesAtOnce = batches
        return CampaignMachine(limits: limits, nextRetry: nextRetry)
    }

    private func shard(_ number: Int, cursor: Int64? = nil) -> CampaignMachine.ShardRange {
        .init(number: number, cursor: cursor ?? Int64(number * 1000), last: Int64(number * 1000 + 999))
    }

    @Test func aCampaignWithoutDevicesIsCompleteAtOnce() {
        var machine = machine()
        #expect(machine.next(at: start) == .leaseShards(limit: 8))
        machine.leased([])
        #expect(machine.next(at: start) == .complete)
    }

    @Test func theFirstBatchIsASmallProbeAndNothingFollowsBeforeItIsRecorded() {
        var machine = machine()
        machine.leased([shard(0), shard(1)])
        #expect(machine.next(at: start) == .readShard(shard(0), limit: 10))
        machine.shardBatchLeft(0)
        #expect(machine.next(at: start) == .wait(until: nil))
        machine.shardBatchRecorded(0, cursor: 9, isDone: false)
        #expect(machine.next(at: start) == .readShard(shard(0, cursor: 9), limit: 100))
    }

    @Test func aProbeThatMetNobodyIsFollowedByAnother() {
        var machine = machine(nextRetry: start)
        #expect(machine.next(at: start) == .readRetries(limit: 10))
        machine.retryBatchLeft()
        machine.batchMetNobody()
        machine.retryBatchEnded(next: start + .seconds(1))
        machine.leased([shard(0)])
        #expect(machine.next(at: start) == .readShard(shard(0), limit: 10))
        machine.shardBatchLeft(0)
        machine.batchMetNobody()
        machine.shardBatchRecorded(0, cursor: 9, isDone: false)
        #expect(machine.next(at: start) == .readShard(shard(0, cursor: 9), limit: 10))
        machine.shardBatchLeft(0)
        machine.shardBatchRecorded(0, cursor: 19, isDone: false)
        #expect(machine.next(at: start) == .readShard(shard(0, cursor: 19), limit: 100))
        // Once it has passed, it has.
        machine.shardBatchLeft(0)
        machine.batchMetNobody()
        machine.shardBatchRecorded(0, cursor: 119, isDone: false)
        #expect(machine.next(at: start) == .readShard(shard(0, cursor: 119), limit: 100))
    }

    @Test func aShardHasOneBatchOnItsWayAndOthersGoBesideIt() {
        var machine = machine()
        machine.leased([shard(0), shard(1), shard(2)])
        machine.shardBatchLeft(0)
        machine.shardBatchRecorded(0, cursor: 9, isDone: false)
        machine.shardBatchLeft(0)
        #expect(machine.next(at: start) == .readShard(shard(1), limit: 100))
        machine.shardBatchLeft(1)
        #expect(machine.next(at: start) == .readShard(shard(2), limit: 100))
        machine.shardBatchLeft(2)
        #expect(machine.next(at: start) == .leaseShards(limit: 8))
        machine.leased([shard(0), shard(1), shard(2)])
        #expect(machine.next(at: start) == .wait(until: nil), "what is held already is not begun again")
    }

    @Test func batchesOnTheirWayAreBounded() {
        var machine = machine(batches: 2)
        machine.leased([shard(0), shard(1), shard(2)])
        machine.shardBatchLeft(0)
        machine.shardBatchRecorded(0, cursor: 9, isDone: true)
        machine.shardBatchLeft(1)
        machine.shardBatchLeft(2)
        #expect(machine.batchesOut == 2)
        machine.leased([shard(3)])
        #expect(machine.next(at: start) == .wait(until: nil))
        machine.shardBatchRecorded(1, cursor: 1999, isDone: true)
        #expect(machine.next(at: start) == .readShard(shard(3), limit: 100))
    }

    @Test func asManyMayBeOutAsWasSaidLast() {
        var machine = machine(batches: 1)
        machine.leased([shard(0), shard(1), shard(2)])
        machine.mayHaveOut(3)
        machine.shardBatchLeft(0)
        #expect(machine.next(at: start) == .wait(until: nil), "the probe is alone all the same")
        machine.shardBatchRecorded(0, cursor: 9, isDone: true)
        machine.shardBatchLeft(1)
        #expect(machine.next(at: start) == .readShard(shard(2), limit: 100))
        machine.shardBatchLeft(2)
        #expect(machine.next(at: start) == .leaseShards(limit: 6))
        machine.mayHaveOut(2)
        #expect(machine.next(at: start) == .wait(until: nil))
        machine.shardBatchRecorded(1, cursor: 1999, isDone: true)
        #expect(machine.next(at: start) == .leaseShards(limit: 4))
    }

    @Test func dueRetriesGoBeforeFreshDevicesAndOneBatchAtATime() {
        var machine = machine(nextRetry: start)
        machine.leased([shard(0)])
        #expect(machine.next(at: start) == .readRetries(limit: 10))
        machine.retryBatchLeft()
        #expect(machine.next(at: start) == .wait(until: nil), "the retries are the probe")
        machine.retryBatchEnded(next: start)
        #expect(machine.next(at: start) == .readRetries(limit: 100))
        machine.retryBatchLeft()
        machine.retryScheduled(at: start)
        #expect(machine.next(at: start) == .readShard(shard(0), limit: 100))
        machine.retryBatchEnded(next: nil)
        #expect(machine.next(at: start) == .readShard(shard(0), limit: 100))
    }

    /// The service was away: whether the batch that found it well again is one of a shard's or of retries.
    @Test(arguments: [false, true])
    func theNextBatchIsSmallAgainWhereThatIsWanted(isOfRetries: Bool) {
        var machine = machine(nextRetry: isOfRetries ? start : nil)
        machine.leased([shard(0), shard(1), shard(2)])
        if isOfRetries { machine.retryBatchLeft() } else { machine.shardBatchLeft(0) }
        machine.probeAgain()
        #expect(machine.next(at: start) == .wait(until: nil), "what is out comes in first")
        if isOfRetries {
            machine.retryBatchEnded(next: nil)
        } else {
            machine.shardBatchRecorded(0, cursor: 9, isDone: true)
        }
        #expect(machine.next(at: start) == .readShard(shard(isOfRetries ? 0 : 1), limit: 10))
        machine.shardBatchLeft(isOfRetries ? 0 : 1)
        #expect(machine.next(at: start) == .wait(until: nil))
        machine.shardBatchRecorded(isOfRetries ? 0 : 1, cursor: 999, isDone: true)
        #expect(machine.next(at: start) == .readShard(shard(isOfRetries ? 1 : 2), limit: 100))
    }

    @Test func aScheduledRetryIsWaitedForAndKeepsTheCampaignOpen() {
        var machine = machine()
        machine.leased([shard(0)])
        machine.shardBatchLeft(0)
        machine.retryScheduled(at: start + .seconds(9))
        machine.retryScheduled(at: start + .seconds(5))
        machine.shardBatchRecorded(0, cursor: 999, isDone: true)
        machine.leased([])
        #expect(machine.next(at: start) == .wait(until: start + .seconds(5)))
        #expect(machine.next(at: start + .seconds(5)) == .readRetries(limit: 100))
        machine.retryBatchLeft()
        machine.retryBatchEnded(next: nil)
        #expect(machine.next(at: start + .seconds(6)) == .complete)
    }

    @Test func aBatchThatComesBackUnsentIsReadAgainFromTheSameCursor() {
        var machine = machine()
        machine.leased([shard(0)])
        machine.shardBatchLeft(0)
        machine.shardBatchReturned(0)
        #expect(machine.next(at: start) == .readShard(shard(0), limit: 10), "it is still the probe")
    }

    @Test func afterAHaltNothingBeginsAndItStopsWhenAllIsIn() {
        var machine = machine(nextRetry: start)
        machine.leased([shard(0)])
        machine.shardBatchLeft(0)
        machine.halt()
        #expect(machine.next(at: start) == .wait(until: nil))
        #expect(!machine.isStopped)
        machine.shardBatchRecorded(0, cursor: 9, isDone: false)
        #expect(machine.isStopped)
        #expect(machine.next(at: start) == .wait(until: nil))
    }
}
