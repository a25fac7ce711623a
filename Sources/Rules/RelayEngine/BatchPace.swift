// SPDX-License-Identifier: Apache-2.0

/// Sizes the batches of a long job that runs beside work that must not wait for it. Pure: how long a batch took in, the next
/// batch's size and the pause before it out.
///
/// A batch that took more than twice the target halves the size, one that took less than half of it doubles it. The pause is
/// as long as the batch was, from 1 to 100 ms: the other work gets at least half of the time, unless batches take longer.
package struct BatchPace: Sendable {
    /// Rows, or pages, of the next batch.
    package private(set) var size: Int
    package private(set) var longest = Duration.zero

    private let sizes: ClosedRange<Int>
    private let target: Duration
    private static let pauses = Duration.milliseconds(1)...Duration.milliseconds(100)

    /// - Parameter target: how long one batch may hold up other work. Default 5 ms.
    package init(sizes: ClosedRange<Int>, target: Duration = .milliseconds(5)) {
        self.sizes = sizes
        self.target = target
        size = sizes.lowerBound
    }

    /// Notes a batch and returns the pause before the next.
    package mutating func finished(in time: Duration) -> Duration {
        longest = max(longest, time)
        if time > target * 2 {
            size = max(sizes.lowerBound, size / 2)
        } else if time < target / 2 {
            size = min(sizes.upperBound, size * 2)
        }
        return min(max(time, Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}
