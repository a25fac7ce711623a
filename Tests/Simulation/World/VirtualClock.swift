// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The two clocks of a simulated machine. The monotonic one only goes forward; people and time servers set the other.
struct VirtualClock {
    /// A Monday in January 2026, 08:07 UTC: not around a quarter of an hour, which FCM's campaigns avoid.
    private static let start = Timestamp(seconds: 1_768_205_220)

    private(set) var tick = MonotonicTime(nanoseconds: 1_000_000_000)
    /// How far the wall clock is set from the right time.
    var error = Duration.zero

    var now: Moment { Moment(wall: rightTime + error, tick: tick) }

    /// The time of a wall clock that was never set.
    var rightTime: Timestamp { Self.start + .nanoseconds(Int64(tick.nanoseconds)) }

    mutating func pass(to time: MonotonicTime) {
        tick = max(tick, time)
    }
}
