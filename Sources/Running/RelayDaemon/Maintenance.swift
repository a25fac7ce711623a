// SPDX-License-Identifier: Apache-2.0
import RelayAPI
package import RelayEngine
package import RelayStore
import Requirements
import Synchronization
package import Telemetry
import Threading
import WireFormat

/// The daemon's regular work beside the pushes. Every minute it follows the adoption of campaigns and looks for certificates
/// that end, for parts in trouble and for long waits. Every hour it prunes the store by `store.keep`. While it prunes, a
/// minute of the adoption curve may be missed.
///
/// `turn` is called by one thread at a time, its own after `start`; all else may be called from any thread.
package final class Maintenance: Sendable {
    private static let minute = Duration.seconds(60)
    private static let minutesBetweenPrunings = 60

    private let store: any RelayStore
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let certificates: CertificateWatch?
    private let troubles: (@Sendable () -> [ReadinessFault])?
    private let notify: @Sendable (RelayEvent) -> Void
    private let retirement: @Sendable () -> [AppKey: RetirementRules]
    private let worker = Worker()
    private let state = Mutex(State())

    private struct State {
        var keep = Keep()
        /// Whether `keep` is new, so that the next turn prunes.
        var prunesNow = true
        /// Minutes since the last pruning.
        var minutes = 0
        var faults = FaultLog()
        var watch = TroubleNotices()
    }

    /// How much of the past is kept.
    package struct Keep: Sendable, Hashable {
        /// The deliveries of campaigns that ended, and the records that belong to them; nil: all are kept.
        package var deliveries: Duration?
        /// The audit trail, and requests for a second person that are over; nil: all of it is kept.
        package var audit: Duration?

        package init(deliveries: Duration? = nil, audit: Duration? = nil) {
            self.deliveries = deliveries
            self.audit = audit
        }

        var isEverything: Bool { deliveries == nil && audit == nil }
    }

    /// After this time, people are notified that a requirement still waits for its store.
    private static let longWait = Duration.seconds(86_400)

    /// How long a relay that is gone stays listed.
    private static let nodeMemory = Duration.seconds(86_400)

    /// The most dead tokens in one event.
    private static let tokensOfEvent = 500

    /// For callers that have no certificates to watch.
    package convenience init(store: any RelayStore, log: Log, clock: @escaping @Sendable () -> Timestamp) {
        self.init(store: store, log: log, certificates: nil, clock: clock)
    }

    /// - Parameters:
    ///   - troubles: the faults and warnings of `/readyz`, without the check that the store can be written. nil: no trouble is notified.
    ///   - notify: passes an event on to its receivers.
    ///   - retirement: the apps whose versions are counted, with their rules.
    init(
        store: any RelayStore, log: Log, certificates: CertificateWatch?, clock: @escaping @Sendable () -> Timestamp,
        troubles: (@Sendable () -> [ReadinessFault])? = nil,
        notify: @escaping @Sendable (RelayEvent) -> Void = { _ in },
        retirement: @escaping @Sendable () -> [AppKey: RetirementRules] = { [:] }
    ) {
        self.retirement = retirement
        self.troubles = troubles
        self.notify = notify
        self.store = store
        self.log = log
        self.certificates = certificates
        self.clock = clock
    }

    /// Starts a thread that takes the turns, with the first look and the first pruning at once. Call once.
    ///
    /// - Throws: where the system has no thread left.
    func start(keep: Keep) throws {
        state.withLock { $0.keep = keep }
        try worker.start("maintenance") { [self] in turn(isMinuteOver: $0) }
    }

    /// Makes the next turn come at once and prune by `keep`, which later turns use as well. Never fails, so that a reload
    /// may count on it.
    package func reload(keep: Keep) {
        state.withLock { ($0.keep, $0.prunesNow) = (keep, true) }
        worker.wake()
    }

    /// Makes the next turn do nothing, and a pruning under way end with its current transaction. Does not wait for that.
    package func askToStop() { worker.askToStop() }

    /// Returns when the thread has ended.
    func stop() { worker.stop() }

    /// Looks at everything once, and prunes where that is due.
    ///
    /// - Parameter isMinuteOver: whether the time that the last turn returned is over; false after an earlier wake-up.
    /// - Returns: when to call again; nil after `askToStop`.
    package func turn(isMinuteOver: Bool) -> Duration? {
        if worker.isStopping { return nil }
        let keep: Keep? = state.withLock { state in
            if isMinuteOver { state.minutes = min(state.minutes + 1, Self.minutesBetweenPrunings) }
            let prunes = state.prunesNow || state.minutes == Self.minutesBetweenPrunings
            state.prunesNow = false
            guard !state.keep.isEverything, prunes else { return nil }
            state.minutes = 0
            return state.keep
        }
        certificates?.look(at: clock())
        notifyOfTroubles()
        // The leader does the rest for all relays.
        guard store.membership.leads else { return Self.minute }
        follow(counts: isMinuteOver)
        forgetNodes()
        if let keep { prune(keep) }
        return Self.minute
    }

    /// Notifies people of parts in trouble, at each relay.
    private func notifyOfTroubles() {
        guard let troubles else { return }
        var found = troubles()
        if !found.contains(where: { $0.part == "store" }) {
            do {
                try store.checkWritable()
            } catch {
                found.append(ReadinessFault(part: "store", reason: "\(error)"))
            }
        }
        for (type, part, reason) in state.withLock({ $0.watch.look(found) }) {
            let id = Hex.encode((0..<16).map { _ in .random(in: .min ... .max) })
            notify(RelayEvent(id: id, type: type, at: clock(), subject: .part(part, reason: reason)))
        }
    }

    /// - Parameter counts: whether devices may be counted. Counting reads every device, so it is not done at the start, when
    ///   campaigns resume.
    private func follow(counts: Bool) {
        do {
            let now = clock()
            try store.noteLongWaits(since: now - Self.longWait, at: now)
            try store.followAdoption(at: now)
            try store.noteDeadTokens(limit: Self.tokensOfEvent, at: now)
            for (app, rules) in (counts ? retirement() : [:]).sorted(by: { $0.key < $1.key }) {
                if worker.isStopping { return }
                try store.followVersions(of: app, by: rules, at: now)
            }
            _ = state.withLock { $0.faults.clear("adoption") }
        } catch {
            if state.withLock({ $0.faults.set("adoption", "\(error)") }) {
                log(.error, "how campaigns are obeyed could not be kept", [("error", "\(error)")])
            }
        }
    }

    private func forgetNodes() {
        guard !store.membership.isAlone else { return }
        // An error is ignored: the steps before and after report a store that refuses.
        try? store.forgetNodes(goneBefore: clock() - Self.nodeMemory)
    }

    private func prune(_ keep: Keep) {
        do {
            let now = clock()
            var report = PruneReport()
            if let deliveries = keep.deliveries {
                report = try store.prune(before: now - deliveries, at: now) { _ in
                    !worker.isStopping && state.withLock { $0.keep == keep }
                }
            }
            if let audit = keep.audit {
                report.audit = try store.forgetAudit(before: now - audit)
                report.approvals = try store.forgetApprovals(before: now - audit)
            }
            if !report.isEmpty { log(.notice, "the store was pruned", report.fields) }
        } catch {
            log(.error, "the store could not be pruned", [("error", "\(error)")])
        }
    }
}
