// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import HTTP2
package import RelayEngine
package import RelayStore
package import Requirements
import Synchronization
package import Telemetry
import Threading

/// The fan-out: watches the store for requirements that have risen and sends their pushes.
///
/// One thread dispatches (`Dispatcher`): it reads, filters, builds and records, batch by batch; K lanes send. This
/// object is its interface and may be used from any thread.
package final class FanOut: Sendable {
    package struct Configuration: Sendable {
        /// Threads that send. Default 1: on two cores the dispatcher has the other.
        package var lanes = 1
        package var limits = BatchLimits()
        /// Devices per shard at most; smaller audiences get smaller shards. Default 50,000.
        package var largestShard = 50_000
        /// The interval at which the store is asked whether something changed. Default 200 ms.
        package var watchInterval = Duration.milliseconds(200)
        /// How long the ids of answered webhooks are kept: as long as a sender may deliver one again by hand. Default 90 days.
        package var webhookMemory = Duration.seconds(90 * 86_400)
        /// How long nothing is read and nothing sent after the store refused something. Default 1 s.
        package var storeRest = Duration.seconds(1)
        /// How long batches that are filtered as a whole, and so are ready as soon as they are read, are recorded one after another
        /// before events are looked at. Default 50 ms.
        package var recordingTurn = Duration.milliseconds(50)
        /// The wait for a probe of a service that answers 5xx to nearly everything: at first and at most. Default 10 s to 5 min.
        package var outageProbes = OutageHold.intervals

        package init() {}
    }

    /// The figures that any thread may read while the dispatcher works.
    package struct Board: Sendable {
        package var figures: [CampaignKey: RunFigures] = [:]
        package var faults: [String: String] = [:]
        package var work = FanOutFigures()
        /// `Membership.term` as the dispatcher knows it: the campaigns of the lanes' batches were claimed in it.
        package var term: Int64?
    }

    package enum Event: Sendable {
        /// Something changed in the store.
        case poke
        case returned(RequestBatch)
        case pool(PoolID, lane: Int, PoolCondition)
        /// The number of requests that the pool now carries at once.
        case width(PoolID, lane: Int, streams: Int)
        /// An operator does not want to wait until the app's push services are ready again.
        case probe(AppKey)
        /// Another relay may have stored a token or a pause of a key.
        case credentials
        /// The configuration was read anew.
        case reroute([AppRoute])
        case stop(within: Duration)
    }

    /// Returns the present state of an app's stores and its configuration, by which a missing campaign is made.
    package typealias Surroundings = @Sendable (AppKey, CampaignDraft, Timestamp) -> RequirementMachine.Surroundings

    /// For apps that no store holds back.
    package static let noStores: Surroundings = { _, draft, now in
        RequirementMachine.Surroundings(now: now, draft: draft, known: nil)
    }

    /// The pulse of the dispatcher's thread: beats with each step of a turn.
    package let pulse = Pulse("fan-out")
    /// One for each lane.
    package let lanePulses: [Pulse]
    private let lanes: [Lane]
    /// Its thread starts with the first batch of a provider that needs it.
    private let curlLane: CurlLane
    private let mailbox: Mailbox<Event>
    private let board = Board.Shared()
    private let finished = DispatchSemaphore(value: 0)

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - routes: the apps that are configured; the requirement of any other is reported and left alone.
    ///   - clock: the wall clock.
    ///   - ticks: the monotonic clock.
    ///   - surroundings: called on the fan-out's thread, from memory. Default: no store holds a version back.
    ///   - onVersions: called with every record when the store may have changed, on the fan-out's thread.
    /// - Throws: `SystemError`, or a lane's error.
    package init(
        store: any RelayStore, routes: [AppRoute], configuration: Configuration, log: Log,
        clock: @escaping @Sendable () -> Timestamp, ticks: @escaping @Sendable () -> MonotonicTime = MonotonicClock.now,
        surroundings: @escaping Surroundings = FanOut.noStores,
        onVersions: @escaping @Sendable ([VersionRecord]) -> Void = { _ in }
    ) throws {
        let mailbox = try Mailbox<Event>()
        // The lanes check the lease themselves, since the dispatcher may be waiting for the store when it runs out.
        let (membership, shared) = (store.membership, board)
        let lanes = try (0..<max(1, configuration.lanes)).map { number in
            try Lane(name: "lane-\(number)") { shared.mayBegin(membership) }
        }
        let curlLane = try CurlLane(name: "lane-curl") { shared.mayBegin(membership) }
        self.mailbox = mailbox
        lanePulses = lanes.map(\.pulse) + [curlLane.pulse]
        (self.lanes, self.curlLane) = (lanes, curlLane)
        let pulse = pulse
        let board = board
        // The thread may get its first turn late: a caller that asks before then finds every app, with nothing done yet.
        board.write {
            $0.work.apps = routes.map(\.app)
            $0.work.channels = Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0.channels.keys.sorted()) })
        }
        let finished = finished
        try NativeThread(name: "fan-out") {
            var dispatcher = Dispatcher(
                store: store, routes: routes, lanes: LaneSet(lanes, curl: curlLane, mailbox: mailbox),
                configuration: configuration, board: board, pulse: pulse, log: log,
                clock: { Moment(wall: clock(), tick: ticks()) }, random: .system, surroundings: surroundings,
                onVersions: onVersions)
            var pause = Duration.zero
            while !dispatcher.isOver {
                pulse.rest()
                let events = mailbox.take(timeout: pause)
                pulse.beat()
                pause = max(dispatcher.turn(events), .zero)
            }
            dispatcher.shutDown { mailbox.take(timeout: .zero) }
            pulse.rest()
            finished.signal()
        }.detach()
    }

    /// Notifies the fan-out that the store changed: it looks at once instead of at the next tick.
    package func poke() {
        mailbox.post(.poke)
    }

    /// Ends the waits of the app's push services: for a quota, an outage, a pause of the key. A few pushes probe them.
    package func probe(_ app: AppKey) {
        mailbox.post(.probe(app))
    }

    /// Notifies the fan-out that another relay may have stored a push service's pause of a key.
    package func noteCredentials() {
        mailbox.post(.credentials)
    }

    /// Takes over these routes. An app whose route stays the same is not affected; any other goes on once its pushes in
    /// flight have answers, over new connections if the server or the credential has changed.
    package func reroute(_ routes: [AppRoute]) {
        mailbox.post(.reroute(routes))
    }

    /// The campaigns that are being sent just now, the oldest first.
    package var campaigns: [CampaignKey] { board.read { $0.figures.keys.sorted() } }

    package func figures(of campaign: CampaignKey) -> RunFigures {
        board.read { $0.figures[campaign] ?? RunFigures() }
    }

    /// The figures of all campaigns that are being sent, for other relays (`RunFigures.init(published:of:)`).
    package func publishedFigures(at now: Timestamp) -> String {
        RunFigures.published(board.read { $0.figures }, at: now)
    }

    package var work: FanOutFigures { board.read { $0.work } }

    /// One for each lane that has begun.
    package var laneFigures: [LaneFigures] {
        lanes.map(\.figures) + (curlLane.hasBegun ? [curlLane.figures] : [])
    }

    /// The faults that keep the fan-out from its work, by part.
    package func faults() -> [String: String] {
        board.read { $0.faults }
    }

    /// Asks the fan-out to begin nothing new, to wait for pushes in flight and record them, and to end its threads. A push
    /// without an answer by the deadline is recorded to be tried again. May be called twice: the earlier deadline holds.
    package func askToStop(within deadline: Duration) {
        mailbox.post(.stop(within: deadline))
    }

    /// Asks the fan-out to stop and returns when it has.
    package func stop(within deadline: Duration) {
        askToStop(within: deadline)
        finished.wait()
        // Lets another caller that waits return, too.
        finished.signal()
    }
}

extension FanOut.Board {
    /// The board behind its lock.
    package final class Shared: Sendable {
        private let board = Mutex(FanOut.Board())

        package init() {}

        package func read<Result: Sendable>(_ body: (FanOut.Board) -> Result) -> Result {
            board.withLock { body($0) }
        }

        package func write(_ body: (inout FanOut.Board) -> Void) {
            board.withLock { body(&$0) }
        }

        /// Whether the lanes' batches still belong to this relay, as far as it can know.
        package func mayBegin(_ membership: Membership) -> Bool {
            membership.mayAlone ?? membership.term.map { term in read { $0.term == term } } ?? false
        }
    }
}
