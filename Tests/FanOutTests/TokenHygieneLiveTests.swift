// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
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

    // MARK: Between batch and answer

    /// Everything that may happen to a device while its push is on its way; the answers take four seconds.
    @Test func whatHappensBetweenBatchAndAnswerIsKeptApart() throws {
        var script = FaultScript()
        script.deadTokens = Set([2, 3].map(LiveBench.token))
        script.busyTokens = Set([5, 7].map(LiveBench.token))
        script.busyTries = 1
        // The service's clock is far ahead: its times of death are later than any registration here.
        script.deadSince = Int64(Date.now.timeIntervalSince1970 * 1000) + 3_600_000
        let bench = try LiveBench(script, latency: .seconds(4))
        try bench.register(1...8)
        try bench.start()
        bench.clock.advance(by: .seconds(1))
        try bench.raise()
        // The first push goes alone and opens the connection for the others.
        try #require(bench.production.wait(forRequests: 8, deadline: .seconds(60)))
        bench.clock.advance(by: .seconds(1))
        // 2 registers again; 3 does not. 4 and 5 now have another user; 6 and 7 are deleted; 8 has upgraded.
        try bench.register([2])
        try bench.register([4, 5], telephone: { "1999\($0)" })
        for number in [6, 7] { try bench.remove(number) }
        try bench.register([8], version: "2.0")
        #expect(try bench.campaign().figures.counts.pending == 8, "no answer has come yet")

        let isRecorded = try bench.until {
            let counts = try bench.campaign().figures.counts
            return counts.retrying == 2 && counts.unregistered == 2 && counts.accepted == 4
        }
        try #require(isRecorded)
        #expect(try bench.device(2).retiredAt == nil, "it registered again since it was pushed to")
        #expect(try bench.delivery(4).telephone == LiveBench.telephone(4), "the user that the push was for")
        #expect(try bench.device(4).registration.telephone == "19994")
        #expect(try bench.delivery(6).state == .accepted, "the ledger keeps what was sent")
        #expect(try bench.delivery(8).state == .accepted)

        // The retries are read anew: 5's new user gets the push, 7 is gone.
        let end = try bench.passTime(to: .completed, by: .seconds(5))
        #expect(try bench.device(3).retiredAt != nil, "no later answer spoke for it")
        #expect(end.figures.counts.accepted == 5)
        #expect(end.figures.counts.unregistered == 2)
        #expect(end.figures.counts.filtered == 1)
        let moved = try bench.delivery(5)
        #expect(moved.state == .accepted)
        #expect(moved.telephone == "19995")
        #expect(moved.attempts == 2)
        #expect(try bench.delivery(7).state == .filtered)

        // The next campaign pushes to the present users of the devices.
        try bench.production.play(FaultScript())
        try bench.raise("3.0")
        let next = try bench.wait(for: .completed)
        #expect(next.figures.counts.accepted == 5, "1, 2, 4, 5 and 8; 3 is dead, 6 and 7 are deleted")
        #expect(try bench.delivery(4).telephone == "19994")
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
