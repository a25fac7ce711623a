// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// What the loop's thread publishes and any thread may read.
final class SimulatorLedger: Sendable {
    private struct State {
        var figures = SimulatorFigures()
        var rejected: [RejectionReason: Int] = [:]
        var accepted = AcceptedPushes()
        var failure: String?
        /// A script that is to be played from now on, and who waits until it is.
        var script: (FaultScript, isPlayed: DispatchSemaphore)?
        /// Who waits for how many requests.
        var waiters: [(requests: Int, arrived: DispatchSemaphore)] = []
    }

    private let state = Mutex(State())
    private let stopped = Atomic(false)
    private let wake: Descriptor

    init(wake: consuming Descriptor) {
        self.wake = wake
    }

    var wakeNumber: Int32 { wake.number }
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    func stop() {
        stopped.store(true, ordering: .releasing)
        ring()
    }

    /// Returns when the loop's thread has taken the script.
    func play(_ script: FaultScript) {
        let isPlayed = DispatchSemaphore(value: 0)
        state.withLock { $0.script = (script, isPlayed) }
        ring()
        isPlayed.wait()
    }

    /// For the loop's thread, when it was woken.
    func takeScript(_ play: (FaultScript) -> Void) {
        var count: UInt64 = 0
        unsafe read(wake.number, &count, 8)
        let script = state.withLock { state in
            defer { state.script = nil }
            return state.script
        }
        guard let (script, isPlayed) = script else { return }
        play(script)
        isPlayed.signal()
    }

    private func ring() {
        var one: UInt64 = 1
        // An eventfd takes 8 bytes and blocks only when its counter is at the maximum (eventfd(2)).
        unsafe write(wake.number, &one, 8)
    }

    var figures: SimulatorFigures {
        state.withLock { state in
            var figures = state.figures
            for (reason, count) in state.rejected { figures.rejectedBy[reason.rawValue] = count }
            figures.distinctTokens = state.accepted.distinctTokens
            figures.distinctIDs = state.accepted.distinctIDs
            figures.duplicates = state.accepted.duplicates
            return figures
        }
    }

    var accepted: AcceptedPushes { state.withLock { $0.accepted } }
    func hasAccepted(id: String) -> Bool { state.withLock { $0.accepted.contains(id: id) } }
    var failure: String? { state.withLock { $0.failure } }

    func publish(
        _ figures: SimulatorFigures, rejected: [RejectionReason: Int], accepted: [(token: UInt64, id: UInt64)],
        failure: String?
    ) {
        state.withLock { state in
            state.figures = figures
            state.rejected = rejected
            state.accepted.add(accepted)
            if state.failure == nil { state.failure = failure }
            state.waiters.removeAll { waiter in
                guard waiter.requests <= figures.requests else { return false }
                waiter.arrived.signal()
                return true
            }
        }
    }

    /// Blocks until so many requests have been seen; false when `deadline` passes before that.
    func wait(forRequests requests: Int, deadline: Duration) -> Bool {
        let arrived = DispatchSemaphore(value: 0)
        let isThere = state.withLock { state in
            if state.figures.requests >= requests { return true }
            state.waiters.append((requests, arrived))
            return false
        }
        return isThere || arrived.wait(timeout: .now() + .seconds(Int(deadline.components.seconds))) == .success
    }
}
