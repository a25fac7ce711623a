// SPDX-License-Identifier: Apache-2.0

/// Events per second over the last five seconds: steady enough to read, quick enough to follow.
///
/// At a slow pace five seconds hold too few events for a rate; then the window is as long as 25 events take, and the rate is
/// taken from the first event to the last, so that a second more or less does not show.
package struct RateMeter: Sendable, Equatable {
    private static let shortest = Duration.seconds(5)

    private struct Sample: Sendable, Equatable {
        var time: Timestamp
        var count: Int
    }

    /// A rate that another process has measured; nil: it is measured here.
    private let steady: Double?
    private let isPaced: Bool
    private let window: Duration
    private var start: Timestamp?
    private var samples: [Sample] = []

    /// - Parameter pace: the events a second that are aimed at; nil: as they come.
    package init(pace: Double? = nil) {
        steady = nil
        isPaced = pace != nil
        window = max(Self.shortest, .milliseconds(Int64(25_000 / max(pace ?? .infinity, 1e-6))))
    }

    /// A rate that was measured elsewhere.
    package init(steady rate: Double) { (steady, isPaced, window) = (rate, false, Self.shortest) }

    package mutating func add(_ count: Int, at now: Timestamp) {
        if start == nil { start = now }
        samples.append(Sample(time: now, count: count))
        samples.removeAll { now - $0.time > window }
    }

    /// 0 before the first event, and again a window after the last.
    package func perSecond(at now: Timestamp) -> Double {
        if let steady { return steady }
        guard let start else { return 0 }
        if isPaced, let rate = pacedRate(at: now) { return rate }
        let counted = samples.reduce(0) { now - $1.time > window ? $0 : $0 + $1.count }
        let span = min(now - start, window).milliseconds
        // The first tenth of a second is too short to measure.
        return Double(counted) * 1000 / Double(max(span, 100))
    }

    /// nil with fewer than three samples.
    private func pacedRate(at now: Timestamp) -> Double? {
        let recent = samples.filter { now - $0.time <= window && $0.count > 0 }
        guard recent.count >= 3, let first = recent.first, let last = recent.last else { return nil }
        let counted = recent.dropFirst().reduce(0) { $0 + $1.count }
        let span = (last.time - first.time).milliseconds
        // Time in which an event is overdue counts, so that the rate falls when the events stop.
        let gap = span / Int64(recent.count - 1)
        let waited = max((now - last.time).milliseconds - 2 * gap - 200, 0)
        return Double(counted) * 1000 / Double(max(span + waited, 1))
    }
}
