// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import TestPeers
import Testing
import UpgradeRules

@testable import FanOut
@testable import PushSimulator

/// Tokens that are given up, and tokens that are kept.
@Suite(.ownThread) struct TokenHygieneLiveTests {
    // MARK: 410

    enum Stamp: CaseIterable {
        case before, at, after, none, secondsAfter, secondsBefore
    }

    @Test(arguments: Stamp.allCases)
    func aDeadTokenIsGivenUpOnlyWhereItDiedAfterItsRegistration(stamp: Stamp) throws {
        let bench = try LiveBench()
        try bench.register(1...3)
        let registered = bench.clock.now.milliseconds
        var script = FaultScript()
        script.deadTokens = [LiveBench.token(2)]
        switch stamp {
        case .before: script.deadSince = registered - 1
        case .at: script.deadSince = registered
        case .after: script.deadSince = registered + 1
        case .none: script.deadWithoutTimestamp = true
        case .secondsAfter: script.deadSince = registered / 1000 + 60
        case .secondsBefore: script.deadSince = registered / 1000 - 60
        }
        try bench.production.play(script)
        bench.clock.advance(by: .seconds(120))
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 2)
        #expect(end.figures.counts.unregistered == 1)
        let isGivenUp = [.at, .after, .secondsAfter].contains(stamp)
        #expect(try (bench.device(2).retiredAt != nil) == isGivenUp)
        #expect(try bench.retired() == (isGivenUp ? 1 : 0))

        // The next campaign pushes to the token only if it was kept, or has come back.
        try bench.raise("3.0")
        let next = try bench.wait(for: .completed)
        #expect(next.figures.filteredBy[.knownDead] == (isGivenUp ? 1 : nil))
        bench.clock.advance(by: .seconds(60))
        try bench.register([2])
        try bench.production.play(FaultScript())
        try bench.raise("4.0")
        #expect(try bench.wait(for: .completed).figures.counts.accepted == 3, "registering revives")
    }

    // MARK: Two worlds

    @Test func eachDeviceIsPushedToInItsOwnWorld() throws {
        let bench = try LiveBench(sandbox: FaultScript())
        try bench.register(1...100)
        try bench.register(101...130, environment: .sandbox)
        try bench.start()
        try bench.raise()
        #expect(try bench.wait(for: .completed).figures.counts.accepted == 130)
        let (production, sandbox) = (bench.production, try #require(bench.sandbox))
        #expect(production.figures.requests == 100)
        #expect(sandbox.figures.requests == 30)
        #expect((101...130).allSatisfy { sandbox.accepted().count(ofToken: LiveBench.token($0)) == 1 })
    }

    /// 1…20 are at home; 21…40 are registered for production and belong to the sandbox; 41…44 are bad in both; 45 is dead
    /// in the sandbox; 46 is registered for the sandbox and belongs to production.
    private func worlds() -> (production: FaultScript, sandbox: FaultScript) {
        var (production, sandbox) = (FaultScript(), FaultScript())
        production.badTokens = Set((21...45).map(LiveBench.token))
        sandbox.badTokens = Set((Array(1...20) + Array(41...44) + [46]).map(LiveBench.token))
        sandbox.deadTokens = [LiveBench.token(45)]
        return (production, sandbox)
    }

    private func bench(_ sandbox: (inout FaultScript) -> Void = { _ in }) throws -> LiveBench {
        var (production, other) = worlds()
        sandbox(&other)
        let bench = try LiveBench(production, sandbox: other)
        try bench.register(1...45)
        try bench.register([46], environment: .sandbox)
        return bench
    }

    @Test func aBadTokenIsTriedOnceInTheOtherWorldAndItsEnvironmentCorrected() throws {
        let bench = try bench()
        try bench.start { $0.triesOtherEnvironment = true }
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 41)
        #expect(end.figures.counts.rejected == 4)
        #expect(end.figures.counts.unregistered == 1)
        let sandbox = try #require(bench.sandbox)
        // No loop: each bad token once in each world.
        #expect(bench.production.figures.requests == 46)
        #expect(sandbox.figures.requests == 26)
        #expect(bench.production.figures.duplicates + sandbox.figures.duplicates == 0)
        for number in 1...46 {
            let environment = try bench.device(number).registration.environment
            #expect(environment == ((21...40).contains(number) ? .sandbox : .production), "\(number)")
        }
        #expect(try bench.device(45).retiredAt != nil, "the 410 of the world that knows it")
        #expect(try bench.delivery(30).attempts == 2)
        #expect(try bench.delivery(1).attempts == 1)
        #expect(try bench.delivery(42).reason == "BadDeviceToken")

        // The next campaign knows where they are.
        try bench.raise("3.0")
        let next = try bench.wait(for: .completed)
        #expect(next.figures.counts.accepted == 41)
        #expect(bench.production.figures.requests == 46 + 25)
        #expect(sandbox.figures.requests == 26 + 24)
    }

    @Test func withoutTheKeyABadTokenIsTriedNowhereElse() throws {
        let bench = try bench()
        try bench.start()
        try bench.raise()
        // 25 of production's 45 are bad: not nearly all.
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.rejected == 26)
        #expect(bench.production.figures.requests == 45)
        #expect(bench.sandbox?.figures.requests == 1)
        #expect(try bench.device(30).registration.environment == .production)
    }

    @Test func aWorldThatRefusesTheKeyStopsNothing() throws {
        let bench = try bench { $0.refusals = .init(reason: "BadEnvironmentKeyInToken") }
        try bench.register([46], telephone: { _ in nil })
        try bench.start { $0.triesOtherEnvironment = true }
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 20)
        #expect(end.figures.counts.rejected == 25, "the first answers stand")
        #expect(
            try #require(bench.sandbox?.figures.requests) <= ConnectionMachine.doubtLimit,
            "it is not asked again and again")
        #expect(
            bench.lines.wait(for: "bad tokens are not tried in the other environment for now", deadline: .seconds(60)))
    }

    @Test func aWorldThatCannotBeReachedHoldsNothingUp() throws {
        let bench = try bench()
        try bench.register([46])
        let nobody = try Loopback.ReservedPort()
        try bench.start {
            $0.triesOtherEnvironment = true
            $0.sandbox.origin = Origin(host: "127.0.0.1", port: nobody.port)
        }
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 21)
        #expect(end.figures.counts.rejected == 25, "the first answers stand")
    }

    @Test func tokensThatAreAllAtHomeInTheOtherWorldDoNotTripTheBreaker() throws {
        var script = FaultScript()
        script.badTokens = Set((1...300).map(LiveBench.token))
        let bench = try LiveBench(script, sandbox: FaultScript())
        try bench.register(1...300)
        try bench.start { $0.triesOtherEnvironment = true }
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 300)
        // A service that calls all tokens bad moves none: the devices are pushed to in the other world all the same.
        #expect(try bench.device(300).registration.environment == .production)
    }

    @Test func tokensThatAreAtHomeNowhereTripIt() throws {
        var script = FaultScript()
        script.badTokens = Set((1...300).map(LiveBench.token))
        let bench = try LiveBench(script, sandbox: script)
        try bench.register(1...300)
        try bench.start { $0.triesOtherEnvironment = true }
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        #expect(stopped.figures.counts.rejected == 0)
        #expect(stopped.facts.reason?.hasPrefix("BadDeviceToken: 64 of the first 64 pushes") == true)
    }
}
