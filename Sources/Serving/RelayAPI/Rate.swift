// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Threading

/// Limits how often each key may do one thing: `most` times at once, and then once in each `most`th part of a minute.
final class Rate: Sendable {
    /// The number of times per minute.
    let most: Int
    private let clock: @Sendable () -> Int64
    /// The time up to which each key has used its share, in milliseconds.
    private let used = Mutex<[String: Int64]>([:])

    /// - Parameter clock: milliseconds of a monotonic clock.
    init(perMinute most: Int, clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) {
        self.most = most
        self.clock = clock
    }

    /// - Throws: a 429 (RFC 6585, section 4) with the time until the next one may come.
    func take(for key: String, _ what: String) throws {
        let (now, share) = (clock(), 60_000 / Int64(most))
        let wait: Int64 = used.withLock { used in
            used = used.filter { $0.value > now - 60_000 }
            let next = max(used[key] ?? .min, now - 60_000) + share
            guard next <= now else { return next - now }
            used[key] = next
            return 0
        }
        guard wait > 0 else { return }
        throw ProblemDetails(
            429, "\(most) \(what) a minute are for one API token",
            headers: [("Retry-After", String((wait + 999) / 1000))]
        )
    }
}
