// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Testing

@testable import FanOut
@testable import PushSimulator

/// A push service that answers 5xx to everything gets no pushes until a probe of a few finds that it is well again.
///
/// The clock stands still: a probe leaves when the test lets its time come, and every request is counted.
@Suite(.serialized, .ownThread) struct OutageLiveTests {
    private static let devices = 5_000
    /// A campaign's first batch, and a probe.
    private static let (first, probe) = (64, OutageHold.probeSize)
    private static let begins = "the push service answers 5xx: sending is held"
    private static let ends = "the push service takes pushes again: sending goes on"

    private static func outage(after good: Int = 0, retryAfter: Int? = nil) -> FaultScript {
        var script = FaultScript()
        script.serviceErrors = .init(afterN: good, count: .max, retryAfter: retryAfter)
        return script
    }

    /// - Parameter change: changes the app's route.
    private func bench(
        _ script: FaultScript, sandbox: FaultScript? = nil, maximumStreams: Int = 1000,
        change: @escaping (inout AppRoute) -> Void = { _ in }
    ) throws -> LiveBench {
        let bench = try LiveBench(script, sandbox: sandbox, maximumStreams: maximumStreams)
        try bench.start(change: change)
        return bench
    }

    /// nil while there is no campaign yet.
    private func recorded(_ bench: LiveBench) throws -> CampaignCounts? {
        try bench.store.campaigns(before: nil, limit: 1).first?.figures.counts
    }

    private func counts(of bench: LiveBench) -> Comment { "\((try? recorded(bench)) as Any)" }

    /// Waits until all pushes but those that met the outage are sent, and lets the time of those come: 15 minutes and a
    /// quarter. In all, the clock passes less than the 50 minutes of a provider token, because the push service's own clock
    /// stands still.
    private func finish(_ bench: LiveBench, _ devices: Int, inVain vain: Int) throws -> CampaignRecord {
        let isSent = try bench.until(deadline: .seconds(180)) {
            try recorded(bench)?.accepted == Int64(devices - vain)
        }
        try #require(isSent, counts(of: bench))
        bench.clock.advance(by: .seconds(1_200))
        bench.fanOut?.poke()
        return try bench.wait(for: .completed, deadline: .seconds(180))
    }

    /// Waits until `retrying` pushes are recorded for a retry.
    private func settle(_ bench: LiveBench, retrying: Int) throws {
        let isThere = try bench.until { try recorded(bench)?.retrying == Int64(retrying) }
        try #require(isThere, counts(of: bench))
    }

    /// Lets the time of probe `number`, counted from 1, come.
    private func passPause(_ bench: LiveBench, before number: Int) {
        // The pause has up to a quarter of jitter.
        bench.clock.advance(by: .milliseconds(min(300_000, 10_000 << Int64(number - 1)) * 5 / 4))
        bench.fanOut?.poke()
    }

    private func fault(_ bench: LiveBench) -> String? { bench.fanOut?.faults()["outage:\(LiveBench.app.app)"] }

