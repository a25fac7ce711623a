// SPDX-License-Identifier: Apache-2.0

/// When a push that failed for now is tried again. Pure: the attempt and a random number in, a delay out.
///
/// | cause | first | then | at most |
/// |---|---|---|---|
/// | 429 for one token, with Retry-After | Retry-After | Retry-After | 1 day |
/// | any other 429 or 5xx with Retry-After | Retry-After | Retry-After | 1 h |
/// | 429 for one token, without | 2 s | doubles | 5 min |
/// | 5xx without | 15 min | doubles | 4 h |
/// | 429 or 5xx of a provider that asks for other delays, without | its `Backoff` | doubles | its `Backoff` |
/// | transport loss, after the connection pool's immediate second try | 1 s | doubles | 5 min |
/// | no connection available | when the next one is dialled: 1 s to 75 s (`PoolMachine`) | | |
/// | bad credential, unsent | when sending goes on | | |
///
/// Apple, "Handling notification responses from APNs": "After 15 minutes, you can retry JSON payloads that receive response
/// status codes that begin with 5XX. While retrying, you may employ a back-off technique." A `Retry-After` takes precedence.
///
/// Jitter adds up to a quarter of the delay and never takes anything away: no push is sent before its time. Pushes that wait
/// for a connection get no jitter: the dial has its own, and nothing is sent before it has succeeded.
package struct RetrySchedule: Sendable {
    /// A `Retry-After` about the service itself counts up to an hour: a whole day, for whatever reason, would leave users
    /// behind for as long. One about a single device counts up to a day.
    package static let longestRetryAfter = Duration.seconds(3600)

    /// The delays that a provider asks for.
    package struct Backoff: Sendable, Hashable {
        package let first: Duration
        package let limit: Duration

        package init(first: Duration, limit: Duration) { (self.first, self.limit) = (first, limit) }
    }

    package enum Cause: Sendable, Hashable {
        case tooManyRequests(retryAfter: Duration?)
        case service(retryAfter: Duration?)
        /// 429 about the quota of a project, or about one device.
        case quota(Backoff, retryAfter: Duration?)
        /// 5xx of a provider that asks for other delays.
        case unavailable(Backoff, retryAfter: Duration?)
        case transport
        /// No connection is available, and none is dialled for `rest`.
        case unreachable(rest: Duration)
        /// Nothing is wrong with the push: it goes out again as soon as its campaign is sending.
        case notSent
    }

    package init() {}

    /// - Parameters:
    ///   - attempt: how many attempts have been made, from 1.
    ///   - random: a number from 0 up to, not including, 1.
    package func delay(after cause: Cause, attempt: Int, random: Double) -> Duration {
        let base: Duration
        switch cause {
        case .notSent:
            return .zero
        case .unreachable(let rest):
            return max(rest, .seconds(1))
        case .tooManyRequests(let retryAfter?):
            base = min(max(retryAfter, .seconds(1)), .seconds(86400))
        case .service(let retryAfter?), .quota(_, let retryAfter?), .unavailable(_, let retryAfter?):
            base = min(max(retryAfter, .seconds(1)), Self.longestRetryAfter)
        case .tooManyRequests(nil):
            base = Self.doubling(from: .seconds(2), attempt: attempt, limit: .seconds(300))
        case .transport:
            base = Self.doubling(from: .seconds(1), attempt: attempt, limit: .seconds(300))
        case .service(nil):
            base = Self.doubling(from: .seconds(900), attempt: attempt, limit: .seconds(14_400))
        case .quota(let backoff, nil), .unavailable(let backoff, nil):
            base = Self.doubling(from: backoff.first, attempt: attempt, limit: backoff.limit)
        }
        return base + .milliseconds(Int64(Double(base.milliseconds) * 0.25 * random))
    }

    private static func doubling(from first: Duration, attempt: Int, limit: Duration) -> Duration {
        var delay = first
        var doublings = max(attempt, 1) - 1
        while doublings > 0, delay < limit {
            delay *= 2
            doublings -= 1
        }
        return min(delay, limit)
    }
}
