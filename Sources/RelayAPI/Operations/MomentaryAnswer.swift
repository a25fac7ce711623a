// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Remembers for a moment what anybody may ask and what costs something to find out: a commit to the disk for `/readyz`, a
/// look at the whole store for `/metrics`.
///
/// So it is found out at most once in `interval`, however many ask, and by one thread at a time; those who come meanwhile
/// wait for the answer and take it. Any thread may ask.
final class MomentaryAnswer<Answer: Sendable>: Sendable {
    private let last = Mutex<(answer: Answer, found: Int64)?>(nil)

    /// Milliseconds for which an answer holds.
    private var interval: Int64 { 1000 }

    /// - Parameters:
    ///   - now: milliseconds of a monotonic clock.
    ///   - look: finds it out.
    func answer(at now: () -> Int64, look: () -> Answer) -> Answer {
        last.withLock { last in
            // Read behind the lock: whoever waited for it is served with what was found meanwhile.
            let time = now()
            if let last, time - last.found < interval { return last.answer }
            let answer = look()
            // From the answer on: a look that takes long must not be followed by the next one at once.
            last = (answer, now())
            return answer
        }
    }
}
