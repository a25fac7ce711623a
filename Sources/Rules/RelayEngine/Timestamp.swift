// SPDX-License-Identifier: Apache-2.0

/// A moment on the wall clock: milliseconds since 1970-01-01T00:00:00Z, as the store keeps them.
///
/// Wall time is for times that must survive a restart (retry schedules, token ages); times that end with a connection are
/// measured on the monotonic clock instead.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package init(seconds: Int64) {
        self.milliseconds = seconds * 1000
    }

    /// Seconds since 1970, rounded towards zero.
    package var seconds: Int64 { milliseconds / 1000 }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    package static func + (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds + right.milliseconds)
    }

    package static func - (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds - right.milliseconds)
    }

    /// The next multiple of `grain` since 1970, or itself; never earlier.
    package func roundedUp(to grain: Duration) -> Timestamp {
        let past = milliseconds % grain.milliseconds
        return past == 0 ? self : Timestamp(milliseconds: milliseconds - past + grain.milliseconds)
    }

    /// This moment; but `now` if it is further ahead than `longest`, the most that it can have been put off: then it was noted
    /// while the clock was ahead, and is due.
    package func due(at now: Timestamp, putOffAtMost longest: Duration) -> Timestamp {
        self > now + longest ? now : self
    }

    /// The time from `right` to `left`.
    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}

extension Duration {
    /// In milliseconds, rounded towards zero.
    package var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
