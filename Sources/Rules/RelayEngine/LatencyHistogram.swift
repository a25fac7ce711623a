// SPDX-License-Identifier: Apache-2.0

/// How long things took, counted in buckets that double from half a millisecond to half a minute.
///
/// A plain value of the thread that owns it: adding one is a division by a constant and two additions, with no allocation.
@usableFromInline package struct LatencyHistogram: Sendable, Equatable {
    /// The upper bounds in seconds; longer times are in `count` alone.
    package static let bounds: [Double] = (0..<boundCount).map { Double(shortest << $0) / 1e9 }

    /// Nanoseconds: the first bucket's upper bound. Computed, so that the division is by a constant.
    @inlinable static var shortest: UInt64 { 500_000 }
    @inlinable static var boundCount: Int { 17 }

    @usableFromInline var buckets = InlineArray<18, Int>(repeating: 0)
    @usableFromInline var total = 0
    /// Nanoseconds.
    @usableFromInline var sum: UInt64 = 0

    package init() {}

    package var count: Int { total }

    @inlinable
    package mutating func add(nanoseconds: UInt64) {
        let units = (min(nanoseconds, .max - Self.shortest) + (Self.shortest - 1)) / Self.shortest
        let index = UInt64.bitWidth - (max(units, 1) &- 1).leadingZeroBitCount
        buckets[min(index, Self.boundCount)] &+= 1
        total &+= 1
        sum &+= nanoseconds
    }

    package mutating func add(_ duration: Duration) {
        add(nanoseconds: UInt64(max(duration.nanoseconds, 0)))
    }

    package var seconds: Double { Double(sum) / 1e9 }

    /// How many took no longer than each of `bounds`.
    package var cumulative: [Int] {
        var total = 0
        return (0..<Self.boundCount).map { index in
            total += buckets[index]
            return total
        }
    }

    /// Counts only grow, so the number and the sum distinguish two states of one histogram.
    @inlinable
    package static func == (left: LatencyHistogram, right: LatencyHistogram) -> Bool {
        left.total == right.total && left.sum == right.sum
    }
}
