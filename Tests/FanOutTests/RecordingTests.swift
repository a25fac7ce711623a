// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import TestStores
import Testing

@testable import FanOut

/// Outcomes that the store cannot take, and how long the fan-out records without looking up.
@Suite(.serialized, .ownThread) struct RecordingTests {
    private static let leftOut = "outcomes of devices that have gone from the store are left out"
    private static let givenUp = "outcomes that the store cannot take are given up"

    /// Done once, on the fan-out's thread, as soon as `condition` holds there.
    private final class Once: Sendable {
        private let action = Mutex<(@Sendable () -> Bool)?>(nil)

        /// - Parameter action: returns whether it was the moment.
        func set(_ action: @escaping @Sendable () -> Bool) { self.action.withLock { $0 = action } }

        func look() {
            action.withLock { if $0?() == true { $0 = nil } }
        }

        var isDone: Bool { action.withLock { $0 == nil } }
    }

    /// Whether the ledger has any outcome.
    private static func hasOutcomes(_ store: any TestStore) -> Bool {
        (try? store.inspect("SELECT 1 FROM delivery_batch LIMIT 1")) == [["1"]]
    }

    private func wait(for state: CampaignState, _ bench: StoreFaultBench, _ fanOut: FanOut) throws -> CampaignRecord {
        let isThere = bench.wait { bench.campaign()?.state == state }
        try #require(isThere, "\(bench.campaign() as Any), \(fanOut.faults())")
        return try #require(bench.campaign())
    }

    private static func delete(_ devices: String, in store: any TestStore) throws {
        try store.administer(
            "PRAGMA foreign_keys = OFF; DELETE FROM device WHERE id IN (\(devices)); PRAGMA foreign_keys = ON")
    }

    // MARK: Devices that go

    /// Three shards have a batch each on its way while another connection holds the store and deletes a device of each, the
    /// first or the last, to which the batch's row refers.
    @Test func devicesThatAreDeletedWhileTheirPushesAreOutCostNobodyElse() throws {
        let bench = try StoreFaultBench()
        try bench.register(60)
        let outsider = try openStore(bench.path)
        defer { outsider.close() }
        let once = Once()
        let fanOut = try bench.fanOut(onClock: { once.look() })
        defer { fanOut.stop(within: .seconds(5)) }
        let store = bench.store
        // The first batch is recorded and the next ones are not read yet.
        once.set { Self.hasOutcomes(store) && (try? outsider.administer("BEGIN IMMEDIATE")) != nil }
        try bench.raise("2")
        fanOut.poke()
        try #require(bench.wait { bench.simulator.figures.accepted == 34 })
        try outsider.administer("DELETE FROM device WHERE id IN (5, 30, 50); COMMIT")
        let end = try wait(for: .completed, bench, fanOut)
        #expect(end.figures.counts.accepted == 57 && end.figures.counts.audience == 57, "\(end.figures.counts)")
        #expect(bench.simulator.figures.accepted == 60 && bench.simulator.figures.duplicates == 0, "each sent once")
        #expect(bench.lines.count(of: Self.leftOut) == 3)
        #expect(bench.lines.count(of: Self.givenUp) == 0)
        let faults = try bench.store.check { _ in true }.filter { $0.check != "counts of devices" }
        #expect(faults.isEmpty, "\(faults)")
        #expect(bench.wait { fanOut.faults().isEmpty })
    }

