// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Threading

/// The last look at each of several values of the store, kept for an interval so that many callers share it. Any thread may ask.
final class RecentLooks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Milliseconds for which a look is reused.
    let interval: Int64
    /// The number of looks beyond which expired ones are dropped.
    private let most: Int
    private let last = Mutex<[Key: (value: Value, at: Int64)]>([:])
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds of a clock that only goes forward.
    init(interval: Int64, most: Int, clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        (self.interval, self.most, self.clock) = (interval, most, clock)
    }

    /// - Parameter read: asks the store; nil is not remembered.
    func look(at key: Key, _ read: () throws -> Value?) throws -> Value? {
        let now = clock()
        if let found = last.withLock({ $0[key] }), now - found.at < interval { return found.value }
        let value = try read()
        last.withLock { last in
            if last.count >= most { last = last.filter { now - $0.value.at < interval } }
            last[key] = value.map { ($0, now) }
        }
        return value
    }
}
