// SPDX-License-Identifier: Apache-2.0

/// A moment on a clock that only goes forward: nanoseconds since some beginning, meaningless to other processes.
@usableFromInline package struct MonotonicTime: Hashable, Comparable, Sendable {
    @usableFromInline package var nanoseconds: UInt64

    @inlinable
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    @inlinable
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (left: MonotonicTime, right: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: left.nanoseconds &+ UInt64(max(right.nanoseconds, 0)))
    }

    /// The time from `right` to `left`; zero where `right` is the later one.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left > right ? Int64(left.nanoseconds &- right.nanoseconds) : 0)
    }
}

extension Duration {
    /// In nanoseconds, rounded towards zero; 292 years at most.
    package var nanoseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : seconds &+ components.attoseconds / 1_000_000_000
    }
}
