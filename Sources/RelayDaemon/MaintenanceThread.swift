// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayAPI
import RelayEngine
import RelayStore
import Synchronization
import Telemetry
import Threading

/// Follows every minute how campaigns are obeyed, looks whether a certificate ends, and prunes the store every hour, as `store.keep` says, on a thread of its
/// own. While it prunes, a minute of the curve may be missed.
final class MaintenanceThread: Sendable {
    private static let minute = DispatchTimeInterval.seconds(60)
    private static let minutesBetweenPrunings = 60

    private let store: any RelayStore
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let certificates: CertificateWatch?
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    private struct State {
        /// nil: nothing is ever pruned.
        var keep: Duration?
        /// Whether `keep` is new.
        var prunesNow = true
        var isStopped = false
        var thread: NativeThread?
    }

    init(
        store: any RelayStore, log: Log, certificates: CertificateWatch? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.certificates = certificates
        self.store = store
        self.log = log
        self.clock = clock
    }

    /// Begins, with the first look and the first pruning at once. Call once.
    ///
    /// - Parameter keep: how much of the past; with nil nothing is ever pruned.
    /// - Throws: where the system has no thread left.
    func start(keep: Duration?) throws {
        state.withLock { $0.keep = keep }
        let thread = try NativeThread(name: "maintenance") { self.run() }
        state.withLock { $0.thread = thread }
    }

    /// Goes on with another time, at once; refuses nothing, so that a reload may count on it.
    func reload(keep: Duration?) {
        state.withLock { ($0.keep, $0.prunesNow) = (keep, true) }
        wake.signal()
    }

    /// Asks the thread to end and does not wait for it.
    func askToStop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
    }

    /// Returns when the thread has ended, after the transaction that it is in.
    func stop() {
        askToStop()
        state.withLock { $0.thread.take() }?.join()
    }

    private func run() {
        var minutes = 0
        var isFollowing = true
        while true {
            let state = state.withLock { state in
                defer { state.prunesNow = false }
                return state
            }
            if state.isStopped { return }
            certificates?.look(at: clock())
            follow(&isFollowing)
            if let keep = state.keep, state.prunesNow || minutes == Self.minutesBetweenPrunings {
                minutes = 0
                prune(keep)
            }
            if wake.wait(timeout: .now() + Self.minute) == .timedOut {
                minutes = min(minutes + 1, Self.minutesBetweenPrunings)
            }
        }
    }

    /// - Parameter isFollowing: whether it went well the last time: a store in trouble is reported once.
    private func follow(_ isFollowing: inout Bool) {
        do {
            try store.followAdoption(at: clock())
            isFollowing = true
        } catch {
            if isFollowing { log(.error, "how campaigns are obeyed could not be kept", [("error", "\(error)")]) }
            isFollowing = false
        }
    }

    private func prune(_ keep: Duration) {
        do {
            let now = clock()
            let report = try store.prune(before: now - keep, at: now) { _ in
                state.withLock { !$0.isStopped && $0.keep == keep }
            }
            if !report.isEmpty { log(.notice, "the store was pruned", report.fields) }
        } catch {
            log(.error, "the store could not be pruned", [("error", "\(error)")])
        }
    }
}
