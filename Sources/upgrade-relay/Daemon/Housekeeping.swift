// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Dispatch
import RelayAPI
import RelayEngine
import RelayStore
import Synchronization

/// Prunes the store every hour, as `store.keep` says, on a thread of its own.
final class Housekeeping: Sendable {
    private static let interval = DispatchTimeInterval.seconds(3600)

    private let store: any RelayStore
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let round = Mutex<Round?>(nil)

    /// From one `start` to the next `stop`.
    private final class Round: Sendable {
        let wake = DispatchSemaphore(value: 0)
        let isStopped = Atomic(false)
        let thread = Mutex<NativeThread?>(nil)
    }

    init(store: any RelayStore, log: Log, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.log = log
        self.clock = clock
    }

    /// Begins, with the first pruning at once; what ran before is stopped. With nil nothing is ever pruned.
    func start(keep: Duration?) throws {
        stop()
        guard let keep else { return }
        let round = Round()
        let thread = try NativeThread(name: "housekeeping") { self.run(round, keep) }
        round.thread.withLock { $0 = thread }
        self.round.withLock { $0 = round }
    }

    /// Returns when the thread has ended, after the transaction that it is in.
    func stop() {
        guard let round = round.withLock({ $0.take() }) else { return }
        round.isStopped.store(true, ordering: .relaxed)
        round.wake.signal()
        round.thread.withLock { $0.take() }?.join()
    }

    private func run(_ round: Round, _ keep: Duration) {
        repeat {
            do {
                let now = clock()
                let report = try store.prune(before: now - keep, at: now) { _ in
                    !round.isStopped.load(ordering: .relaxed)
                }
                if !report.isEmpty { log(.notice, "the store was pruned", report.fields) }
            } catch {
                log(.error, "the store could not be pruned", [("error", "\(error)")])
            }
            _ = round.wake.wait(timeout: .now() + Self.interval)
        } while !round.isStopped.load(ordering: .relaxed)
    }
}
