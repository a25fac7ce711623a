// SPDX-License-Identifier: Apache-2.0

/// A histogram as counts, for what keeps it, and its quantiles.
extension LatencyHistogram {
    /// The number of buckets: one for each of `bounds`, and one for longer times.
    package static var bucketCount: Int { boundCount + 1 }

    /// - Parameter counts: one for each bucket; missing ones are 0.
    package init(counts: [Int]) {
        for (index, count) in counts.prefix(Self.bucketCount).enumerated() {
            buckets[index] = max(count, 0)
            total += max(count, 0)
        }
    }

    /// The number in each bucket.
    package var counts: [Int] { (0..<Self.bucketCount).map { buckets[$0] } }

    package mutating func add(_ other: LatencyHistogram) {
        for index in 0..<Self.bucketCount { buckets[index] &+= other.buckets[index] }
        total &+= other.total
        sum &+= other.sum
    }

    /// The time within which a share of all took. Those of one bucket count as evenly spread over it, as in Prometheus'
    /// `histogram_quantile`; longer ones than the last bound as that bound.
    ///
    /// - Parameter share: from 0 to 1.
    /// - Returns: nil where nothing was counted.
    package func quantile(_ share: Double) -> Duration? {
        guard total > 0 else { return nil }
        let rank = share * Double(total)
        var (before, lower) = (0.0, 0.0)
        for (index, upper) in Self.bounds.enumerated() {
            let here = Double(buckets[index])
            if here > 0, before + here >= rank {
                return .nanoseconds(Int64((lower + (upper - lower) * (rank - before) / here) * 1e9))
            }
            (before, lower) = (before + here, upper)
        }
        return .nanoseconds(Int64(lower * 1e9))
    }
}
