// SPDX-License-Identifier: Apache-2.0

/// The wall clock, as far as it is believed: a new setting is believed once it has held for a minute. A clock that is eight
/// days ahead for half a second (a virtual machine that wakes, a time server that errs) ends no campaign's time to live.
/// Pure.
package struct BelievedClock: Sendable {
    /// A smaller change is believed at once: it ends nothing and holds up nothing for long.
    package static let tolerance = Duration.seconds(60)
    private static let proof = Duration.seconds(60)

    /// The wall clock's reading when the monotonic one was at 0.
    private var offset: Timestamp?
    /// The same for a setting that is not believed yet, and when that setting was first seen.
    private var other: (offset: Timestamp, since: MonotonicTime)?

    package init() {}

    package mutating func read(_ moment: Moment) -> Moment {
        let shown = moment.wall - (moment.tick - MonotonicTime(nanoseconds: 0))
        guard let offset, !Self.isNear(shown, offset) else {
            (self.offset, other) = (shown, nil)
            return moment
        }
        if let other, Self.isNear(shown, other.offset) {
            guard moment.tick - other.since < Self.proof else {
                (self.offset, self.other) = (shown, nil)
                return moment
            }
        } else {
            other = (shown, moment.tick)
        }
        return Moment(
            wall: Moment(wall: offset, tick: MonotonicTime(nanoseconds: 0)).wall(at: moment.tick), tick: moment.tick)
    }

    private static func isNear(_ left: Timestamp, _ right: Timestamp) -> Bool {
        max(left, right) - min(left, right) < tolerance
    }
}