    @Test func aServiceThatIsDownGetsFewPushesAndThenAll() throws {
        let bench = try bench(Self.outage())
        try bench.register(1...Self.devices)
        try bench.raise()
        try #require(bench.lines.wait(for: Self.begins, deadline: .seconds(60)))
        try settle(bench, retrying: Self.first)
        // The five probes take less than the 15 minutes of the pushes that met the outage.
        for number in 1...5 {
            passPause(bench, before: number)
            try settle(bench, retrying: Self.first + number * Self.probe)
        }
        let vain = Self.first + 5 * Self.probe
        #expect(bench.production.figures.requests == vain)
        let held = try bench.campaign()
        #expect(held.state == .running)
        let fault = try #require(self.fault(bench))
        #expect(fault.hasPrefix("the push service answers 503 ServiceUnavailable to nearly every push: sending waits"))
        let told = bench.until { bench.fanOut?.figures(of: held.key).trouble == self.fault(bench) }
        #expect(told, "the campaign's status says it")
        let environments = try #require(bench.fanOut?.channels(of: LiveBench.app))
        #expect(environments.map { $0.waits.contains(.outage) } == [true, false])
        #expect(environments.allSatisfy { !$0.waits.contains(.unreachable) })

        try bench.production.play(FaultScript())
        passPause(bench, before: 6)
        let isSent = try bench.until { try recorded(bench)?.accepted == Int64(Self.devices - vain) }
        try #require(isSent, counts(of: bench))
        #expect(bench.until { self.fault(bench) == nil })
        // The pushes that met the outage wait for their own schedule.
        #expect(try recorded(bench)?.retrying == Int64(vain))
        #expect(bench.production.figures.requests == Self.devices)
        let end = try finish(bench, Self.devices, inVain: vain)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.production.figures.requests == Self.devices + vain)
        #expect(bench.production.figures.distinctTokens == Self.devices)
        #expect(bench.production.figures.duplicates == 0)
        #expect(bench.lines.count(of: Self.begins) == 1 && bench.lines.count(of: Self.ends) == 1)
    }

    /// One connection: the service sees the pushes in the order of their batches of 500.
    @Test func anOutageInMidCampaignStopsIt() throws {
        let devices = 12_000
        let bench = try bench(Self.outage(after: 1_000), maximumStreams: 50) { $0.production.maximumConnections = 1 }
        try bench.register(1...devices)
        try bench.raise()
        try #require(bench.lines.wait(for: Self.begins, deadline: .seconds(60)))
        let campaign = try bench.campaign().key
        let isQuiet = try bench.until {
            guard let figures = bench.fanOut?.figures(of: campaign), figures.trouble != nil else { return false }
            let accepted = try recorded(bench)?.accepted
            return figures.shardRequestsOut + figures.retryRequestsOut == 0 && accepted == 1_000
        }
        try #require(isQuiet, counts(of: bench))
        let sent = bench.production.figures.requests
        // The first batch, three that had good answers, and 17 that may be on their way at once. Pushes of those that had not
        // left yet were called back: how many depends on which thread is quicker.
        print("an outage after 1000 of \(devices): \(sent - 1_000) in vain")
        #expect((1_020...64 + 20 * 500).contains(sent), "\(sent)")
        try bench.production.play(FaultScript())
        passPause(bench, before: 1)
        let end = try finish(bench, devices, inVain: sent - 1_000)
        #expect(end.figures.counts.accepted == Int64(devices))
        #expect(bench.production.figures.requests == devices + sent - 1_000)
        #expect(bench.production.figures.distinctTokens == devices)
        #expect(bench.production.figures.duplicates == 0)
    }

    /// 60 bad answers in each 436 to 500.
    @Test func badAnswersAmongGoodOnesHoldNothing() throws {
        var script = FaultScript()
        script.serviceErrors = .init(afterN: 700, count: 60)
        let bench = try bench(script)
        try bench.register(1...Self.devices)
        try bench.raise()
        let end = try finish(bench, Self.devices, inVain: 60)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.production.figures.requests == Self.devices + 60)
        #expect(bench.lines.count(of: Self.begins) == 0)
    }

    @Test func retryAfterIsWaitedFor() throws {
        let bench = try bench(Self.outage(retryAfter: 120))
        try bench.register(1...1_000)
        try bench.raise()
        try settle(bench, retrying: Self.first)
        // Without Retry-After the first probe would leave now.
        bench.clock.advance(by: .seconds(119))
        bench.fanOut?.poke()
        #expect(!bench.production.wait(forRequests: Self.first + 1, deadline: .milliseconds(500)))
        try bench.production.play(FaultScript())
        // A quarter of jitter, and the rounding up to a whole tenth of a second.
        bench.clock.advance(by: .seconds(32))
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 1_000)
        #expect(bench.production.figures.requests == 1_000 + Self.first)
    }

    @Test func aHeldCampaignCanBePausedResumedAndCancelled() throws {
        let bench = try bench(Self.outage())
        try bench.register(1...Self.devices)
        try bench.raise()
        try settle(bench, retrying: Self.first)
        func move(_ event: CampaignChange) throws {
            let key = try bench.campaign().key
            try #require(
                try bench.store.move(key, event, at: bench.clock.now))
            bench.fanOut?.poke()
        }
        // The fault is shown a moment after the pushes are recorded; before that, its absence would prove nothing.
        try #require(bench.until { self.fault(bench) != nil })
        // Nothing waits for the service while no campaign sends, and a resumed campaign asks at once.
        try move(.paused)
        try #require(bench.until { self.fault(bench) == nil })
        #expect(bench.production.figures.requests == Self.first)
        try move(.resumed)
        try settle(bench, retrying: 2 * Self.first)
        try #require(bench.until { self.fault(bench) != nil })
        try move(.cancelled)
        try #require(bench.until { self.fault(bench) == nil })
        let end = try bench.wait(for: .cancelled)
        #expect(end.figures.counts.cancelled == Int64(Self.devices))
        #expect(bench.production.figures.requests == 2 * Self.first)
        #expect(bench.lines.count(of: Self.begins) == 2)
        #expect(bench.lines.count(of: "the push service is not waited for any more") == 2)
    }

    @Test func aNewerRequirementWaitsForTheServiceToo() throws {
        let bench = try bench(Self.outage())
        try bench.register(1...1_000)
        try bench.raise()
        try settle(bench, retrying: Self.first)
        try bench.raise("3.0")
        try #require(bench.lines.wait(for: "a newer requirement superseded the campaign", deadline: .seconds(60)))
        try bench.production.play(FaultScript())
        passPause(bench, before: 1)
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 1_000)
        #expect(bench.production.figures.requests == 1_000 + Self.first, "the hold went on")
        #expect(bench.lines.count(of: Self.begins) == 1)
    }

    @Test func aPaceIsKeptBeforeAndAfter() throws {
        let bench = try bench(Self.outage()) { $0.pace = Pace(ratePerSecond: 1_000) }
        try bench.register(1...500)
        try bench.raise()
        try #require(bench.lines.wait(for: Self.begins, deadline: .seconds(60)))
        let campaign = try bench.campaign().key
        let isQuiet = bench.until {
            guard let figures = bench.fanOut?.figures(of: campaign), figures.trouble != nil else { return false }
            return figures.shardRequestsOut + figures.retryRequestsOut == 0
        }
        try #require(isQuiet)
        // Batches are small: the sample is full after several. How many leave until then depends on the pace.
        let sent = bench.production.figures.requests
        #expect(sent >= OutageHold.sample, "\(sent)")
        try bench.production.play(FaultScript())
        passPause(bench, before: 1)
        let end = try finish(bench, 500, inVain: sent)
        #expect(end.figures.counts.accepted == 500)
        #expect(bench.production.figures.requests == 500 + sent)
    }

    @Test func aWaveWaitsForTheServiceAndTheNextForTheWave() throws {
        let bench = try bench(Self.outage()) {
            $0.waves = WavePlan(ends: [5_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.register(1...1_000)
        try bench.raise()
        try settle(bench, retrying: Self.first)
        #expect(try bench.campaign().figures.waves.list.first?.endedAt == nil)
        try bench.production.play(FaultScript())
        passPause(bench, before: 1)
        let isOver = try bench.until { try bench.campaign().figures.waves.list.first?.endedAt != nil }
        try #require(isOver, counts(of: bench))
        let wave = try #require(try bench.campaign().figures.waves.current)
        #expect(wave.number == 0 && wave.retrying == Int64(Self.first) && wave.failed == 0)
        #expect(wave.accepted == wave.devices - Int64(Self.first))
        #expect(bench.production.figures.requests == Int(wave.devices))
        bench.clock.advance(by: .seconds(600))
        bench.fanOut?.poke()
        let end = try finish(bench, 1_000, inVain: Self.first)
        #expect(end.figures.waves.list.map(\.accepted) == end.figures.waves.list.map(\.devices))
        #expect(bench.production.figures.requests == 1_000 + Self.first)
    }

    // MARK: Two services

    /// A thousand devices; every tenth is a development build.
    private func registerBoth(_ bench: LiveBench) throws {
        for first in stride(from: 1, to: 1_000, by: 10) {
            try bench.register(first..<first + 9)
            try bench.register([first + 9], environment: .sandbox)
        }
    }

    @Test func anOutageOfTheMainServiceIsNotHiddenByTheOther() throws {
        let bench = try bench(Self.outage(), sandbox: FaultScript())
        try registerBoth(bench)
        try bench.raise()
        try #require(bench.lines.wait(for: Self.begins, deadline: .seconds(60)))
        let isOver = try bench.until {
            guard let counts = try recorded(bench) else { return false }
            return counts.accepted == 100 && counts.retrying == Int64(Self.first)
        }
        try #require(isOver, counts(of: bench))
        #expect(bench.sandbox?.figures.requests == 100)
        let vain = bench.production.figures.requests
        #expect(vain == Self.first)
        try bench.production.play(FaultScript())
        passPause(bench, before: 1)
        let end = try finish(bench, 1_000, inVain: vain)
        #expect(end.figures.counts.accepted == 1_000)
        #expect(bench.production.figures.requests == 900 + vain)
        #expect(bench.sandbox?.figures.requests == 100)
    }
}
