// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushProviders
import RelayStore
import Requirements
import Telemetry
import Testing
import Threading

@testable import FanOut
@testable import HTTP2
@testable import PushSimulator
@testable import RelayEngine

/// Cases in which a token that its own environment calls bad is not tried in the other one.
@Suite(.ownThread) struct SecondTryTests {
    // MARK: Other answers to the campaign

    enum Bar: CaseIterable {
        case none, pause, otherPause, pastPause, otherIsHeld, ownIsHeld
        /// A push of the same batch had the answer.
        case pauseInTheBatch
    }

    /// A hold that stops first tries to a service stops second tries, too.
    @Test(arguments: Bar.allCases)
    func secondTriesWaitAsFirstOnesDo(bar: Bar) throws {
        let bench = try FanOutBench()
        defer { bench.store.close() }
        var route = bench.route(PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "production")))
        route.sandbox = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "sandbox"))
        route.triesOtherEnvironment = true
        let lane = TestLane()
        let clock = bench.clock
        var dispatcher = Dispatcher(
            store: bench.store, routes: [route], lanes: LaneSet([lane], mailbox: try Mailbox()),
            configuration: FanOut.Configuration(), board: FanOut.Board.Shared(), pulse: Pulse("test"),
            log: Log(minimum: .error) { _, _, _ in }, clock: { Moment(wall: clock.now, tick: clock.tick) },
            onVersions: { _ in })
        try bench.register(3)
        try bench.raise("2.0")
        _ = dispatcher.turn([.poke])
        let batch = try #require(dispatcher.batchesOut.values.first)
        let (run, service) = (try #require(batch.run), try #require(batch.service))
        let other = dispatcher.services.service(FanOutBench.app, .sandbox, route)
        let requests = try #require(batch.requests).batch
        requests.bodies = [Array(#"{"reason":"BadDeviceToken"}"#.utf8)]
        var bad = Answer()
        (bad.kind, bad.sends, bad.status, bad.body) = (.answered, 1, 400, 0)
        requests.answers = Array(repeating: bad, count: 3)

        let now = Moment(wall: clock.now, tick: clock.tick)
        switch bar {
        case .none: break
        case .pause: pause(service, until: now.wall + .seconds(1), at: now.wall)
        case .otherPause: pause(other, until: now.wall + .seconds(1), at: now.wall)
        case .pastPause: pause(service, until: now.wall, at: now.wall)
        case .otherIsHeld: other.machine.failAll(at: now)
        case .ownIsHeld: service.machine.failAll(at: now)
        case .pauseInTheBatch:
            requests.bodies.append(Array(#"{"reason":"TooManyProviderTokenUpdates"}"#.utf8))
            (requests.answers[2].status, requests.answers[2].body) = (429, 1)
        }
        let isOpen = [.none, .pastPause, .ownIsHeld].contains(bar)
        let isSent = dispatcher.sendSecondTries(batch)
        #expect(isSent == isOpen)
        #expect((batch.secondTries.requests != nil) == isOpen)
        #expect(lane.waiting(at: "sandbox") == (isOpen ? 3 : 0))
        #expect(batch.secondTries.isDenied == [.pause, .otherPause, .pauseInTheBatch].contains(bar))
        // Once they are back, nothing is left to try, although a pause has come.
        guard isOpen else { return }
        pause(service, until: now.wall + .seconds(2), at: now.wall)
        let isSentAgain = dispatcher.sendSecondTries(batch)
        #expect(!isSentAgain)
        #expect(!batch.secondTries.isDenied)
        #expect(run.lifecycle.isSending)
    }

    /// Pauses the credential in the provider alone, as for a campaign that sends nothing to this service: the service does not
    /// take the pause up.
    private func pause(_ service: PushService, until time: Timestamp, at now: Timestamp) {
        service.provider.pauseCredential(until: time, by: service.server, at: now)
    }

    // MARK: Live

    /// The pause belongs to the credential, which both environments know; the tokens' second try comes after it.
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
        #expect(
            try bench.campaign().figures.counts.rejected == 0, "no token is given up that has not been tried everywhere"
        )
        script.refusals = nil
        try bench.production.play(script)
        // Five minutes, and at most a quarter on top.
        bench.clock.advance(by: .seconds(376))
        fanOut.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 20)
        #expect(sandbox.figures.requests == 10)
        #expect(try bench.device(5).registration.environment == .sandbox)
    }
}

extension ServiceMachine {
    /// The service has answered 5xx to a whole sample.
    fileprivate mutating func failAll(at now: Moment) {
        var report = BatchReport(tag: .max - 1)
        report.health.failed = OutageHold.sample
        _ = answered(report, campaign: -1, nextTag: .max, at: now, random: 0)
    }
}
