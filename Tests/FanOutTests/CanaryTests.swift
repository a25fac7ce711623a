// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing

@testable import FanOut
@testable import HTTP2

/// The pushes of a canary, service by service.
@Suite struct CanaryTests {
    private static let users = [5, 6].map(LiveBench.telephone)

    /// FAULTS 1.19: the addition was stored and shown, but no device was pushed to.
    @Test func whoIsAddedToARunningCanaryIsPushedToAndNobodyTwice() throws {
        let bench = try DispatcherBench()
        try bench.register(1...10)
        try bench.raise(canary: Self.users)
        bench.serve("production")
        #expect(try bench.counts.accepted == 2)
        try bench.raise(canary: Self.users + [LiveBench.telephone(7)])
        var sent = 0
        bench.serve("production") { _, _ in
            sent += 1
            return TestLane.Reply()
        }
        #expect(sent == 1)
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .running && campaign.isCanary && campaign.figures.counts.accepted == 3)
        #expect(campaign.figures.counts.pending == 7)
        #expect(Set(try bench.bench.deliveries().filter { $0.state == .accepted }.map(\.device)).count == 3)
        // Devices that register or are removed during the canary are counted as such; this one had its push.
        try bench.register(11...12)
        try bench.remove(6)
        #expect(try bench.counts.pending == 9)
    }

    /// FAULTS 1.2: the pause between waves released it to everybody.
    @Test func neitherTimeNorTheRulesBetweenWavesReleaseIt() throws {
        let bench = try DispatcherBench {
            $0.waves = WavePlan(ends: [3_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.register(1...300)
        try bench.raise(canary: Self.users)
        bench.serve("production")
        // Its time to live does not run out.
        bench.pass(.seconds(20 * 86_400))
        bench.turn()
        #expect(bench.lane.waiting(at: "production") == 0)
        let canary = try bench.bench.campaign()
        #expect(canary.state == .running && canary.isCanary && canary.figures.counts.accepted == 2)

        try bench.bench.store.decide(
            FanOutBench.app, .released(nil), by: Signature(by: "operator", via: "release", at: bench.now),
            in: RequirementMachine.Surroundings(now: bench.now))
        bench.turn([.poke])
        bench.serve("production")
        let first = try bench.bench.campaign()
        #expect(first.facts.expiresAt > bench.now)
        #expect(first.figures.waves.list.map(\.devices).reduce(0, +) == 298, "the canary is of no wave")
        #expect(first.inForce == nil, "in force for the first wave alone")
        bench.pass(.seconds(601))
        bench.turn()
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 300)
    }

    /// FAULTS 1.27: they were sent by the service of the campaign for everybody, and counted there.
    @Test func secondTriesOfACanaryGoByItsOwnService() throws {
        let bench = try DispatcherBench { $0.triesOtherEnvironment = true }
        try bench.register(1...10)
        try bench.register(11...400, environment: .sandbox)
        try bench.raise()
        bench.serve("production")
        #expect(bench.lane.waiting(at: "sandbox") > 0, "the ordinary campaign is under way there")
        try bench.raise("2.1", canary: Self.users)
        #expect(bench.lane.waiting(at: "production") == 2)
        bench.turn(bench.lane.answer("production", status: 400, reason: "BadDeviceToken"))
        let owners = bench.dispatcher.services.owners.values.filter { $0.1 }
        #expect(owners.map(\.0.key.track) == [.staged])
    }
}
