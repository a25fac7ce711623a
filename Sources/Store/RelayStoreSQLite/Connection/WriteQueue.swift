// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A fair lock: callers get the writer one at a time, in the order in which they came.
///
/// A plain mutex goes to the thread that asks at the right moment: a thread that releases it and asks again at once, as an
/// import does between two transactions, would nearly always get it, and a thread that sleeps hardly ever.
final class WriteQueue: Sendable {
    private struct State {
        var isTaken = false
        /// The first one is next.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Waits for the caller's turn. `leave()` must follow, on any thread.
    func enter() {
        let place = state.withLock { state -> DispatchSemaphore? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let place = DispatchSemaphore(value: 0)
            state.waiting.append(place)
            return place
        }
        place?.wait()
    }

    /// Hands the turn to the next, if there is one.
    func leave() {
        let next = state.withLock { state -> DispatchSemaphore? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.signal()
    }

    /// How many callers wait for their turn.
    var length: Int { state.withLock { $0.waiting.count } }
}
