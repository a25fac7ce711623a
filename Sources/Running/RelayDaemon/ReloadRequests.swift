// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayAPI
import RelayEngine
import Synchronization
import WireFormat

/// Passes requests for a reload to the main thread, and its verdicts back. Any thread may ask.
final class ReloadRequests: Sendable {
    enum Verdict: Sendable, Hashable {
        case taken(ReloadReport)
        case refused(String)
    }

    private final class Waiter: Sendable {
        let verdict = Mutex<Verdict?>(nil)
        let arrived = DispatchSemaphore(value: 0)
    }

    private struct State {
        var waiting: [Waiter] = []
        var isClosed = false
        var refusal: (reason: String, at: Timestamp)?
        var takenAt: Timestamp
    }

    private let state: Mutex<State>
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - time: when the configuration in use was read.
    ///   - wake: makes the main thread call `serve`.
    init(startedAt time: Timestamp, wake: @escaping @Sendable () -> Void) {
        state = Mutex(State(takenAt: time))
        self.wake = wake
    }

    /// Blocks until a reload that starts after this call is over.
    ///
    /// - Throws: `ControlError`.
    func ask() throws -> ReloadReport {
        let waiter = Waiter()
        let isOpen = state.withLock { state in
            if !state.isClosed { state.waiting.append(waiter) }
            return !state.isClosed
        }
        if isOpen {
            wake()
            waiter.arrived.wait()
        }
        switch waiter.verdict.withLock({ $0 }) {
        case .taken(let report): return report
        case .refused(let reason):
            throw ControlError(
                .notReloaded, context: "not reloaded: the configuration stays as it was: \(reason)")
        case nil: throw ControlError(.stopping, context: "the daemon is stopping")
        }
    }

    /// Reloads, and answers the callers that had asked before. Called on the main thread.
    ///
    /// - Parameter reload: receives whether a caller had asked; if not, a signal caused the reload.
    func serve(clock: () -> Timestamp, _ reload: (_ isAskedFor: Bool) -> Verdict) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        let verdict = reload(!waiting.isEmpty)
        let now = clock()
        state.withLock { state in
            switch verdict {
            case .taken: (state.refusal, state.takenAt) = (nil, now)
            case .refused(let reason): state.refusal = (reason, now)
            }
        }
        answer(waiting, verdict)
    }

    /// Refuses further reloads and answers the callers that wait.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        answer(waiting, nil)
    }

    private func answer(_ waiting: [Waiter], _ verdict: Verdict?) {
        for waiter in waiting {
            waiter.verdict.withLock { $0 = verdict }
            waiter.arrived.signal()
        }
    }

    /// The refusal of the last reload; nil where it was taken.
    var fault: ReadinessFault? {
        state.withLock { state in
            state.refusal.map {
                ReadinessFault(
                    part: Self.part,
                    reason: "the reload at \($0.at.internetTime) was refused, the configuration of before is in use: "
                        + $0.reason)
            }
        }
    }

    static let part = "configuration"

    /// When the configuration in use was read.
    var takenAt: Timestamp { state.withLock { $0.takenAt } }
}
