// SPDX-License-Identifier: Apache-2.0

/// Events per second over the last five seconds: steady enough to read, quick enough to follow.
package struct RateMeter: Sendable, Equatable {
    private static let window = Duration.seconds(5)

    private struct Sample: Sendable, Equatable {
        var time: Timestamp
        var count: Int
    }

    private var start: Timestamp?
    private var samples: [Sample] = []

    package init() {}

    package mutating func add(_ count: Int, at now: Timestamp) {
        if start == nil { start = now }
        samples.append(Sample(time: now, count: count))
        samples.removeAll { now - $0.time > Self.window }
    }

    /// 0 before the first event, and again five seconds after the last.
    package func perSecond(at now: Timestamp) -> Double {
        guard let start else { return 0 }
        let counted = samples.reduce(0) { now - $1.time > Self.window ? $0 : $0 + $1.count }
        let span = min(now - start, Self.window).milliseconds
        // The first tenth of a second says nothing yet.
        return Double(counted) * 1000 / Double(max(span, 100))
    }
}