    /// Two pushes wait for a retry, and one of their devices is deleted before it: its push ends like that of a user who logged
    /// out.
    @Test func aDeviceThatIsDeletedBeforeItsRetryEndsFiltered() throws {
        let bench = try StoreFaultBench {
            $0.faults.busyTokens = [LiveBench.token(2), LiveBench.token(3)]
            $0.faults.busyTries = 1
        }
        try bench.register(4)
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2")
        fanOut.poke()
        try #require(bench.wait { bench.campaign()?.figures.counts.retrying == 2 }, "\(bench.campaign() as Any)")
        try Self.delete("2", in: bench.store)
        bench.clock.advance(by: .seconds(600))
        fanOut.poke()
        let end = try wait(for: .completed, bench, fanOut)
        #expect(
            end.figures.counts.accepted == 3 && end.figures.counts.filtered == 1 && end.figures.counts.audience == 4,
            "\(end.figures.counts)")
        #expect(end.figures.filteredBy == [.noTelephone: 1])
        let faults = try bench.store.check { _ in true }.filter { $0.check.hasPrefix("counts of campaigns") }
        #expect(faults.isEmpty, "\(faults)")
    }

    /// A rule of the schema that no outcome keeps: the campaign is suspended with the reason, instead of sending in vain or
    /// holding up all others, and goes on when the rule is gone.
    @Test func aCampaignWhoseOutcomesTheStoreNeverTakesIsSuspended() throws {
        let bench = try StoreFaultBench()
        try bench.register(20)
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.store.administer(
            "CREATE TRIGGER refuses BEFORE INSERT ON delivery_batch BEGIN SELECT RAISE(ABORT, 'not today'); END")
        try bench.raise("2")
        fanOut.poke()
        let held = try wait(for: .suspended, bench, fanOut)
        #expect(held.facts.reason?.hasPrefix("StoreConflict: recording outcomes failed: not today") == true, "\(held)")
        #expect(held.figures.counts.pending == 20 && held.figures.counts.audience == 20, "\(held.figures.counts)")
        try #require(bench.wait { bench.lines.count(of: Self.givenUp) == 1 && fanOut.campaigns.isEmpty })
        #expect(bench.simulator.figures.requests == 4, "the first batch")
        #expect(fanOut.faults().isEmpty, "the store does what it is there for")
        try bench.store.administer("DROP TRIGGER refuses")
        try #require(
            try bench.store.move(held.key, .resumed, at: bench.clock.now))
        fanOut.poke()
        let end = try wait(for: .completed, bench, fanOut)
        #expect(end.figures.counts.accepted == 20 && end.figures.counts.audience == 20, "\(end.figures.counts)")
        #expect(bench.simulator.figures.distinctIDs == 20, "the same ids once more")
    }

    // MARK: Audiences in which everybody is filtered

    /// Nothing is sent, so only the thread itself makes it look up.
    @Test func aPauseIsSeenWhileEverybodyIsFiltered() throws {
        let bench = try StoreFaultBench()
        // All devices have the required version.
        try bench.register(20_000)
        let once = Once()
        let fanOut = try bench.fanOut(onClock: { once.look() }) {
            $0.recordingTurn = .zero
            // A thread that does not look at once never looks.
            $0.watchInterval = .seconds(3_600)
        }
        defer { fanOut.stop(within: .seconds(5)) }
        let (store, clock) = (bench.store, bench.clock)
        once.set { [weak fanOut] in
            guard let fanOut, Self.hasOutcomes(store), let campaign = try? store.campaigns(before: nil, limit: 1).first
            else { return false }
            _ = try? store.move(campaign.key, .paused, at: clock.now)
            fanOut.poke()
            return true
        }
        try bench.raise("1.0")
        fanOut.poke()
        try #require(bench.wait { once.isDone && fanOut.campaigns.isEmpty })
        let paused = try #require(bench.campaign())
        #expect(paused.state == .paused)
        // The devices that were read before the thread looked up: batches of 10, as many as the open streams are worth.
        #expect(
            paused.figures.counts.filtered > 0 && paused.figures.counts.filtered < 10_000, "\(paused.figures.counts)")
        #expect(paused.figures.counts.audience == 20_000)

        try #require(
            try store.move(paused.key, .resumed, at: clock.now))
        fanOut.poke()
        let end = try wait(for: .completed, bench, fanOut)
        #expect(end.figures.counts.filtered == 20_000 && end.figures.counts.audience == 20_000, "\(end.figures.counts)")
        #expect(bench.simulator.figures.requests == 0)
    }
}
