// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization
import Systemd
import Telemetry
import Threading

/// What the service manager hears of the daemon: where it stands, a line of status, and that its parts get on.
///
/// One thread looks at the pulses, a second apart at most, and keeps the watchdog quiet only while all of them beat; does
/// nothing where no manager listens.
final class ServiceReport: Sendable {
    /// How long the manager is asked to wait on while the daemon stops and gets on.
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

    /// Start-up is over.
    ///
    /// - Parameters:
    ///   - idle: what to show when there is nothing to do.
    ///   - activity: asked on this report's thread, once a second.
    func serve(
        watching parts: [Watchdog.Part], idle: String, activity: @escaping @Sendable () -> ServiceStatus.Activity
    ) {
        guard notifier.isThere else { return }
        state.withLock { $0.status.idle = idle }
        let watch = Mutex(Watch(patience: notifier.watchdogInterval.map { $0 / 2 } ?? .seconds(30)))
        do {
            try worker.start("report") { _ in watch.withLock { self.look(parts, &$0, activity) } }
        } catch {
            log(.error, "the service manager cannot be told of the daemon's health", [("error", "\(error)")])
        }
        say(.ready) { $0.phase = .serving }
    }

    /// - Parameter body: takes the configuration; answers whether it was taken.
    func reload(_ body: () -> Bool) {
        // The moment lies before the file is read: what changes later asks for a reload of its own.
        say(.reloading(at: MonotonicClock.now())) { $0.phase = .reloading }
        let isTaken = body()
        say(.ready) { status in
            status.phase = .serving
            status.isReloadRefused = !isTaken
        }
    }

    func stop() {
        say(.stopping) { $0.phase = .stopping }
        notifier.tell(.extendTimeout(Self.respite))
    }

    /// Ends the thread.
    func end() { worker.stop() }

    // MARK: The thread

    /// The thread's own.
    private struct Watch {
        let pace: Duration
        var watchdog: Watchdog
        var nextStatus = MonotonicClock.now()

        /// - Parameter patience: half of the manager's: for a step that takes long; the other half is for the ping after that.
        init(patience: Duration) {
            pace = min(patience / 2, .seconds(1))
            watchdog = Watchdog(patience: patience, step: pace)
        }
    }

    /// - Returns: when to look again.
    private func look(
        _ parts: [Watchdog.Part], _ watch: inout Watch, _ activity: @Sendable () -> ServiceStatus.Activity
    ) -> Duration {
        let readings = parts.map(Watchdog.Reading.init)
        let stuck = watch.watchdog.look(readings, at: MonotonicClock.now())
        let (before, phase) = state.withLock { ($0.status.stuck, $0.status.phase) }
        if stuck.isEmpty {
            if notifier.watchdogInterval != nil { notifier.tell(.watchdog) }
            if phase == .stopping { notifier.tell(.extendTimeout(Self.respite)) }
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

    /// Sends `message`, and the status where it has changed.
    private func say(
        _ message: ServiceMessage? = nil, activity: ServiceStatus.Activity? = nil,
        _ change: (inout ServiceStatus) -> Void
    ) {
        guard notifier.isThere else { return }
        state.withLock { state in
            change(&state.status)
            let line = state.status.line(activity ?? ServiceStatus.Activity())
            if let message {
                notifier.tell(message, .status(line))
            } else if line != state.shown {
                notifier.tell(.status(line))
            }
            state.shown = line
        }
    }
}
