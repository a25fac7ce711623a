// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Limits how many of one thing go on at a time: in all, and for each key, so that no key takes them all.
package final class Slots: Sendable {
    let limit: Int
    let each: Int
    private let leavesRoom: Bool
    private struct State {
        var all = 0
        var byKey: [String: Int] = [:]
    }
    private let taken = Mutex(State())

    /// - Parameters:
    ///   - each: for one key. Default `limit`.
    ///   - leavesRoom: whether a key gets no more slots than are left for other keys. Then a key that comes later still
    ///     gets some, whatever the earlier keys take: up to half of the free slots.
    package init(limit: Int, each: Int? = nil, leavesRoom: Bool = false) {
        self.limit = limit
        self.each = each ?? limit
        self.leavesRoom = leavesRoom
    }

    /// nil when all are taken, or all that `key` may have.
    package func take(for key: String = "") -> Slot? { take(for: [key]) }

    /// nil when all are taken, or all that one of `keys` may have: the slot counts for each of them.
    package func take(for keys: [String]) -> Slot? {
        let isFree = taken.withLock { taken in
            let left = limit - taken.all
            let most = leavesRoom ? min(each, left) : each
            guard left > 0, keys.allSatisfy({ taken.byKey[$0, default: 0] < most }) else { return false }
            taken.all += 1
            for key in keys { taken.byKey[key, default: 0] += 1 }
            return true
        }
        return isFree ? Slot(self, keys) : nil
    }

    /// - Throws: a 503 with `busy` and the time to wait before a retry, where `take` returns nil.
    package func take(for key: String, busy: @autoclosure () -> String, retryAfter seconds: Int) throws -> Slot {
        try take(for: [key], busy: busy(), retryAfter: seconds)
    }

    package func take(for keys: [String], busy: @autoclosure () -> String, retryAfter seconds: Int) throws -> Slot {
        guard let slot = take(for: keys) else {
            throw ProblemDetails(503, busy(), headers: [("Retry-After", String(seconds))])
        }
        return slot
    }

    /// A slot that was taken; it is freed when this object ends.
    package final class Slot: Sendable {
        private let slots: Slots
        private let keys: [String]

        fileprivate init(_ slots: Slots, _ keys: [String]) {
            self.slots = slots
            self.keys = keys
        }

        deinit {
            slots.taken.withLock { taken in
                taken.all -= 1
                for key in keys {
                    let left = taken.byKey[key, default: 1] - 1
                    taken.byKey[key] = left > 0 ? left : nil
                }
            }
        }
    }
}
