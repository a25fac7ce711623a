// SPDX-License-Identifier: Apache-2.0

/// How often one kind of line may be logged: ten at once, then one each ten seconds. Pure.
package struct LogPace {
    package static let burst: Int64 = 10
    /// Milliseconds.
    package static let interval: Int64 = 10_000

    /// The time up to which lines are paid for.
    private var paid = Int64.min / 2
    private var suppressed = 0

    package init() {}

    /// How many lines were suppressed since the last that was logged; nil where this one is to be suppressed too.
    ///
    /// - Parameter now: milliseconds of a monotonic clock.
    package mutating func next(at now: Int64) -> Int? {
        let start = max(paid, now - Self.burst * Self.interval)
        guard start + Self.interval <= now else {
            suppressed += 1
            return nil
        }
        paid = start + Self.interval
        defer { suppressed = 0 }
        return suppressed
    }
}
