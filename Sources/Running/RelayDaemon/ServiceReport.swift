// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization
import Systemd
import Telemetry
import Threading

/// Reports to the service manager: the daemon's phase, a line of status, and that its parts make progress.
///
/// One thread looks at the pulses, at least once a second, and feeds the watchdog only while all of them beat. Does nothing
/// without a service manager.
final class ServiceReport: Sendable {
    /// The time by which each request prolongs the manager's wait while the daemon stops and makes progress.
    private static let respite = Duration.seconds(10)

    private let notifier = ServiceNotifier()
    private let log: Log
    private let state = Mutex(State())
    private let worker = Worker()

    private struct State {
        var status = ServiceStatus()
        var shown = ""
    }

    init(log: Log) {
        self.log = log
        say { _ in }
    }

    // MARK: The daemon's life

    /// Reports the end of start-up, and starts the thread.
    ///
    /// - Parameters:
    ///   - idle: the status when there is nothing to do.
    ///   - activity: called on this report's thread, once a second.
    func serve(
        watching parts: [Watchdog.Part], idle: String, activity: @escaping @Sendable () -> ServiceStatus.Activity
    ) {
        guard notifier.isThere else { return }
        state.withLock { $0.status.idle = idle }
        let watch = Mutex(Watch(patience: notifier.watchdogInterval.map { $0 / 2 } ?? .seconds(30)))
        do {
            try worker.start("report") { _ in watch.withLock { self.look(parts, &$0, activity) } }
        } catch {
            log(.error, "the service manager cannot be notified of the daemon's health", [("error", "\(error)")])
        }
        say(.ready) { $0.phase = .serving }
    }

    /// - Parameter body: takes the configuration, and returns whether it was taken.
    func reload(_ body: () -> Bool) {
        // The moment lies before the file is read: a later change of the file needs a reload of its own.
        say(.reloading(at: MonotonicClock.now())) { $0.phase = .reloading }
        let isTaken = body()
        say(.ready) { status in
            status.phase = .serving
            status.isReloadRefused = !isTaken
        }
    }

    func stop() {
        say(.stopping) { $0.phase = .stopping }
        notifier.send(.extendTimeout(Self.respite))
    }

    /// Ends the thread.
    func end() { worker.stop() }

    // MARK: The thread

    /// State that only the thread uses.
    private struct Watch {
        let pace: Duration
        var watchdog: Watchdog
        var nextStatus = MonotonicClock.now()

        /// - Parameter patience: half of the manager's timeout, for a step that takes long; the other half is for the ping
        ///   after that.
        init(patience: Duration) {
            pace = min(patience / 2, .seconds(1))
            watchdog = Watchdog(patience: patience, step: pace)
        }
    }

    /// - Returns: the time until the next look.
    private func look(
        _ parts: [Watchdog.Part], _ watch: inout Watch, _ activity: @Sendable () -> ServiceStatus.Activity
    ) -> Duration {
        let readings = parts.map(Watchdog.Reading.init)
        let stuck = watch.watchdog.look(readings, at: MonotonicClock.now())
        let (before, phase) = state.withLock { ($0.status.stuck, $0.status.phase) }
        if stuck.isEmpty {
            if notifier.watchdogInterval != nil { notifier.send(.watchdog) }
            if phase == .stopping { notifier.send(.extendTimeout(Self.respite)) }
        }
        if stuck != before {
            say { $0.stuck = stuck }
            if stuck.isEmpty {
                log(.notice, "all parts get on again")
            } else {
                log(.error, "a part does not get on", [("parts", stuck.joined(separator: ", "))])
            }
        }
        let now = MonotonicClock.now()
        if now >= watch.nextStatus, stuck.isEmpty {
            watch.nextStatus = now + .seconds(1)
            say(activity: activity()) { _ in }
        }
        return watch.pace
    }

    /// Sends `message` with the status; without a message, the status if it has changed.
    private func say(
        _ message: ServiceMessage? = nil, activity: ServiceStatus.Activity? = nil,
        _ change: (inout ServiceStatus) -> Void
    ) {
        guard notifier.isThere else { return }
        state.withLock { state in
            change(&state.status)
            let line = state.status.line(activity ?? ServiceStatus.Activity())
            if let message {
                notifier.send(message, .status(line))
            } else if line != state.shown {
                notifier.send(.status(line))
            }
            state.shown = line
        }
    }
}
