// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Telemetry
import Threading

/// The fan-out's one thread: takes events, asks each campaign's machine what to do, does it, records what came of it.
///
/// Everything here belongs to that thread; the machines decide, this shell reads the store, fills batches and commits.
struct Conductor {
    let store: any RelayStore
    private(set) var routes: [AppKey: AppRoute]
    let configuration: FanOut.Configuration
    let log: Log
    let clock: @Sendable () -> Timestamp
    let onVersions: @Sendable ([VersionRecord]) -> Void
    let board: FanOut.Board.Shared
    let pulse: Pulse
    private let lanes: [Lane]
    private let mailbox: Mailbox<FanOut.Event>

    var pools: PoolTable
    var runs: [CampaignKey: CampaignRun] = [:]
    /// Batches on their way, by tag.
    var flights: [Int: Flight] = [:]
    var nextTag = 0
    var hangar: [Flight] = []
    /// Where second tries cannot be made at present, and until when none is begun.
    var secondTriesRest: [PoolTable.Owner: ContinuousClock.Instant] = [:]
    /// Answered and not yet recorded.
    var landed: [Flight] = []
    private var gate = CommitGate()
    var faults = FaultLedger()
    /// What became of each app's pushes; grows with the apps that are configured.
    var tallies: [AppKey: PushTally] = [:]
    /// One for each service that has answered 5xx since the routes were last taken.
    var outages: [PoolTable.Owner: OutageHold] = [:]
    /// One for each app with a pace.
    var pacers: [AppKey: Pacer] = [:]
    /// What a reload interrupted: it goes on where its ramp was.
    var rerouted: Set<CampaignKey> = []
    let startedAt = ContinuousClock.now
    /// When the store was last looked at with success.
    var lastLook: Timestamp?
    /// Apps that a version is stored for and no route leads to: each is told once.
    var unrouted: Set<AppKey> = []
    /// The campaigns that were open at the last look.
    var knownOpen: Set<CampaignKey> = []

    /// The store's change mark when the campaigns were last looked at; nil makes the next look unconditional.
    var seenMark: Int64?
    var nextLook = ContinuousClock.now
    /// When old webhook ids are forgotten next.
    var nextSweep = ContinuousClock.now
    private var storeRestsUntil: ContinuousClock.Instant?
    /// What kind of fault the store has, or had last.
    private var storeFault: StoreError.Code?
    private var stopBy: ContinuousClock.Instant?
    /// Routes that take over when nothing is on its way any more.
    private var newRoutes: [AppRoute]?

    init(
        store: any RelayStore, routes: [AppRoute], lanes: [Lane], configuration: FanOut.Configuration,
        mailbox: Mailbox<FanOut.Event>, board: FanOut.Board.Shared, pulse: Pulse, log: Log,
        clock: @escaping @Sendable () -> Timestamp,
        onVersions: @escaping @Sendable ([VersionRecord]) -> Void
    ) {
        self.store = store
        self.routes = Self.table(routes)
        self.configuration = configuration
        self.log = log
        self.clock = clock
        self.onVersions = onVersions
        self.board = board
        self.pulse = pulse
        self.lanes = lanes
        self.mailbox = mailbox
        pools = PoolTable(lanes: lanes, mailbox: mailbox)
        takePaces()
    }

    /// No campaign begins or goes on: the daemon stops, or new routes wait for their turn.
    var isClosing: Bool { stopBy != nil || newRoutes != nil }

    private static func table(_ routes: [AppRoute]) -> [AppKey: AppRoute] {
        Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
    }

    /// Runs until it is told to stop and all that was on its way is recorded.
    mutating func run() {
        while true {
            if let stopBy, flights.isEmpty && landed.isEmpty || ContinuousClock.now >= stopBy { break }
            pulse.rest()
            let events = mailbox.take(timeout: pause())
            pulse.beat()
            for event in events { handle(event) }
            takeNewRoutes()
            lookAround()
            pulse.beat()
            let waiting = landed.reduce(0) { $0 + $1.devices.count }
            if gate.isOpen(devices: waiting, isMoreOut: !flights.isEmpty && stopBy == nil, at: tick) { record() }
            pulse.beat()
            proceed()
            lookForEndOfStoreFault()
            forgetIdleOutages()
            forgetIdleReaches()
            publish()
        }
        ground()
        pulse.rest()
    }

