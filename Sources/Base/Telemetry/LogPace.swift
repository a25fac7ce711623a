// SPDX-License-Identifier: Apache-2.0

/// Limits how often lines of one kind are logged: a burst at once, then one in each interval. Pure.
package struct LogPace: Sendable {
    private let burst: Int64
    private let interval: Int64
    /// The time up to which the logged lines have used up the allowance.
    private var paid = Int64.min / 2
    private var suppressed = 0

    /// - Parameter interval: milliseconds.
    package init(burst: Int64 = 10, interval: Int64 = 10_000) {
        self.burst = burst
        self.interval = interval
    }

    /// How many lines were suppressed since the last that was logged; nil where this one must be suppressed too.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    package mutating func next(at now: Int64) -> Int? {
        let start = max(paid, now - burst * interval)
        guard start + interval <= now else {
            suppressed += 1
            return nil
        }
        paid = start + interval
        defer { suppressed = 0 }
        return suppressed
    }
}
