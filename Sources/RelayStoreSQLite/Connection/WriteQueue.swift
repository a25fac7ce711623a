// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Who wants the writer, one at a time, in the order in which they came: a fair lock.
///
/// A plain mutex goes to whoever asks at the right moment: a thread that lets go and asks again at once, as an import does
/// between two transactions, would nearly always be that one, and those who sleep would hardly ever.
final class WriteQueue: Sendable {
    private struct State {
        var isTaken = false
        /// The first is the next.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Waits for one's turn. `leave()` must follow, on any thread.
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

    /// How many wait for their turn.
    var length: Int { state.withLock { $0.waiting.count } }
}
