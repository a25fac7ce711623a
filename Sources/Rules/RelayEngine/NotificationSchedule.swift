// SPDX-License-Identifier: Apache-2.0

/// The verdict on a notification after an attempt.
package enum NotificationVerdict: Hashable, Sendable {
    case delivered
    /// Tried again at `at`; nothing at all goes to the receiver before `holdUntil`.
    case retry(at: Timestamp, holdUntil: Timestamp?)
    /// The last attempt of the schedule has failed.
    case giveUp
    /// The receiver refuses all further notifications.
    case disable
}

/// When a notification is tried again (Standard Webhooks 1.0.0, "Deliverability and reliability"). Pure: an answer, the time
/// and a random number in, a verdict out.
///
/// | attempt | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
/// |---|---|---|---|---|---|---|---|---|---|---|
/// | delay after the previous attempt | 0 s | 5 s | 5 min | 30 min | 2 h | 5 h | 10 h | 14 h | 20 h | 24 h |
///
/// Jitter adds up to a tenth and never takes anything away. 2xx is done; every other answer, 3xx too, and none at all are
/// failures. 410 disables the receiver. 429, 502 and 504 hold everything that goes to it: for `Retry-After`, or a minute.
/// With any other failure `Retry-After` counts too, but only for that notification. It counts up to a day.
package struct NotificationSchedule: Sendable {
    package static let delays: [Duration] = [
        .zero, .seconds(5), .seconds(300), .seconds(1800), .seconds(7200), .seconds(18_000), .seconds(36_000),
        .seconds(50_400), .seconds(72_000), .seconds(86_400),
    ]
    /// The longest wait of any verdict: a stored time that is further ahead was written by a clock that has been set back since.
    package static let longestWait = max(delays.max() ?? .zero, longestRetryAfter) * (1 + jitter)
    /// How long one attempt may take; Standard Webhooks: "15-30 s".
    package static let timeout = Duration.seconds(20)

    /// The most that is added to a delay, as a fraction of it.
    private static let jitter = 0.1
    private static let throttling: Set<Int> = [429, 502, 504]
    private static let hold = Duration.seconds(60)
    private static let longestRetryAfter = Duration.seconds(86_400)

    package init() {}

    /// - Parameters:
    ///   - attempt: how many attempts have been made, this one included: from 1.
    ///   - status: the answer's; nil where there was none.
    ///   - random: a number from 0 up to, not including, 1.
    package func verdict(
        attempt: Int, status: Int?, retryAfter: Duration?, at now: Timestamp, random: Double
    ) -> NotificationVerdict {
        if let status, (200..<300).contains(status) { return .delivered }
        if status == 410 { return .disable }
        guard attempt < Self.delays.count else { return .giveUp }
        let asked = retryAfter.map { min(max($0, .zero), Self.longestRetryAfter) }
        let isThrottled = status.map(Self.throttling.contains) ?? false
        let holdUntil = isThrottled ? now + (asked ?? Self.hold) : nil
        let delay = Self.delays[max(attempt, 1)]
        let jitter = Duration.milliseconds(Int64(Double(delay.milliseconds) * Self.jitter * random))
        let due = max(now + delay + jitter, now + (asked ?? .zero), holdUntil ?? now)
        return .retry(at: due, holdUntil: holdUntil)
    }
}
