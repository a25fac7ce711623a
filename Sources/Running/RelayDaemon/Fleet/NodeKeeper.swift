// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import Synchronization
package import Telemetry
import Threading
import UpgradeRules

/// Keeps this relay's lease among the relays of a store, fences relays that are gone, and passes on news from the others.
///
/// `join` and `turn` are called by one thread at a time, its own after `start`.
package final class NodeKeeper: Sendable {
    /// The longest time that the thread listens before it checks whether to stop.
    private static let longestListening = Duration.seconds(1)
    /// The pause after an attempt to listen to the database has failed.
    private static let rest = Duration.milliseconds(50)
    private static let lookAtNamesake = Duration.milliseconds(250)

    private let store: any RelayStore
    private let log: Log
    private let name: String
    private let boot: @Sendable () -> MonotonicTime
    private let wall: @Sendable () -> Timestamp
    private let isEnded: @Sendable (_ process: String) -> Bool
    private let state: Mutex<State>
    private let thread = Mutex<NativeThread?>(nil)
    private let stopping = CancellationFlag()
    /// Makes the figures that are published about the campaigns of this relay.
    private let figures = Mutex<@Sendable () -> String>({ "" })

    private struct State {
        var machine: NodeMachine
        var node: NodeLease?
        var description: NodeDescription
        /// The number of different configurations among the relays.
        var configurations = 1
        var faults = FaultLog()
        var isTrusted = false
        var unclaimed = UnclaimedWatch()
        var fencings = 0
        var isOutdated = false
        /// The relays that are missing, in words.
        var loss: String?
    }

    /// - Parameters:
    ///   - boot: a clock that goes on while the machine is suspended.
    ///   - wall: this machine's own clock.
    ///   - isEnded: whether a process is known to have ended, by the name that its relay registered.
    package init(
        store: any RelayStore, description: NodeDescription, log: Log,
        boot: @escaping @Sendable () -> MonotonicTime = BootClock.now,
        wall: @escaping @Sendable () -> Timestamp = WallClock.now,
        isEnded: @escaping @Sendable (_ process: String) -> Bool = ProcessName.isEnded
    ) {
        (self.store, self.log, self.boot, self.wall, name) = (store, log, boot, wall, description.name)
        self.isEnded = isEnded
        state = Mutex(State(machine: NodeMachine(at: boot()), description: description))
        store.membership.beginFleet(clock: boot)
    }

    /// Registers this relay, and fences the former relay of its name. Call it once, before any other use of the store.
    ///
    /// - Throws: `StoreError`.
    package func join() throws {
        let description = state.withLock { $0.description }
        // A relay that was killed has released nothing; only its own machine can see that it has ended.
        let ended = try store.nodes().first { $0.description.name == description.name }.flatMap { former in
            isEnded(former.description.process) ? former.description.process : nil
        }
        let (sent, wallSent) = (boot(), wall())
        let (node, at) = try store.join(description, for: NodeMachine.lease, ended: ended)
        note(storeTime: at, sent: wallSent)
        let now = boot()
        state.withLock { state in
            state.machine.good(sent: sent, answered: now)
            state.node = node
        }
        publish()
        try? lookAround(fences: false)
    }

    /// Like `join`, but the name may still belong to a relay that is about to stop or has ended without notice: waits for
    /// that relay's lease to run out, unless the lease is prolonged.
    ///
    /// - Throws: `StoreError`; `.nameInUse` where the other relay is alive.
    func joinAtStart() throws {
        var known: Timestamp?
        let deadline = boot() + NodeMachine.lease + .seconds(2)
        while true {
            do {
                return try join()
            } catch let error as StoreError where error.code == .nameInUse {
                let until = try store.nodes().first { $0.description.name == name }?.aliveUntil
                guard boot() < deadline, known == nil || until == known else { throw error }
                if known == nil {
                    log(
                        .notice, "another relay of this name has its place: waiting whether it is there",
                        [("node", name)])
                }
                known = until
                Pause.rest(Self.lookAtNamesake)
            }
        }
    }

    /// Does all due work.
    ///
    /// - Returns: when to call again at the latest.
    package func turn() -> MonotonicTime {
        while true {
            let now = boot()
            let action = state.withLock { $0.machine.next(at: now) }
            if case .wait(let until) = action {
                publish()
                return until
            }
            do {
                switch action {
                case .join: try join()
                case .beat: try beat()
                case .look(let fences): try lookAround(fences: fences)
                case .wait: break
                }
                state.withLock { _ = $0.faults.clear("node") }
            } catch {
                let isNew = state.withLock { state in
                    state.machine.failed(action, at: boot())
                    return state.faults.set("node", "\(error)")
                }
                if isNew { log(.warning, "this relay's lease is not prolonged", [("error", "\(error)")]) }
            }
            publish()
        }
    }

    private func beat() throws {
        guard let node = state.withLock({ $0.node }) else { return }
        let (sent, wallSent) = (boot(), wall())
        let at = try store.beat(
            node, for: NodeMachine.lease, configuration: state.withLock { $0.description.configuration },
            clockAhead: store.membership.ahead, figures: figures.withLock { $0 }())
        let now = boot()
        guard let at else {
            state.withLock { state in
                state.machine.fenced(at: now)
                state.node = nil
            }
            return log(
                .warning, "other relays took this one for dead, and have what it had: it begins anew",
                [("node", name)])
        }
        note(storeTime: at, sent: wallSent)
        state.withLock { $0.machine.good(sent: sent, answered: now) }
    }

    /// - Parameter fences: whether relays whose lease has run out may be fenced.
    private func lookAround(fences: Bool) throws {
        guard let node = state.withLock({ $0.node }) else { return }
        var look = try store.lookAtFleet()
        state.withLock { state in
            state.machine.looked(at: boot())
            state.configurations = look.configurations
            state.isOutdated = look.isOutdated
        }
        if fences {
            for (lapsed, other) in look.lapsed.sorted(by: { $0.key.node < $1.key.node }) where lapsed != node {
                guard try store.fence(lapsed) else { continue }
                state.withLock { $0.fencings += 1 }
                log(
                    .warning, "a relay that was not heard of any more is given up: what it had is free",
                    [("node", other)])
                if look.leader == lapsed.node { look.leader = nil }
            }
        }
        let led = store.membership.leads
        let leads = try look.leader == nil ? store.lead(node) : look.leader == node.node
        store.membership.note(leads: leads)
        if leads, !led { log(.notice, "this relay does now what one does for all", [("node", name)]) }
        try lookForUnclaimed(leads: leads)
        let loss = NodeRecord.loss(among: try store.nodes())
        state.withLock { $0.loss = loss }
    }

    /// Only the leader does this, so that there is one log line and one entry in readyz for all relays.
    private func lookForUnclaimed(leads: Bool) throws {
        guard leads else { return state.withLock { $0.unclaimed.forget() } }
        let unclaimed = try store.unclaimedCampaigns()
        for campaign in state.withLock({ $0.unclaimed.look(unclaimed, at: boot()) }) {
            log(
                .warning, "a campaign runs and no relay sends it",
                [
                    ("campaign", campaign.id), ("app", campaign.app.app),
                    ("platform", campaign.app.platform.rawValue),
                ])
        }
    }

    /// Publishes the lease to the other parts. Logs once when sending must stop, and once when it may go on.
    private func publish() {
        let now = boot()
        let (node, until, change) = state.withLock { state in
            let until = state.machine.trustedUntil
            let isTrusted = until.map { now < $0 } ?? false
            // A fenced relay has already been logged.
            let isNews = isTrusted != state.isTrusted && until != nil
            if isNews || until == nil { state.isTrusted = isTrusted }
            return (state.node, until, isNews ? isTrusted : nil)
        }
        store.membership.note(node, trustedUntil: until)
        switch change {
        case true?: log(.notice, "this relay's lease is confirmed", [("node", name)])
        case false?:
            log(
                .error, "the database has not confirmed this relay's lease in time: nothing is sent until it does",
                [("node", name)])
        case nil: break
        }
    }

    private func note(storeTime: Timestamp, sent: Timestamp) {
        let now = wall()
        let ahead = storeTime - sent - (now - sent) / 2
        guard store.membership.note(ahead: ahead) else { return }
        let tolerance = NodeRecord.clockTolerance
        guard ahead > tolerance || ahead < .zero - tolerance else { return }
        log(
            .warning, "this machine's clock is not the database's, which is gone by",
            [("ahead", "\(ahead.milliseconds) ms")])
    }

    /// The reason that keeps this relay from sending; nil: none.
    package var fault: String? {
        state.withLock { state in
            state.isTrusted ? nil : "its lease is not confirmed: \(state.faults.text("node") ?? "it is taken anew")"
        }
    }

    /// The running campaigns that no relay has taken over for too long; nil: none, or another relay leads.
    package var claimFault: String? {
        let late = state.withLock { $0.unclaimed.late }
        guard !late.isEmpty else { return nil }
        let names = late.map { "\($0.id) of \($0.app.app) (\($0.app.platform.rawValue))" }.joined(separator: ", ")
        let project = ProviderName.allCases.filter(\.hasQuota).map(\.text).joined(separator: " or ")
        return
            "no relay sends \(names), though it should run: none that is alive has a push service for the app, or the one that sends "
            + "for its \(project) project has none"
    }

    /// The number of relays that this one has fenced.
    package var fencings: Int { state.withLock { $0.fencings } }

    /// A fault among the relays that an operator should mend; nil: none.
    package var warning: String? {
        let (count, loss) = state.withLock { ($0.configurations, $0.loss) }
        let different =
            count > 1
            ? "the relays of this store have \(count) different configurations, and only the leader's counts for what one does for all"
            : nil
        let all = [loss, different].compactMap(\.self)
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Whether a newer release has changed the store so that this one must not use it any more.
    package var isOutdated: Bool { state.withLock { $0.isOutdated } }

    /// Notes the digest of a reloaded configuration.
    package func note(configuration: String) { state.withLock { $0.description.configuration = configuration } }

    // MARK: The thread

    /// - Parameters:
    ///   - figures: makes the figures to publish about the campaigns of this relay.
    ///   - onNews: receives the other relays' news, on this thread: must not wait, as the lease would wait too.
    ///   - onOutdated: called once when this release must not use the store any more (`isOutdated`); must not wait either.
    /// - Throws: where the system has no thread left.
    package func start(
        figures: @escaping @Sendable () -> String, onNews: @escaping @Sendable (FleetHints) -> Void,
        onOutdated: @escaping @Sendable () -> Void
    ) throws {
        self.figures.withLock { $0 = figures }
        let thread = try NativeThread(name: "node") { [self] in
            var (led, wasOutdated) = (false, false)
            while !stopping.isSet {
                let next = turn()
                if isOutdated, !wasOutdated {
                    wasOutdated = true
                    log(.error, "a newer release has changed the store: this one stops", [("node", name)])
                    onOutdated()
                }
                if store.membership.leads != led {
                    led = store.membership.leads
                    onNews(.everything)
                }
                // The time that a machine is suspended does not count here, so that this wakes too late, not too early.
                let deadline = MonotonicClock.now() + min(next - boot(), Self.longestListening)
                do {
                    let news = try store.awaitNews(until: deadline)
                    if !news.isEmpty { onNews(news) }
                } catch {
                    Pause.rest(min(next - boot(), Self.rest))
                }
            }
        }
        self.thread.withLock { $0 = thread }
    }

    /// Releases everything that this relay holds. Call it last, when all other parts have stopped.
    package func stop() {
        stopping.set()
        thread.withLock { $0.take() }?.join()
        guard let node = state.withLock({ $0.node }) else { return }
        do {
            try store.leave(node)
        } catch {
            log(.warning, "the other relays learn of this one's end by its silence", [("error", "\(error)")])
        }
    }
}
