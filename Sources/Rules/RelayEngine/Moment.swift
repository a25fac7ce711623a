// SPDX-License-Identifier: Apache-2.0

/// One moment on both clocks.
///
/// The wall clock is for times that the store keeps and people read; it may be set. The monotonic one is for how long
/// something lasts within this process: an outage, a ramp, a rest between dials.
package struct Moment: Hashable, Sendable {
    package var wall: Timestamp
    package var tick: MonotonicTime

    package init(wall: Timestamp, tick: MonotonicTime) {
        self.wall = wall
        self.tick = tick
    }

    package static func + (left: Moment, right: Duration) -> Moment {
        Moment(wall: left.wall + right, tick: left.tick + right)
    }

    /// The wall clock's time at `tick`.
    package func wall(at tick: MonotonicTime) -> Timestamp { wall + (tick - self.tick) }
}
