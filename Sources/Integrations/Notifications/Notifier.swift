// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import Synchronization
package import Telemetry
import Threading

/// Notifies the configured receivers of events of campaigns, with one thread per receiver: a slow receiver delays
/// neither the others nor a campaign, which only writes a row.
///
/// The outbox is in the store: a notification that was not taken before the process ended is sent by the next one.
/// Delivery is at least once: a receiver whose answer was lost gets the notification again, with the same id. A
/// campaign's events are sent in order; a failed one is sent again later, perhaps after younger ones.
///
/// Notices about parts of the relay are kept in memory, because the store may be the part that fails. After a restart
/// the parts are checked anew.
package final class Notifier: Sendable {
    /// The interval at which the outbox is read, which reads only an index.
    private static let interval = Duration.seconds(1)
    /// The most pending notifications for one receiver; the oldest beyond that are dropped.
    private static let mostPending = 10_000
    /// How long notifications that ended can be looked up.
    private static let memory = Duration.seconds(30 * 86_400)

    private let store: any RelayStore
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let ticks: @Sendable () -> MonotonicTime
    private let sender: any NotificationSending
    private let body: @Sendable (RelayEvent, NotificationFormat) -> [UInt8]
    private let state = Mutex(State())

    private struct State {
        var loops: [Loop] = []
        /// nil: at once.
        var nextSweep: MonotonicTime?
        var figures = NotifierFigures()
        /// Whether the store knows the receivers of this process: one relay sends for the whole fleet.
        var isAdopted = false
        /// Notices from before the first receivers were started.
        var early: [RelayEvent] = []
    }

    /// A notice about a part of the relay.
    private struct Notice {
        var event: RelayEvent
        var attempts = 0
        /// nil: at once.
        var dueAt: Timestamp?
    }

    /// The most notices that wait for one receiver; the oldest beyond that are dropped.
    private static let mostNotices = 100

    /// One receiver's thread.
    private final class Loop: Sendable {
        let target: NotificationTarget
        let worker = Worker()
        /// Set when the threads of the earlier receivers have stopped.
        let mayBegin = CancellationFlag()
        let faults = Mutex(FaultLog())
        let notices = Mutex<[Notice]>([])

        init(_ target: NotificationTarget) {
            self.target = target
        }

        func take(_ events: [RelayEvent]) {
            let wanted = events.filter { target.receiver.events.contains($0.type) }
            notices.withLock { $0 = ($0 + wanted.map { Notice(event: $0) }).suffix(mostNotices) }
        }
    }

    /// - Parameters:
    ///   - sender: makes the attempts; nil: the real one.
    ///   - body: makes the body for an event: the same bytes each time.
    package init(
        store: any RelayStore, log: Log, clock: @escaping @Sendable () -> Timestamp,
        ticks: @escaping @Sendable () -> MonotonicTime = MonotonicClock.now, sender: (any NotificationSending)? = nil,
        body: @escaping @Sendable (RelayEvent, NotificationFormat) -> [UInt8]
    ) {
        self.store = store
        self.log = log
        self.clock = clock
        self.ticks = ticks
        self.sender = sender ?? NotificationSender(clock: clock, ticks: ticks)
        self.body = body
    }

    /// Takes over these receivers and begins; the threads of the earlier ones are stopped. An empty list only stops those.
    ///
    /// - Throws: `StoreError`, or an error where the system has no thread left; then the earlier threads continue unchanged.
    package func start(_ targets: [NotificationTarget]) throws {
        let loops = targets.map(Loop.init)
        do {
            // The steps that may fail come first, and of those the store last, since its takeover cannot be undone.
            for loop in loops {
                try loop.worker.start("notify") { _ in self.turn(loop) }
            }
            // A store that went back in time refuses writes, of which the receivers must be notified: they are adopted later.
            if store.membership.leads, !store.membership.memory.hasFallen {
                try adopt(targets)
            } else {
                state.withLock { $0.isAdopted = false }
            }
        } catch {
            for loop in loops { loop.worker.stop() }
            throw error
        }
        let old = stopped()
        let early = state.withLock { state in
            state.loops = loops
            defer { state.early = [] }
            return state.early
        }
        for loop in loops {
            let left = old.first { $0.target.receiver.url == loop.target.receiver.url }
            loop.notices.withLock { $0 = left?.notices.withLock { $0 } ?? [] }
            loop.take(early)
            loop.mayBegin.set()
            loop.worker.wake()
        }
    }

    /// Makes these the store's receivers; `start` calls it.
    package func adopt(_ targets: [NotificationTarget]) throws {
        try store.adoptReceivers(targets.map(\.receiver), at: clock())
        state.withLock { state in
            state.isAdopted = true
            for target in targets { state.figures.add(receiver: target.receiver.url) }
        }
    }

    /// Asks the threads to end and does not wait for them.
    package func askToStop() {
        for loop in state.withLock({ $0.loops }) { loop.worker.askToStop() }
    }

    /// Returns when all threads have ended, within about a second: an attempt under way is ended and made again later.
    package func stop() { _ = stopped() }

    private func stopped() -> [Loop] {
        askToStop()
        let loops = state.withLock { state in
            defer { state.loops = [] }
            return state.loops
        }
        for loop in loops { loop.worker.stop() }
        return loops
    }

    /// Queues an event about a part of the relay for the receivers that are configured for its type. Never waits.
    package func notify(_ event: RelayEvent) {
        let loops = state.withLock { state in
            if state.loops.isEmpty { state.early = (state.early + [event]).suffix(Self.mostNotices) }
            return state.loops
        }
        for loop in loops {
            loop.take([event])
            loop.worker.wake()
        }
    }

    /// The outcomes of the attempts since the process began.
    package var figures: NotifierFigures { state.withLock { $0.figures } }

    private func turn(_ loop: Loop) -> Duration {
        guard loop.mayBegin.isSet else { return .seconds(3600) }
        if sendNotice(loop) { return .zero }
        guard store.membership.leads else {
            state.withLock { $0.isAdopted = false }
            return Self.interval
        }
        do {
            if !state.withLock({ $0.isAdopted }) { try adopt(state.withLock { $0.loops.map(\.target) }) }
            let hasMore = try turn(loop.target, isCancelled: { loop.worker.isStopping })
            _ = loop.faults.withLock { $0.clear("store") }
            return hasMore ? .zero : Self.interval
        } catch {
            if loop.faults.withLock({ $0.set("store", "\(error)") }) {
                log(.error, "notifications are held up by the store", [("error", "\(error)")])
            }
            return Self.interval
        }
    }

    /// Makes one attempt to notify a receiver that was adopted.
    ///
    /// - Returns: false where no notification was due; the next call can then wait a second.
    package func turn(
        _ target: NotificationTarget, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> Bool {
        try sweep()
        try store.addressEvents(limit: Self.mostPending, at: clock())
        guard let due = try store.dueNotification(for: target.receiver.url, at: clock()) else { return false }
        let outcome = sender.send(due, body(due.event, target.format), to: target, isCancelled: isCancelled)
        guard let outcome else { return true }
        try store.record(outcome.attempt, of: due.row, then: outcome.verdict, at: clock())
        report(outcome, due, target)
        return true
    }

    /// Makes one attempt to send the first notice that is due; returns whether one was.
    private func sendNotice(_ loop: Loop) -> Bool {
        let now = clock()
        let next = loop.notices.withLock { $0.first { $0.dueAt.map { $0 <= now } ?? true } }
        guard let next else { return false }
        let due = DueNotification(row: 0, attempts: next.attempts, event: next.event)
        let outcome = sender.send(due, body(next.event, loop.target.format), to: loop.target) {
            loop.worker.isStopping
        }
        guard let outcome else { return true }
        loop.notices.withLock { notices in
            guard let place = notices.firstIndex(where: { $0.event.id == next.event.id }) else { return }
            switch outcome.verdict {
            case .retry(let at, _): (notices[place].attempts, notices[place].dueAt) = (next.attempts + 1, at)
            case .delivered, .giveUp, .disable: notices.remove(at: place)
            }
        }
        report(outcome, due, loop.target)
        return true
    }

    private func sweep() throws {
        let isDue = state.withLock { state in
            let now = ticks()
            if let next = state.nextSweep, now < next { return false }
            state.nextSweep = now + .seconds(3600)
            return true
        }
        if isDue { try store.forgetNotifications(before: clock() - Self.memory) }
    }

    /// For the metrics and the log.
    private func report(_ outcome: NotificationSender.Outcome, _ due: DueNotification, _ target: NotificationTarget) {
        state.withLock { $0.figures.add(outcome.verdict, from: target.receiver.url) }
        let subject =
            switch due.event.subject {
            case .campaign(let campaign): ("campaign", campaign.id)
            case .dead(let app, let devices, _): ("tokens", "\(devices.count) of \(app.app)")
            case .retirable(let app, let row, _, _): ("version", "\(row.version) of \(app.app)")
            case .part(let part, _): ("part", part)
            case .approval(let approval): ("request", "\(approval.id) of \(approval.app.app)")
            }
        let fields = [
            subject,
            ("type", due.event.type.rawValue), ("receiver", target.name),
            ("attempt", String(outcome.attempt.number)), ("error", outcome.attempt.error ?? ""),
        ]
        switch outcome.verdict {
        case .delivered: log(.debug, "notified", fields)
        case .retry: log(.warning, "a notification failed and is tried again", fields)
        case .giveUp: log(.error, "a notification failed for the last time", fields)
        case .disable: log(.error, "a receiver of notifications is gone and gets no more", fields)
        }
    }
}

extension NotificationTarget {
    /// For the log. `upgrade-relay notifications` distinguishes receivers of the same host.
    fileprivate var name: String { NotifierFigures.label(receiver.url) }
}
