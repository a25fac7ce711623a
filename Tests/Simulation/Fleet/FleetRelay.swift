// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import PushProviders
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Signing
import Synchronization
import Telemetry
import TestStores
import Threading
import VersionSources

/// One life of one relay of a fleet: its lease, its fan-out and its operations for people, wired as `Daemon` wires them, without
/// threads.
///
/// Unchecked: only the world's thread uses it.
final class FleetRelay: @unchecked Sendable {
    let number: Int
    let store: any TestStore
    let keeper: NodeKeeper
    let lane: FleetLane
    let control: RequirementControl
    let board = FanOut.Board.Shared()
    private let mailbox: Mailbox<FanOut.Event>
    private var dispatcher: Dispatcher
    private unowned let world: FleetWorld
    private var wakes: (keeper: MonotonicTime, dispatcher: MonotonicTime)

    /// The time until which it stands still.
    var suspendedUntil: MonotonicTime?
    /// Whether it waits for the store.
    var isBlocked = false

    private struct Progress: RequirementControl.Progress {
        let mailbox: Mailbox<FanOut.Event>
        func figures(of campaign: CampaignKey) -> RunFigures { RunFigures() }
        func poke() { mailbox.post(.poke) }
        func probe(_ app: AppKey) { mailbox.post(.probe(app)) }
    }

    /// - Throws: if the relay cannot join the others.
    init(_ world: FleetWorld, number: Int, settings: Settings) throws {
        (self.world, self.number) = (world, number)
        let log = Log(minimum: .info) { world.logged(number, $0, $1, $2) }
        let store = try world.storage.open(
            SimulatedSetting(
                clock: { world.clock.rightTime }, ticks: { world.tick }, random: world.random,
                onEnter: { world.enters(number) }))
        keeper = NodeKeeper(
            store: store, description: NodeDescription(name: "relay-\(number)", release: "simulation"), log: log,
            boot: { world.tick }, wall: { world.wall(number) })
        do {
            try keeper.join()
        } catch {
            store.close()
            throw error
        }
        let membership = store.membership
        let clock: @Sendable () -> Timestamp = { world.wall(number) + membership.ahead }
        let (configuration, plan) = try settings.read()
        let mailbox = try Mailbox<FanOut.Event>()
        let tokenSources = TokenSources(
            fcm: FCMTokenSources(
                exchange: { _ in
                    { _, _, _ in .answered(.granted(token: "token", lifetime: .seconds(3600)), retryAfter: nil) }
                }, start: { $0() }), keys: Secrets.keys)
        tokenSources.onChange { mailbox.post(.poke) }
        let active = ActiveConfiguration.Shared(
            try ActiveConfiguration(
                configuration, store: store, environment: Secrets.environment, tokenSources: tokenSources, log: log,
                clock: clock))
        let cache = VersionCache(store: store, clock: clock) { active.current.profiles }
        let runner = try SourceRunner(store: store, log: log, clock: clock, rest: { _ in })
        runner.adopt(plan)
        control = RequirementControl(
            store: store, apps: { active.current.apps }, routes: { active.current.routes },
            progress: Progress(mailbox: mailbox), sources: runner, versionCache: cache, log: log, clock: clock)
        lane = FleetLane(world, of: number)
        var fanOut = FanOut.Configuration()
        fanOut.limits.batchSize = configuration.fanOut.batch
        fanOut.watchInterval = FleetWorld.look
        dispatcher = Dispatcher(
            store: store, routes: active.current.routes.values.sorted { $0.app.app < $1.app.app },
            lanes: LaneSet([lane], mailbox: mailbox), configuration: fanOut, board: board,
            pulse: Pulse("fan-out"), log: log, clock: { Moment(wall: clock(), tick: world.tick) }, random: world.random,
            surroundings: { app, draft, now in
                runner.surroundings(of: app, draft: draft, rules: active.current.rules(of: app), nil, at: now)
            },
            onVersions: { _ in })
        (self.store, self.mailbox) = (store, mailbox)
        wakes = (world.tick, world.tick)
    }

    var isAwake: Bool { suspendedUntil == nil && !isBlocked }

    /// The time of the relay's next own event.
    var nextEvent: MonotonicTime? {
        if let suspendedUntil { return suspendedUntil }
        // A lane is a thread of its own: it sends while the dispatcher waits for the store.
        let lane = lane.nextEvent
        return isBlocked ? lane : [lane, wakes.keeper, wakes.dispatcher].compactMap(\.self).min()
    }

    /// - Returns: whether there was anything to do.
    func turn() -> Bool {
        if let until = suspendedUntil {
            guard world.tick >= until else { return false }
            suspendedUntil = nil
            // A lane is a thread of its own, and may be the first.
            lane.proceed()
            return true
        }
        lane.proceed()
        guard !isBlocked else { return false }
        var did = false
        if world.tick >= wakes.keeper {
            did = true
            wakes.keeper = keeper.turn()
        }
        let events = mailbox.take()
        if !events.isEmpty || world.tick >= wakes.dispatcher {
            did = true
            var pause = Duration.zero
            world.fenced(number) { pause = dispatcher.turn(events) }
            wakes.dispatcher = world.tick + max(pause, .milliseconds(1))
        }
        return did
    }

    func poke() { mailbox.post(.poke) }

    /// Stops the relay as SIGTERM does.
    func stop() {
        _ = dispatcher.turn([.stop(within: .seconds(8))])
        dispatcher.shutDown { mailbox.take() }
        keeper.stop()
    }
}
