// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many of one thing may go on at a time: in all, and for each who asks, so that nobody takes them all.
package final class Slots: Sendable {
    let limit: Int
    let each: Int
    private let taken = Mutex<[String: Int]>([:])

    /// - Parameter each: for one key. Default `limit`.
    init(limit: Int, each: Int? = nil) {
        self.limit = limit
        self.each = each ?? limit
    }

    /// nil when all are taken, or all that `key` may have.
    package func take(for key: String = "") -> Slot? {
        let isFree = taken.withLock { taken in
            guard taken[key, default: 0] < each, taken.values.reduce(0, +) < limit else { return false }
            taken[key, default: 0] += 1
            return true
        }
        return isFree ? Slot(self, key) : nil
    }

    /// - Throws: a 503 that says `busy`, and when to come again, where `take` answers nil.
    package func take(for key: String, busy: @autoclosure () -> String, retryAfter seconds: Int) throws -> Slot {
        guard let slot = take(for: key) else {
            throw ProblemDetails(503, busy(), headers: [("Retry-After", String(seconds))])
        }
        return slot
    }

    /// One that was taken; given back by its end of life.
    package final class Slot: Sendable {
        private let slots: Slots
        private let key: String

        fileprivate init(_ slots: Slots, _ key: String) {
            self.slots = slots
            self.key = key
        }

        deinit {
            slots.taken.withLock { taken in
                let left = taken[key, default: 1] - 1
                taken[key] = left > 0 ? left : nil
            }
        }
    }
}
