// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import Testing
import Threading
import UpgradeRules

@testable import FanOut
@testable import HTTP2

/// The fan-out's loop over a real store, turn by turn: the test plays the clock and the network, so nothing waits.
final class DispatcherBench {
    static let app = FanOutBench.app

    let bench: FanOutBench
    private(set) var lane = TestLane()
    private let routes: [AppRoute]
    var route: AppRoute { routes[0] }
    var dispatcher: Dispatcher
    /// How long the loop would sleep.
    private(set) var pause = Duration.zero

    /// - Parameter others: apps beside the bench's own, on the same push service.
    init(others: [AppKey] = [], change: (inout AppRoute) -> Void = { _ in }) throws {
        bench = try FanOutBench()
        let start = Moment(wall: bench.clock.now, tick: MonotonicTime(nanoseconds: 1_000_000_000))
        let time = Box(start)
        box = time
        var route = bench.route(
            PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "production")),
            sandbox: PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "sandbox")),
            timeToLive: .seconds(86_400))
        change(&route)
        bench.draft.set(route)
        routes =
            [route]
            + others.map { app in
                var other = route
                other.app = app
                return other
            }
        dispatcher = try Self.dispatcher(bench, routes, lane, time)
    }

    private static func dispatcher(
        _ bench: FanOutBench, _ routes: [AppRoute], _ lane: TestLane, _ time: Box
    ) throws -> Dispatcher {
        let lines = bench.lines
        var configuration = FanOut.Configuration()
        configuration.limits.batchSize = 500
        return Dispatcher(
            store: bench.store, routes: routes, lanes: LaneSet([lane], curl: lane, mailbox: try Mailbox()),
            configuration: configuration, board: FanOut.Board.Shared(), pulse: Pulse("test"),
            log: Log(minimum: .debug) { _, message, _ in lines.add(message.description) }, clock: { time.now },
            onVersions: { _ in })
    }

    /// Dies and starts again: pushes on their way and everything in memory are lost, the store is unchanged.
    func restart() throws {
        lane = TestLane()
        dispatcher = try Self.dispatcher(bench, routes, lane, box)
        turn([.poke])
    }

    private let box: Box

    private final class Box: Sendable {
        private let moment: Mutex<Moment>

        init(_ moment: Moment) { self.moment = Mutex(moment) }

        var now: Moment { moment.withLock { $0 } }

        func pass(_ time: Duration) { moment.withLock { $0 = $0 + time } }
    }

    deinit {
        bench.store.close()
        try? FileManager.default.removeItem(at: bench.folder)
    }

    func pass(_ time: Duration) { box.pass(time) }

    func register(
        _ numbers: ClosedRange<Int>, of app: AppKey = app, telephone: (Int) -> String? = LiveBench.telephone,
        environment: Channel.Environment = .production
    ) throws {
        let version = try Version("1.0")
        try bench.store.register(
            numbers.map {
                DeviceRegistration(
                    app: app, token: LiveBench.token($0), telephone: telephone($0), version: version,
                    environment: environment)
            }, at: box.now.wall)
    }

    func remove(_ number: Int) throws {
        try #require(try bench.store.removeDevice(Self.app, token: LiveBench.token(number)))
    }

    func raise(_ version: String = "2.0", of app: AppKey = app, canary: [String]? = nil) throws {
        try bench.raise(version, of: app, canary: canary)
        turn([.poke])
    }

    func resume() throws {
        try bench.resume()
        turn([.poke])
    }

    func turn(_ events: [FanOut.Event] = []) {
        pause = dispatcher.turn(events)
        // The commit gate holds outcomes for a moment to record them together, and batches filtered as a whole take turns of
        // their own.
        for _ in 0..<1_000 where pause <= CommitGate.patience {
            pass(pause)
            pause = dispatcher.turn([])
        }
    }

    /// Answers everything that waits at the host, until nothing does.
    func serve(_ host: String, status: UInt16 = 200, reason: String = "", turns: Int = 1_000) {
        for _ in 0..<turns where lane.waiting(at: host) > 0 {
            turn(lane.answer(host, status: status, reason: reason))
        }
    }

    /// Answers everything that waits at the host, push by push, until nothing does.
    func serve(
        _ host: String, turns: Int = 1_000, _ answer: (_ place: Int, _ batch: RequestBatch) -> TestLane.Reply
    ) {
        for _ in 0..<turns where lane.waiting(at: host) > 0 { turn(lane.answer(host, answer)) }
    }

    var counts: CampaignCounts { get throws { try bench.campaign().figures.counts } }
    var now: Timestamp { box.now.wall }
}
