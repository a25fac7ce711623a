// SPDX-License-Identifier: Apache-2.0
import APNsSimulator
import Foundation
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Telemetry
import TestPeers
import Testing
import Threading

@testable import FanOut
@testable import HTTP2

/// When a token that its own environment calls bad is not tried in the other one.
@Suite(.ownThread) struct SecondTryTests {
    // MARK: What else the campaign was told

    enum Bar: CaseIterable {
        case none, pause, pastPause, otherIsHeld, ownIsHeld
        /// A push of the same batch had the answer.
        case pauseInTheBatch
    }

    /// What keeps first tries from a service keeps second ones from it too.
    @Test(arguments: Bar.allCases)
    func secondTriesWaitAsFirstOnesDo(bar: Bar) throws {
        let bench = try FanOutBench()
        defer { bench.store.close() }
        let nobody = try Loopback.ReservedPort()
        var route = bench.route(PoolConfiguration(origin: Origin(host: "127.0.0.1", port: nobody.port)))
        route.triesOtherEnvironment = true
        let lane = try Lane(name: "lane")
        defer { lane.stop(deadline: .zero) }
        let clock = bench.clock
        var conductor = Conductor(
            store: bench.store, routes: [route], lanes: [lane], configuration: FanOut.Configuration(),
            mailbox: try Mailbox(), board: FanOut.Board.Shared(), pulse: Pulse("test"),
            log: Log(minimum: .error) { _, _, _ in }, clock: { clock.now }, onVersions: { _ in })
        try bench.register(3)
        try bench.raise("2.0")
        let record = try #require(try bench.store.reconcile(FanOutBench.app, draft: route.draft, at: clock.now))
        let run = CampaignRun(record: record, route: route, limits: CampaignMachine.Limits(), nextRetry: nil)
        conductor.runs[record.key] = run

        let flight = Flight()
        try bench.store.readDevices(
            FanOutBench.app, after: 0, through: .max, limit: 10, of: nil, into: &flight.devices)
        try flight.fill(for: run, source: .retries, tag: 0, at: clock.now)
        let batch = try #require(flight.batches.first).1
        batch.bodies = [Array(#"{"reason":"BadDeviceToken"}"#.utf8)]
        var bad = Answer()
        (bad.kind, bad.sends, bad.status, bad.body) = (.answered, 1, 400, 0)
        batch.answers = Array(repeating: bad, count: 3)

        switch bar {
        case .none: break
        case .pause: run.pausedUntil = clock.now + .seconds(1)
        case .pastPause: run.pausedUntil = clock.now
        case .otherIsHeld: conductor.hold(.sandbox, of: FanOutBench.app)
        case .ownIsHeld: conductor.hold(.production, of: FanOutBench.app)
        case .pauseInTheBatch:
            batch.bodies.append(Array(#"{"reason":"TooManyProviderTokenUpdates"}"#.utf8))
            (batch.answers[2].status, batch.answers[2].body) = (429, 1)
        }
        let isOpen = [.none, .pastPause, .ownIsHeld].contains(bar)
        let isSent = conductor.sendSecondTries(flight)
        #expect(isSent == isOpen)
        #expect(flight.hasSecondTries == isOpen)
        #expect(flight.isDeniedSecondTries == [.pause, .pauseInTheBatch].contains(bar))
        // When they are back: that is all there is to be tried, whatever has come meanwhile.
        guard isOpen else { return }
        run.pausedUntil = clock.now + .seconds(1)
        let isSentAgain = conductor.sendSecondTries(flight)
        #expect(!isSentAgain)
        #expect(!flight.isDeniedSecondTries)
    }

    // MARK: Live

    /// The pause is the credential's, which both environments know; the tokens' turn comes after it.
    @Test func aPauseHoldsSecondTriesAndTheyAreMadeAfterIt() throws {
        var script = FaultScript()
        script.badTokens = Set((1...10).map(LiveBench.token))
        script.refusals = .init(afterN: 15, reason: "TooManyProviderTokenUpdates")
        let bench = try LiveBench(script, sandbox: FaultScript())
        try bench.register(1...20)
        try bench.start(issued: .seconds(600)) { $0.triesOtherEnvironment = true }
        try bench.raise()
        try #require(bench.lines.wait(for: "the push service wants a pause", deadline: .seconds(60)))
        let fanOut = try #require(bench.fanOut)
        let sandbox = try #require(bench.sandbox)
        let campaign = try bench.campaign().key
        try #require(
            bench.until {
                let figures = fanOut.figures(of: campaign)
                return figures.trouble != nil && figures.shardRequestsOut + figures.retryRequestsOut == 0
            })
        #expect(sandbox.figures.requests == 0)
        #expect(try bench.campaign().counts.rejected == 0, "no token is given up that has not been tried everywhere")
        script.refusals = nil
        try bench.production.play(script)
        // Five minutes, and a quarter on top at most.
        bench.clock.advance(by: .seconds(376))
        fanOut.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.counts.accepted == 20)
        #expect(end.counts.addsUp)
        #expect(sandbox.figures.requests == 10)
        #expect(try bench.device(5).registration.environment == .sandbox)
    }
}

extension Conductor {
    /// The service has answered 5xx to a whole sample.
    fileprivate mutating func hold(_ environment: PushEnvironment, of app: AppKey) {
        var hold = OutageHold()
        _ = hold.answered(
            OutageHold.Answers(good: 0, failed: OutageHold.sample), tag: 0, nextTag: 1, at: clock(), random: 0)
        outages[PoolTable.Owner(app: app, environment: environment, isForSecondTries: false)] = hold
    }
}
