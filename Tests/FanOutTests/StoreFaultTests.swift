// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestStores
import Testing
import UpgradeRules

@testable import FanOut

/// A campaign while the store fails: a push that cannot be recorded is not sent, a sent push is recorded when the fault is
/// over, and nothing is sent twice, because no process died.
@Suite(.serialized, .ownThread) struct StoreFaultTests {
    private static let devices = 120
    private static let refuses = "the store refuses"
    private static let takesAgain = "the store takes outcomes again"

    /// Whether every fault is over: each was logged once when it began and once when it ended.
    private func isCalm(_ fanOut: FanOut, _ bench: StoreFaultBench) -> Bool {
        fanOut.faults().isEmpty
            && bench.lines.count(of: Self.refuses) == bench.lines.count(of: Self.takesAgain)
            && bench.lines.count(of: "the store cannot be watched")
                == bench.lines.count(of: "the store can be watched again")
    }

    /// A fault at some file system call of a campaign, for a number of calls, both from the seed. With `STORE_FAULTS=all` it
    /// comes at the first call, in the next campaign at the second, and so on. `STORE_FAULT_SEED` repeats a run. No campaign
    /// opens a file or maps more of the log's index.
    ///
    /// The number of calls in a campaign differs between machines, because it depends on how many answers come at once. A first
    /// campaign without a fault shows the approximate number, and the one after it meets its fault at the first call.
    @Test(arguments: [.full, .readOnly, .write, .sync, .read, .busy] as [StoreFaults.Kind])
    func aFaultAtEachMomentOfACampaignCostsNothing(kind: StoreFaults.Kind) throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["STORE_FAULT_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
        let isFull = environment["STORE_FAULTS"] == "all"
        var random = SeededGenerator(seed: seed)
        let bench = try StoreFaultBench()
        try bench.register(Self.devices)
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        var failed = 0
        var slowest = Duration.zero
        try bench.raise("2")
        bench.faults.arm(kind, first: 1, count: 0)
        fanOut.poke()
        try #require(try bench.wait { try isDone(bench, 2) })
        let calls = bench.faults.calls
        try #require(calls > 0)
        var round = 1
        while round < (isFull ? 400 : 13) {
            round += 1
            // Some faults stay until the disk is repaired.
            let lasts = random.next() % 4 == 0 ? Int.max : Int.random(in: 1...12, using: &random)
            let completed = bench.lines.count(of: "the campaign is complete")
            try bench.raise("\(round + 1)")
            let first = isFull || round == 2 ? round - 1 : .random(in: 1...calls, using: &random)
            bench.faults.arm(kind, first: first, count: lasts)
            fanOut.poke()
            if lasts == .max {
                // The fault was reported, or the campaign ran through without meeting it. The log shows the latter: then this
                // test's own look at the store may be what meets the fault.
                #expect(
                    bench.wait {
                        !fanOut.faults().isEmpty || bench.lines.count(of: "the campaign is complete") > completed
                    }, "seed \(seed), round \(round)")
            } else {
                #expect(try bench.wait { try bench.faults.failures >= lasts || isDone(bench, round + 1) })
            }
            let met = bench.faults.failures
            bench.faults.disarm()
            let mended = ContinuousClock.now
            let stage = "seed \(seed), round \(round), \(kind) for \(lasts) calls"
            try #require(try bench.wait { try isDone(bench, round + 1) }, "\(stage): \(fanOut.faults())")
            try #require(bench.wait { isCalm(fanOut, bench) }, "\(stage): \(fanOut.faults())")
            if met > 0 { slowest = max(slowest, .now - mended) }
            let end = try #require(bench.campaign())
            #expect(
                end.figures.counts.accepted == Int64(Self.devices)
                    && end.figures.counts.audience == Int64(Self.devices), "\(stage)")
            #expect(bench.simulator.figures.accepted == round * Self.devices, "\(stage): sent once each")
            failed += met > 0 ? 1 : 0
            if isFull, met == 0 { break }
        }
        let figures = bench.simulator.figures
        #expect(failed > 0, "seed \(seed): no campaign met its fault")
        #expect(figures.duplicates == 0)
        #expect(figures.distinctIDs == round * Self.devices)
        print(
            "fan-out, \(kind), seed \(seed): \(failed) campaigns of \(Self.devices) met a fault; lost 0, twice "
                + "\(figures.duplicates), at an end at most \(slowest) after it")
    }

    /// Whether the campaign of that requirement is complete; false if the store cannot be read.
    private func isDone(_ bench: StoreFaultBench, _ required: Int = 2) throws -> Bool {
        guard let campaign = bench.campaign() else { return false }
        return try campaign.requirement.version == Version("\(required)") && campaign.state == .completed
    }

    /// Every token is bad, and the service answers late. A connection with no good answer carries one push at a time, so the
    /// first batch takes that long for each of its pushes: a test that has seen the first one has the whole batch to arm its
    /// fault, before there is anything to record.
    private static func bad(after latency: Int) -> FaultScript {
        var script = FaultScript()
        script.badShare = 1
        script.latencyMs = latency
        return script
    }

    /// The breaker judges 20 answers. These are 12, and the store refuses them many times over: counted again at each try,
    /// they would make the breaker trip, or trust.
    @Test func answersCountOnceForTheBreakerHoweverOftenTheStoreRefusesThem() throws {
        let bench = try StoreFaultBench { $0.faults = Self.bad(after: 500) }
        try bench.register(12)
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2")
        fanOut.poke()
        try #require(bench.simulator.wait(forRequests: 1, deadline: .seconds(60)))
        bench.faults.arm(.sync, first: 1)
        try #require(bench.wait { fanOut.faults()["store"] != nil && bench.faults.failures > 20 })
        bench.faults.disarm()
        try #require(try bench.wait { try isDone(bench) })
        let end = try #require(bench.campaign())
        #expect(end.figures.counts.rejected == 12, "fewer than a sample prove nothing about the key")
    }

    /// A suspension that the store refuses stops the sending all the same, and is stored with the reason of the first try.
    @Test func aSuspensionThatTheStoreRefusesIsStoredWhenItTakesItAgain() throws {
        let bench = try StoreFaultBench { $0.faults = Self.bad(after: 100) }
        try bench.register(Self.devices)
        let fanOut = try bench.fanOut(probe: 30)
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2")
        // The fault begins after the lease of the shards, which needs a commit of its own.
        fanOut.poke()
        try #require(bench.simulator.wait(forRequests: 1, deadline: .seconds(60)))
        bench.faults.arm(.full, first: 1)
        try #require(bench.wait { fanOut.faults()["store"] != nil && bench.faults.failures > 20 })
        #expect(bench.simulator.figures.requests <= 30, "nothing goes out with a credential in doubt")
        bench.faults.disarm()
        try #require(
            bench.wait { bench.campaign()?.state == .suspended && bench.campaign()?.figures.counts.retrying == 20 })
        let end = try #require(bench.campaign())
        #expect(end.facts.reason?.hasPrefix("BadDeviceToken") == true)
        #expect(end.figures.counts.rejected == 0, "they wait for the repair")
        #expect(bench.lines.count(of: "the campaign is suspended") == 1)
        #expect(bench.lines.count(of: Self.refuses) == 1, "told once, not at each try")
        #expect(bench.wait { isCalm(fanOut, bench) })
    }

    /// The last commit of a campaign is its completion: no record after it would show that the store is well.
    @Test func theFaultEndsAlsoWhereNothingIsLeftToRecord() throws {
        let bench = try StoreFaultBench()
        try bench.register(1)
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        try bench.raise("2")
        fanOut.poke()
        try #require(try bench.wait { try isDone(bench) })
        // Paused and resumed with nothing left to do: the only work is to complete it.
        let campaign = try #require(bench.campaign())
        // The change itself takes the first lock, and the look that notices it meets the fault. A look that was under way may
        // take the first lock instead: the change is then tried again.
        try #require(
            bench.wait {
                bench.faults.arm(.busy, first: 2)
                let change =
                    "UPDATE campaign SET state = 'running', ended = NULL, finished_at = NULL WHERE id = \(campaign.key.row)"
                if (try? bench.store.administer(change)) != nil { return true }
                bench.faults.disarm()
                return false
            })
        fanOut.poke()
        try #require(bench.wait { fanOut.faults()["store"] != nil })
        bench.faults.disarm()
        try #require(try bench.wait { try isDone(bench) })
        #expect(bench.wait { isCalm(fanOut, bench) })
    }

    /// Another program in a long transaction: reported as such, and over as soon as it ends.
    @Test func anotherProgramsTransactionIsWaitedFor() throws {
        let bench = try StoreFaultBench()
        try bench.register(Self.devices)
        let outsider = try openStore(bench.path)
        defer { outsider.close() }
        try bench.raise("2")
        try outsider.administer("BEGIN IMMEDIATE")
        // The fan-out's first look meets the lock.
        let fanOut = try bench.fanOut()
        defer { fanOut.stop(within: .seconds(5)) }
        try #require(
            bench.wait { fanOut.faults().values.contains { $0.contains("Another program holds the write lock") } })
        #expect(bench.simulator.figures.requests == 0)
        try outsider.administer("ROLLBACK")
        try #require(try bench.wait { try isDone(bench) })
        #expect(bench.wait { isCalm(fanOut, bench) })
        #expect(bench.simulator.figures.accepted == Self.devices && bench.simulator.figures.duplicates == 0)
    }
}
