// SPDX-License-Identifier: Apache-2.0
import HTTP2
package import RelayEngine
package import RelayStore
package import Requirements
package import Telemetry
import WireFormat

/// The fan-out's loop: takes events, asks the machine of each campaign and each push service what to do, does it, and records the
/// outcome.
///
/// Everything here belongs to one thread. The machines decide; this shell reads the store, fills batches and commits. It never
/// waits: `turn` does all that is due, and returns how long until something is.
package struct Dispatcher {
    let store: any RelayStore
    var routes: [AppKey: AppRoute]
    let configuration: FanOut.Configuration
    let log: Log
    let clock: BelievedTime
    /// The time of the last turn, to see whether the clock was set back since.
    private var lastTurn: Moment?
    /// The membership's term in which this relay claimed all its campaigns; nil: it may not send.
    var term: Int64? { didSet { board.write { [term] in $0.term = term } } }
    let random: RandomSource
    let onVersions: @Sendable ([VersionRecord]) -> Void
    let board: FanOut.Board.Shared
    let pulse: Pulse
    private let lanes: [any BatchLane]

    let runs = CampaignRuns()
    var services: PushServices
    /// The limits that services share: the pace of an app, the quota of a project.
    var limits = SharedLimits()
    /// Leases of runs that are over, still to be released.
    var endedLeases: [RunLease] = []
    /// Batches on their way, by tag.
    var batchesOut: [Int: Batch] = [:]
    var nextTag = 0
    /// Unused batches, kept for their memory.
    private var spare: [Batch] = []
    /// Answered and not yet recorded.
    var answered: [Batch] = []
    private var commitGate = CommitGate()
    /// The faults of the store and of single apps; each push service has its own (`PushServices`).
    var faults = FaultLog()
    /// The outcomes of each app's pushes; grows with the apps that are configured.
    var tallies: [AppKey: PushTally] = [:]
    /// Apps whose operator does not want to wait for their services (`endWaits`).
    var impatient: Set<AppKey> = []
    /// Routes that are taken over once no push of their apps is on its way; nil: the app is removed.
    var newRoutes: [AppKey: AppRoute?] = [:]
    /// When the store was last looked at with success.
    var lastLook: Timestamp?
    /// Makes campaigns of requirements.
    var reconciler: Reconciler
    /// The relay's own decisions about campaigns.
    let decisions: CampaignDecisions
    let recorder: BatchRecorder

    /// The store's change mark at the last look; nil: the next look must read everything, because this process has changed the
    /// store, the last look failed, or the store refused for an app.
    var seenMark: Int64?
    var claims = ClaimTable()
    var nextLook: MonotonicTime
    /// When this relay next looks for campaigns that other relays have left, if it gets no notification.
    var nextFleetLook: MonotonicTime
    /// When old webhook ids are forgotten next.
    var nextWebhookSweep: MonotonicTime
    var storeTrouble: StoreTrouble
    private var stopBy: MonotonicTime?

    package init(
        store: any RelayStore, routes: [AppRoute], lanes: LaneSet, configuration: FanOut.Configuration,
        board: FanOut.Board.Shared, pulse: Pulse, log: Log, clock: @escaping @Sendable () -> Moment,
        random: RandomSource = .system, surroundings: @escaping FanOut.Surroundings = FanOut.noStores,
        onVersions: @escaping @Sendable ([VersionRecord]) -> Void
    ) {
        self.store = store
        self.routes = Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
        self.configuration = configuration
        self.log = log
        self.clock = BelievedTime(clock)
        self.random = random
        self.onVersions = onVersions
        self.board = board
        self.pulse = pulse
        services = PushServices(runs, lanes, configuration, self.clock, log)
        decisions = CampaignDecisions(store: store, log: log)
        recorder = BatchRecorder(store: store, log: log)
        storeTrouble = StoreTrouble(rest: configuration.storeRest, log: log)
        self.lanes = lanes.lanes
        nextLook = self.clock.now.tick
        nextFleetLook = nextLook
        reconciler = Reconciler(store, log, surroundings, at: nextLook, onVersions: onVersions)
        nextWebhookSweep = nextLook
        let term = store.membership.term
        self.term = term
        board.write { $0.term = term }
        for route in routes { limits.take(route.pace, of: route.app, at: nextLook) }
        limits.take(routes.flatMap(\.quotas), at: nextLook)
    }

    package var now: Moment { clock.now }

    /// The earlier of the believed and the shown clock: a time to live that began by a clock that was just set back must be over
    /// by both.
    var surelyPast: Timestamp { min(now.wall, clock.shown()) }

    /// Whether the daemon stops: no campaign begins or goes on.
    var isStopping: Bool { stopBy != nil }

    /// Whether answers have come back that are not in the store yet. A batch that was not sent has none: its devices
    /// are read again.
    package var hasUnrecorded: Bool { answered.contains { !$0.isUntouched } }

    /// Whether the fan-out was asked to stop, and all that was on its way is recorded or the time for it is over.
    package var isOver: Bool {
        guard let stopBy else { return false }
        return batchesOut.isEmpty && answered.isEmpty || now.tick >= stopBy
    }

    /// Takes the events and does all that is due at this moment.
    ///
    /// - Returns: how long until something is due, if no event comes.
    package mutating func turn(_ events: [FanOut.Event]) -> Duration {
        noticeTerm()
        for event in events { handle(event) }
        noticeClock()
        let waiting = answered.reduce(0) { $0 + $1.devices.count }
        if commitGate.isOpen(devices: waiting, isMoreOut: !batchesOut.isEmpty && !isStopping, at: now.tick) { record() }
        pulse.beat()
        takeNewRoutes()
        lookAtStore()
        endWaits()
        noticeTerm()
        pulse.beat()
        let pause = proceed()
        if storeTrouble.text(in: faults) != nil { storeTrouble.lookForEnd(in: store, &faults, at: now.tick) }
        services.forgetIdleTroubles()
        publish()
        return min(pause, self.pause())
    }

    private mutating func handle(_ event: FanOut.Event) {
        switch event {
        case .poke:
            lookAtOnce()
        case .probe(let app):
            impatient.insert(app)
            lookAtOnce()
        case .returned(let requests):
            guard let batch = batchesOut[requests.tag], !sendSecondTries(batch) else { return }
            batchesOut[requests.tag] = nil
            if let leftAt = batch.leftAt { batch.service?.machine.returned(after: now.tick - leftAt) }
            answered.append(batch)
        case .pool(let pool, let lane, let condition):
            services.note(PoolAddress(pool: pool, lane: lane), is: condition, at: now)
        case .width(let pool, let lane, let streams):
            if services.note(PoolAddress(pool: pool, lane: lane), carries: streams) { services.shareBudget() }
        case .credentials:
            services.takeUpPauses(at: now.wall)
        case .reroute(let routes):
            reroute(routes)
        case .stop(let deadline):
            stopBy = min(stopBy ?? .init(nanoseconds: .max), now.tick + deadline)
            for run in runs.inOrder { halt(run) }
        }
    }

    /// After the clock was set back, retries deferred by the old clock would wait too long: campaigns begin anew, which
    /// brings their retries in the store forward. Batches that the store has not taken yet are brought forward here,
    /// since their times are by the old clock.
    private mutating func noticeClock() {
        let now = now
        if let lastTurn, now.wall < lastTurn.wall(at: now.tick) - BelievedClock.tolerance {
            log(.notice, "the clock was set back", [("now", now.wall.internetTime)])
            for run in runs.inOrder {
                runs.rerouted.insert(run.record.key)
                halt(run)
            }
            for batch in answered { batch.bringForward(to: now.wall) }
        }
        lastTurn = now
    }

    /// Stops the lanes and records the batches that they hand back. Called last of all.
    package mutating func shutDown(_ rest: () -> [FanOut.Event]) {
        let time = stopBy.map { $0 - now.tick } ?? .zero
        for lane in lanes { lane.stop(deadline: time) }
        for event in rest() { handle(event) }
        storeTrouble.endRest()
        record()
        if !answered.isEmpty {
            log(
                .error, "stopped with outcomes that the store did not take; they are sent again at the next start",
                [("batches", String(answered.count))])
        }
        endedLeases.append(contentsOf: runs.inOrder.map(\.lease))
        giveBackRuns()
    }

    /// How long until something is due, apart from the machines' own times. Ticks are counted on a clock that never goes
    /// back, so that a wall clock that is set right does not stop the watcher; only retries are due by the wall clock.
    private mutating func pause() -> Duration {
        let tick = now.tick
        // No look happens while stopping, so `nextLook` stays in the past: returning batches wake the thread.
        var wake = isStopping ? tick + .seconds(1) : nextLook
        if let end = storeTrouble.restsUntil, end > tick { wake = min(wake, end) }
        if let stopBy { wake = min(wake, stopBy) }
        if term != nil, let doubt = store.membership.untilDoubt { wake = min(wake, tick + doubt) }
        if let wait = commitGate.wait(at: tick) { return min(wake - tick, wait) }
        // No wait for batches that were filtered as a whole since then, or were left for the next turn.
        return !answered.isEmpty && !storeRests ? .zero : wake - tick
    }

    // MARK: Batches' memory

    mutating func takeSpareBatch() -> Batch { spare.popLast() ?? Batch() }

    /// Keeps the batch's memory for the next, for as many batches as are ever out at a time.
    mutating func giveBack(_ batch: Batch) {
        batch.clear()
        if spare.count < BatchBudget(configuration.limits).mostBatches { spare.append(batch) }
    }

    // MARK: The store

    /// Whether nothing is read for a while after the store refused.
    var storeRests: Bool { storeTrouble.rests(at: now.tick) }

    /// Notes that the store refused something that sending needs.
    mutating func noteStore(_ error: any Error) { storeTrouble.note(error, &faults, at: now.tick) }
}