    private mutating func handle(_ event: FanOut.Event) {
        switch event {
        case .poke:
            seenMark = nil
            nextLook = .now
        case .returned(let batch):
            guard let flight = flights[batch.tag], flight.batchReturned(), !sendSecondTries(flight) else { return }
            flights[batch.tag] = nil
            landed.append(flight)
        case .pool(let pool, let lane, let condition):
            notePool(pool, lane: lane, condition)
        case .width(let pool, let lane, let streams):
            pools.note(pool, lane: lane, carries: streams)
            shareFlights()
        case .reroute(let routes):
            newRoutes = routes
            for run in runs.values { halt(run) }
        case .stop(let deadline):
            stopBy = .now + deadline
            for run in runs.values { halt(run) }
        }
    }

    /// Exchanges the routes when all that went out over the old ones is recorded. The connections go too: a new key, or
    /// a topic that the old key family did not have, needs new ones (PROTOCOLS 1.4).
    private mutating func takeNewRoutes() {
        guard let newRoutes, flights.isEmpty, landed.isEmpty else { return }
        routes = Self.table(newRoutes)
        unrouted.removeAll()
        secondTriesRest.removeAll()
        self.newRoutes = nil
        takePaces()
        rerouted = Set(runs.keys)
        runs.removeAll()
        pools.removeAll()
        forgetOutages()
        for app in faults.texts.keys where app.hasPrefix("apns:") { _ = faults.clear(app) }
        seenMark = nil
        nextLook = .now
    }

    /// Stops the lanes and records what they hand back: the last act.
    private mutating func ground() {
        let rest = max(stopBy.map { $0 - .now } ?? .zero, .zero)
        for lane in lanes { lane.stop(deadline: rest) }
        for event in mailbox.take(timeout: .zero) { handle(event) }
        storeRestsUntil = nil
        record()
        if !landed.isEmpty {
            log(
                .error, "stopped with outcomes that the store did not take; they are sent again at the next start",
                [
                    ("batches", String(landed.count))
                ])
        }
        do { try store.releaseShards(owner: configuration.owner) } catch { noteStore(error) }
    }

    /// How long the thread may sleep when no event comes. Ticks are counted on a clock that never goes back, so that a
    /// wall clock that is set right does not stop the watcher; only retries are due by the wall.
    private mutating func pause() -> Duration {
        let tick = ContinuousClock.now
        // While closing nothing is looked at, so the next look stays in the past: what comes back is what wakes.
        var wake = isClosing ? tick + .seconds(1) : nextLook
        if let storeRestsUntil, storeRestsUntil > tick { wake = min(wake, storeRestsUntil) }
        if let stopBy { wake = min(wake, stopBy) }
        var pause = wake - tick
        if let wait = gate.wait(at: self.tick) {
            pause = min(pause, wait)
        } else if !landed.isEmpty, !storeRests {
            // Filtered as a whole since the gate was asked, or left for the next turn.
            return .zero
        }
        let now = clock()
        for run in runs.values {
            switch run.machine.next(at: now) {
            case .wait(let until?): pause = min(pause, until - now)
            case .wait(nil): break
            case .readShard, .readRetries, .leaseShards, .endWave, .beginWave, .complete:
                if let wait = sendWait(run, at: now) { pause = min(pause, wait) }
            }
        }
        return max(pause, .zero)
    }

    /// What cannot be recorded is not sent: after a refusal nothing is read for a while.
    var storeRests: Bool { storeRestsUntil.map { ContinuousClock.now < $0 } ?? false }

    private mutating func publish() {
        let figures = runs.mapValues { run in
            var figures = run.figures
            let app = run.record.app
            figures.pacer = pacers[app]
            figures.tick = tick
            figures.trouble =
                run.pauseReason ?? faults.text(Self.part(app, .production)) ?? faults.text(Self.part(app, .sandbox))
                ?? faults.text(Self.outagePart(app, .production)) ?? faults.text(Self.outagePart(app, .sandbox))
                ?? faults.text("store")
            return figures
        }
        let texts = faults.texts
        let (tallies, lastLook) = (tallies, lastLook)
        let apps = Array(routes.keys)
        let now = tick
        let limits = pacers.mapValues { $0.rate(at: now) }
        let requestsOut = Dictionary(
            runs.values.map { ($0.record.app, $0.shardRequestsOut + $0.retryRequestsOut) }, uniquingKeysWith: +)
        board.write {
            $0.figures = figures
            $0.faults = texts
            $0.work = FanOutFigures(
                tallies: tallies, requestsOut: requestsOut, lastLook: lastLook, apps: apps, rateLimits: limits)
        }
    }

    /// The store did not do what sending needs. Told when it begins and when its kind changes, not at each try.
    mutating func noteStore(_ error: any Error) {
        storeRestsUntil = .now + configuration.storeRest
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
