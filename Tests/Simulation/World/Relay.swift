// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import HTTP2
import Notifications
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry
import TestStores
import Threading
import UpgradeRules
import VersionSources

/// One life of the relay: the real parts, wired as `Daemon` wires them, without their threads. All of it is dropped when the process dies.
///
/// Unchecked: only the world's thread uses it.
final class Relay: @unchecked Sendable {
    let store: any TestStore
    let active: ActiveConfiguration.Shared
    let cache: VersionCache
    let control: RequirementControl
    let sightings: SightingQueue
    let lane: SimulatedLane
    let board = FanOut.Board.Shared()
    private let tokenSources: TokenSources
    private let runner: SourceRunner
    private let maintenance: Maintenance
    private let notifier: Notifier
    private let mailbox: Mailbox<FanOut.Event>
    private var dispatcher: Dispatcher
    private var sources: SourceLoop
    private unowned let world: World
    /// The latest time of each part's next turn.
    private var wakes: (dispatcher: MonotonicTime, sources: Timestamp, maintenance: MonotonicTime)

    private struct Progress: RequirementControl.Progress {
        let board: FanOut.Board.Shared
        let mailbox: Mailbox<FanOut.Event>

        func figures(of campaign: CampaignKey) -> RunFigures { board.read { $0.figures[campaign] ?? RunFigures() } }
        func poke() { mailbox.post(.poke) }
        func probe(_ app: AppKey) { mailbox.post(.probe(app)) }
    }

    /// - Throws: the error that keeps a daemon from starting.
    init(_ world: World, settings: Settings) throws {
        self.world = world
        let wall: @Sendable () -> Timestamp = { world.clockRead().wall }
        let ticks: @Sendable () -> MonotonicTime = { world.clockRead().tick }
        let log = Log(minimum: .info) { world.logged($0, $1, $2) }
        // Ticks are read inside transactions, where no other part may have a turn.
        let store = try world.storage.open(
            SimulatedSetting(
                clock: wall, ticks: { world.tick }, random: world.random, onEnter: { world.yieldPoint() }))
        if let noted = world.noted {
            store.membership.memory.note(noted)
            _ = try? store.lookBack()
        }
        let (configuration, plan) = try settings.read()
        let mailbox = try Mailbox<FanOut.Event>()
        let tokenSources = TokenSources(
            fcm: FCMTokenSources(exchange: { _ in { _, _, _ in world.grantsAccess() } }, start: { $0() }),
            keys: Secrets.keys)
        tokenSources.onChange { mailbox.post(.poke) }
        let active = ActiveConfiguration.Shared(
            try ActiveConfiguration(
                configuration, store: store, environment: Secrets.environment, tokenSources: tokenSources,
                log: log, clock: wall))
        let cache = VersionCache(store: store, clock: wall) { active.current.profiles }
        store.decisions.hear { [weak cache] fact in world.undisturbed { cache?.take(fact) } }
        let runner = try SourceRunner(
            store: store, log: log, clock: wall, questions: SimulatedQuestions(world), rest: { _ in })
        let control = RequirementControl(
            store: store, apps: { active.current.apps }, routes: { active.current.routes },
            progress: Progress(board: board, mailbox: mailbox), sources: runner, versionCache: cache, log: log,
            clock: wall)
        runner.adopt(plan)
        let callbacks = SourceRunner.Callbacks(
            apply: { bump, source in
                let required = try world.undisturbed { try control.take(bump, from: source) }
                if let required { world.machineAsked(bump.app, required.text) } else { world.machineRepeated(bump) }
            },
            inForceChanged: {
                world.undisturbed { cache.refresh() }
                mailbox.post(.poke)
            },
            draft: { active.current.routes[$0]?.draft },
            rules: { active.current.rules(of: $0) })
        lane = SimulatedLane(world)
        dispatcher = Dispatcher(
            store: store, routes: active.current.routes.values.sorted { $0.app.app < $1.app.app },
            lanes: LaneSet([lane], mailbox: mailbox), configuration: Self.fanOut(configuration.fanOut.batch, settings),
            board: board, pulse: Pulse("fan-out"), log: log, clock: { world.clockRead() }, random: world.random,
            surroundings: { app, draft, now in
                runner.surroundings(of: app, draft: draft, rules: active.current.rules(of: app), nil, at: now)
            },
            onVersions: { records in
                world.undisturbed { cache.note(records) }
                if records.contains(where: \.requirements.isWaiting) { runner.poke() }
            })
        sources = SourceLoop(runner: runner, callbacks: callbacks, plan: plan)
        maintenance = Maintenance(store: store, log: log, clock: wall)
        notifier = Notifier(
            store: store, log: log, clock: wall, ticks: ticks, sender: SimulatedHook(world)
        ) { event, format in NotificationDocument.body(of: event, in: format) }
        if store.membership.leads { try notifier.adopt(active.current.notify) }
        sightings = SightingQueue(store: store, limit: 10_000, clock: wall)
        (self.store, self.active, self.cache, self.control) = (store, active, cache, control)
        (self.tokenSources, self.runner, self.mailbox) = (tokenSources, runner, mailbox)
        wakes = (world.tick, world.clock.now.wall, world.tick)
        maintenance.reload(keep: .init())
        world.undisturbed { cache.refresh() }
    }

