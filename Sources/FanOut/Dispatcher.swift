// SPDX-License-Identifier: Apache-2.0
import HTTP2
package import RelayEngine
package import RelayStore
package import Telemetry
import WireFormat

/// The fan-out's loop: takes events, asks each campaign's and each push service's machine what to do, does it, and records
/// what came of it.
///
/// Everything here belongs to one thread. The machines decide; this shell reads the store, fills batches and commits. It never
/// waits: `turn` does what there is to do, and says how long nothing will be.
package struct Dispatcher {
    let store: any RelayStore
    var routes: [AppKey: AppRoute]
    let configuration: FanOut.Configuration
    let log: Log
    let clock: BelievedTime
    /// When the last turn was: whether the clock was set back since.
    private var lastTurn: Moment?
    /// While this relay may send: what it owns was claimed since this began.
    var term: Int64? { didSet { board.write { [term] in $0.term = term } } }
    let random: RandomSource
    let onVersions: @Sendable ([VersionRecord]) -> Void
    let board: FanOut.Board.Shared
    let pulse: Pulse
    let lanes: LaneSet

    /// Made when a campaign first needs them, kept until a reload changes how they are reached.
    var services: [PushService.Key: PushService] = [:]
    /// Whose pool it is, and whether it is for second tries.
    var owners: [PoolAddress: (service: PushService, isForSecondTries: Bool)] = [:]
    /// By app, where it has a pace: its services share it.
    var pacers: [AppKey: SharedPacer] = [:]
    /// By project: services of several apps share one.
    var quotas: [String: ProjectQuota] = [:]
    var runs: [CampaignKey: CampaignRun] = [:]
    /// What runs had that are over, to be given back.
    var endedLeases: [RunLease] = []
    /// Batches on their way, by tag.
    var batchesOut: [Int: Batch] = [:]
    var nextTag = 0
    /// Batches with memory that is free for the next.
    private var spare: [Batch] = []
    /// Answered and not yet recorded.
    var answered: [Batch] = []
    private var gate = CommitGate()
    var faults = FaultLog()
    /// What became of each app's pushes; grows with the apps that are configured.
    var tallies: [AppKey: PushTally] = [:]
    /// Apps whose operator does not want to wait.
    var impatient: Set<AppKey> = []
    /// Campaigns that are begun again, by a reload or a person: they go on where their ramp was.
    var rerouted: Set<CampaignKey> = []
    /// Routes that take over when nothing of their apps is on its way any more; nil: the app goes.
    var newRoutes: [AppKey: AppRoute?] = [:]
    /// When the store was last looked at with success.
    var lastLook: Timestamp?
    /// Apps whose part of the store refuses: at this look so far, and at the one before.
    var refusedApps: Set<AppKey> = []
    var knownRefused: Set<AppKey> = []
    /// Apps that a version is stored for and no route leads to: each is reported once.
    var unrouted: Set<AppKey> = []
    /// The campaigns that were open at the last look.
    var knownOpen: Set<CampaignKey> = []
    /// The campaign whose turn ended with an error of the store: the others go before it next time.
    var lastToFail: CampaignKey?

    /// The store's change mark when the campaigns were last looked at; nil: this process has changed it, or could not look.
    var seenMark: Int64?
    /// The campaigns that ran then, of apps with a route. Where others are being sent it is looked again.
    var running: Set<CampaignKey> = []
    var nextLook: MonotonicTime
    /// When it is looked next what other relays have left, though nobody has told of it.
    var nextFleetLook: MonotonicTime
    /// When this relay may claim a campaign that nobody sends, of those that another one may claim before it.
    var claimsDue: [CampaignKey: MonotonicTime] = [:]
    /// When it is looked next whether a reminder is due, if nothing changes.
    var nextReminderLook: MonotonicTime
    /// When old webhook ids are forgotten next.
    var nextWebhookSweep: MonotonicTime
    private var storeRestsUntil: MonotonicTime?
    /// What kind of fault the store has, or had last.
    private var storeFault: StoreError.Code?
    private var stopBy: MonotonicTime?

    package init(
        store: any RelayStore, routes: [AppRoute], lanes: LaneSet, configuration: FanOut.Configuration,
        board: FanOut.Board.Shared, pulse: Pulse, log: Log, clock: @escaping @Sendable () -> Moment,
        random: RandomSource = .system, onVersions: @escaping @Sendable ([VersionRecord]) -> Void
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
        self.lanes = lanes
        nextLook = self.clock.now.tick
        nextFleetLook = nextLook
        nextReminderLook = nextLook
        nextWebhookSweep = nextLook
        let term = store.membership.term
        self.term = term
        board.write { $0.term = term }
        for route in routes { takePace(of: route.app, at: nextLook) }
    }

    package var now: Moment { clock.now }

    /// What has passed by the clock that is believed and by the one that is shown: a time to live that was begun by a clock that was
    /// just set back ends by no other.
    var surelyPast: Timestamp { min(now.wall, clock.shown()) }

    /// What follows is done in this order, not in that of the hashes, which is another in each process.
    var runsInOrder: [CampaignRun] { runs.values.sorted { $0.record.key < $1.record.key } }
    var servicesInOrder: [PushService] { services.values.sorted { $0.key < $1.key } }

    /// No campaign begins or goes on: the daemon stops.
    var isStopping: Bool { stopBy != nil }

    /// Whether answers have come back that are not in the store yet. A batch of which nothing was sent has none: its devices are read again.
    package var hasUnrecorded: Bool { answered.contains { !$0.isUntouched } }

    /// Told to stop, and all that was on its way is recorded, or the time for it is over.
    package var isOver: Bool {
        guard let stopBy else { return false }
        return batchesOut.isEmpty && answered.isEmpty || now.tick >= stopBy
    }

    /// Takes the events and does all that is to be done at this moment.
    ///
    /// - Returns: how long nothing will be to do, if no event comes.
    package mutating func turn(_ events: [FanOut.Event]) -> Duration {
        noticeTerm()
        for event in events { handle(event) }
        noticeClock()
        let waiting = answered.reduce(0) { $0 + $1.devices.count }
        if gate.isOpen(devices: waiting, isMoreOut: !batchesOut.isEmpty && !isStopping, at: now.tick) { record() }
        pulse.beat()
        takeNewRoutes()
        lookAtStore()
        endWaits()
        noticeTerm()
        pulse.beat()
        let pause = proceed()
        lookForEndOfStoreFault()
        forgetIdleTroubles()
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
            answered.append(batch)
        case .pool(let pool, let lane, let condition):
            noteConnections(PoolAddress(pool: pool, lane: lane), condition)
        case .width(let pool, let lane, let streams):
            guard let owner = owners[PoolAddress(pool: pool, lane: lane)], !owner.isForSecondTries else { return }
            owner.service.connections.note(lane: lane, carries: streams)
            shareBudget()
        case .credentials:
            takeUpPauses()
        case .reroute(let routes):
            reroute(routes)
        case .stop(let deadline):
            stopBy = min(stopBy ?? .init(nanoseconds: .max), now.tick + deadline)
            for run in runsInOrder { halt(run) }
        }
    }

    /// Where the clock was set back, what was deferred by it would wait until it is that late again: campaigns begin anew, and look
    /// for themselves what is due. What the store has not taken yet it would look at in vain: recorded by the right time, it says what it
    /// does not mean.
    private mutating func noticeClock() {
        let now = now
        if let lastTurn, now.wall < lastTurn.wall(at: now.tick) - BelievedClock.tolerance {
            log(.notice, "the clock was set back", [("now", now.wall.internetTime)])
            for run in runsInOrder {
                rerouted.insert(run.record.key)
                halt(run)
            }
            for batch in answered { batch.bringForward(to: now.wall) }
        }
        lastTurn = now
    }

    /// Stops the lanes and records what they hand back: the last act.
    package mutating func shutDown(_ rest: () -> [FanOut.Event]) {
        let time = stopBy.map { $0 - now.tick } ?? .zero
        for lane in lanes.lanes { lane.stop(deadline: time) }
        for event in rest() { handle(event) }
        storeRestsUntil = nil
        record()
        if !answered.isEmpty {
            log(
                .error, "stopped with outcomes that the store did not take; they are sent again at the next start",
                [("batches", String(answered.count))])
        }
        endedLeases.append(contentsOf: runsInOrder.map(\.lease))
        giveBackRuns()
    }

    /// How long nothing is to be done but for what the machines say. Ticks are counted on a clock that never goes back, so that
    /// a wall clock that is set right does not stop the watcher; only retries are due by the wall.
    private mutating func pause() -> Duration {
        let tick = now.tick
        // While stopping nothing is looked at, so the next look stays in the past: what comes back is what wakes.
        var wake = isStopping ? tick + .seconds(1) : nextLook
        if let storeRestsUntil, storeRestsUntil > tick { wake = min(wake, storeRestsUntil) }
        if let stopBy { wake = min(wake, stopBy) }
        if term != nil, let doubt = store.membership.untilDoubt { wake = min(wake, tick + doubt) }
        if let wait = gate.wait(at: tick) { return min(wake - tick, wait) }
        // Filtered as a whole since the gate was asked, or left for the next turn.
        return !answered.isEmpty && !storeRests ? .zero : wake - tick
    }

    // MARK: Batches' memory

    mutating func takeSpareBatch() -> Batch { spare.popLast() ?? Batch() }

    /// Keeps its memory for the next, as far as so many are ever out at a time.
    mutating func giveBack(_ batch: Batch) {
        batch.clear()
        if spare.count < BatchBudget(configuration.limits).mostBatches { spare.append(batch) }
    }

    // MARK: The store

    /// What cannot be recorded is not sent: after a refusal nothing is read for a while.
    var storeRests: Bool { storeRestsUntil.map { now.tick < $0 } ?? false }

    /// The store did not do what sending needs. Reported when it begins and when its kind changes, not at each try.
    mutating func noteStore(_ error: any Error) {
        storeRestsUntil = now.tick + configuration.storeRest
        let kind = (error as? StoreError)?.code ?? .failed
        let isNew = faults.set("store", "\(error)")
        if isNew || kind != storeFault { log(.error, "the store refuses", [("error", "\(error)")]) }
        storeFault = kind
    }

    /// The fault is over when a whole round has gone without a refusal and the store can be written to. The second is
    /// asked for, because a round may have had nothing to write.
    private mutating func lookForEndOfStoreFault() {
        guard faults.text("store") != nil, !storeRests else { return }
        do {
            try store.checkWritable()
            _ = faults.clear("store")
            log(.notice, "the store takes outcomes again")
        } catch {
            noteStore(error)
        }
    }

    /// The store cannot be looked at; it may take outcomes all the same, so this is a fault of its own.
    mutating func noteLook(_ error: (any Error)?) {
        guard let error else {
            if faults.clear("watcher") { log(.notice, "the store can be watched again") }
            return
        }
        if faults.set("watcher", "\(error)") { log(.error, "the store cannot be watched", [("error", "\(error)")]) }
    }
}
