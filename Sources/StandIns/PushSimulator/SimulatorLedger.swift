// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Threading

/// The figures that the loop's thread publishes for any thread, and the commands to that thread.
final class SimulatorLedger: Sendable {
    enum Command: Sendable {
        /// A script to play from now on; `isPlayed` is called once it has been taken.
        case play(FaultScript, isPlayed: @Sendable () -> Void)
        case stop
    }

    fileprivate struct State {
        var figures = SimulatorFigures()
        var rejected: [RejectionReason: Int] = [:]
        var accepted = AcceptedPushes()
        var failure: String?
        /// The threads that wait for figures.
        var waiters: [Waiter] = []
    }

    fileprivate struct Waiter {
        let condition: @Sendable (SimulatorFigures) -> Bool
        let isMet = DispatchSemaphore(value: 0)
    }

    private let state = Mutex(State())
    let mailbox: Mailbox<Command>

    init() throws(SystemError) {
        mailbox = try Mailbox()
    }

    /// Returns when the loop's thread has taken the script.
    func play(_ script: FaultScript) {
        let isPlayed = DispatchSemaphore(value: 0)
        mailbox.post(.play(script) { isPlayed.signal() })
        isPlayed.wait()
    }

    var figures: SimulatorFigures { state.withLock { $0.whole } }

    var accepted: AcceptedPushes { state.withLock { $0.accepted } }
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
            guard !state.waiters.isEmpty else { return }
            let whole = state.whole
            state.waiters.removeAll { waiter in
                guard waiter.condition(whole) else { return false }
                waiter.isMet.signal()
                return true
            }
        }
    }

    /// Blocks until the figures meet `condition`; false when `deadline` passes before that.
    func wait(deadline: Duration, until condition: @escaping @Sendable (SimulatorFigures) -> Bool) -> Bool {
        let waiter = Waiter(condition: condition)
        let isThere = state.withLock { state in
            if condition(state.whole) { return true }
            state.waiters.append(waiter)
            return false
        }
        return isThere || waiter.isMet.wait(timeout: .now() + deadline / .seconds(1)) == .success
    }
}

extension SimulatorLedger.State {
    /// The figures, with the counts that are kept apart from them.
    fileprivate var whole: SimulatorFigures {
        var figures = figures
        for (reason, count) in rejected { figures.rejectedBy[reason.rawValue] = count }
        figures.distinctTokens = accepted.distinctTokens
        figures.distinctIDs = accepted.distinctIDs
        figures.duplicates = accepted.duplicates
        return figures
    }
}