    static let storeRest = Duration.seconds(100)

    private static func fanOut(_ batch: Int, _ settings: Settings) -> FanOut.Configuration {
        var configuration = FanOut.Configuration()
        configuration.limits.batchSize = batch
        configuration.largestShard = 50_000
        // No more often than needed: the product's own changes wake it, and with 200 ms most turns would be this look.
        configuration.watchInterval = .seconds(settings.setup["look"])
        // The same: a disk that fails for two days is tried a hundred times less often.
        configuration.storeRest = storeRest
        return configuration
    }

    /// The configuration file was edited, and the relay was asked to read it: does what `Daemon` does then.
    func reload(_ settings: Settings) throws {
        let (configuration, plan) = try settings.read()
        let new = try ActiveConfiguration(
            configuration, store: store, environment: Secrets.environment, tokenSources: tokenSources,
            log: .discarding, clock: { [world] in world.clock.now.wall })
        try notifier.adopt(new.notify)
        active.exchange(for: new)
        mailbox.post(.reroute(new.routes.values.sorted { $0.app.app < $1.app.app }))
        runner.reload(plan)
        cache.refresh()
    }

    // MARK: Turns

    /// When the next turn is due if no event comes before it.
    var nextTurn: MonotonicTime {
        // The wall clock may have been set: no part sleeps for longer than a minute by it (`SourceLoop.longestSleep`).
        let sources = world.tick + max(wakes.sources - world.clock.now.wall, .zero)
        return min(wakes.dispatcher, sources, wakes.maintenance)
    }

    /// Gives each part that has something to do its turn.
    ///
    /// - Returns: the last part that had a turn; nil: none.
    func turn() -> String? {
        var did: String?
        world.ledger.turnBegins()
        let events = mailbox.take()
        if !events.isEmpty || world.tick >= wakes.dispatcher {
            did = "the dispatcher"
            let pause = dispatcher.turn(events)
            wakes.dispatcher = world.tick + max(pause, .zero)
            world.turned(isUnrecorded: dispatcher.hasUnrecorded)
            if !dispatcher.hasUnrecorded { world.recorded() }
        }
        let pokes = runner.mailbox.take()
        if !pokes.isEmpty || world.clock.now.wall >= wakes.sources || world.clock.error != lastError {
            did = "the sources"
            lastError = world.clock.error
            let (now, next) = (world.clock.now.wall, sources.turn(pokes))
            // Sources with nothing to wait for sleep for a minute; any other moment is kept.
            let isNothingDue = next.map { $0 - now == .seconds(60) } ?? true
            wakes.sources = max(next ?? now, now + sourcesRest(isNothingDue))
        }
        if world.tick >= wakes.maintenance {
            did = "the maintenance"
            wakes.maintenance = world.tick + (maintenance.turn(isMinuteOver: true) ?? .seconds(60)) * 120
        }
        return did
    }

    /// The shortest rest of the sources' thread where it would find nothing new: a relay without sources only checks whether the clock was
    /// set, an unedited file reads the same each minute, and a disk that fails for two days is tried every five seconds.
    private func sourcesRest(_ isNothingDue: Bool) -> Duration {
        if !world.settings.hasAnySource, isNothingDue { return .seconds(6 * 3600) }
        return world.areFilesOld ? .seconds(600) : world.isDiskFailing ? .seconds(100) : .zero
    }

    /// The error of the wall clock at the sources' last turn: their thread looks at it once a minute.
    private var lastError = Duration.zero

    /// Runs the outgoing webhooks. Called when something happened: the thread's look each second would find nothing else.
    ///
    /// - Returns: whether nothing is left.
    func notify() -> Bool {
        guard let target = active.current.notify.first else { return true }
        for _ in 0..<50 {
            guard let hasMore = try? notifier.turn(target) else { return false }
            if !hasMore { return true }
        }
        return false
    }

    func prune(keep: Duration) {
        maintenance.reload(keep: .init(deliveries: keep))
        _ = maintenance.turn(isMinuteOver: false)
        maintenance.reload(keep: .init())
    }

    /// Gives the sources their next turn as soon as an edited file may be due.
    func wakeSources() { wakes.sources = min(wakes.sources, world.clock.now.wall + .seconds(60)) }

    /// A person has accepted the store as it is.
    func goOn() {
        try? notifier.adopt(active.current.notify)
        world.undisturbed {
            cache.refresh()
            tokenSources.refresh(at: world.clock.now.wall)
        }
        mailbox.post(.credentials)
        poke()
    }

    /// Whether the lane may begin anything (`FanOut.Board.Shared.mayBegin`).
    var mayBegin: Bool { board.mayBegin(store.membership) }

    /// Has the dispatcher look at the store now.
    func poke() { mailbox.post(.poke) }
}
