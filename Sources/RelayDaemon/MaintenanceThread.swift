// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayAPI
import RelayEngine
import RelayStore
import Synchronization
import Telemetry
import Threading

/// Prunes the store every hour, as `store.keep` says, on a thread of its own.
final class MaintenanceThread: Sendable {
    private static let interval = DispatchTimeInterval.seconds(3600)

    private let store: any RelayStore
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    private struct State {
        /// nil: nothing is ever pruned.
        var keep: Duration?
        var isStopped = false
        var thread: NativeThread?
    }

    init(store: any RelayStore, log: Log, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.log = log
        self.clock = clock
    }

    /// Begins, with the first pruning at once. Call once.
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
        state.withLock { $0.keep = keep }
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
        while true {
            let (keep, isStopped) = state.withLock { ($0.keep, $0.isStopped) }
            if isStopped { return }
            if let keep { prune(keep) }
            _ = wake.wait(timeout: .now() + Self.interval)
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
