// SPDX-License-Identifier: Apache-2.0

/// Measures how long a pool's answers take while its connections have one width. Pure.
///
/// `add` runs for each of a million answers, so it is inlined and allocates nothing.
///
/// A reading is complete when as many requests have been answered as there are streams. It is the mean of the last quarter of
/// them: requests that were sent in one burst wait behind each other, and only the last ones wait as long as all will. Over
/// several streams it takes `window` at least, so that an idle moment weighs little.
@usableFromInline package struct AnswerMeter: Sendable {
    /// Streams of the measured connections; 1 while none is known to carry more.
    package private(set) var streams = 1
    /// Requests that were sent before this moment went over other connections.
    @usableFromInline var since = MonotonicTime(nanoseconds: 0)
    /// Answers that are skipped before the last quarter begins.
    @usableFromInline var toSkip = 0
    @usableFromInline var count = 0
    /// Nanoseconds.
    @usableFromInline var sum: UInt64 = 0
    /// Nanoseconds, of the quickest answer, skipped or not.
    @usableFromInline var least = UInt64.max

    /// The shortest time for a reading of several streams.
    package static let window = Duration.milliseconds(50)

    package init() {}

    /// - Parameter time: nanoseconds from sending the request to its answer.
    @inlinable
    package mutating func add(sentAt: MonotonicTime, latency time: UInt64) {
        guard sentAt >= since else { return }
        least = min(least, time)
        guard toSkip == 0 else {
            toSkip &-= 1
            return
        }
        count &+= 1
        sum &+= time
    }

    /// Begins a new reading, of the requests that are sent from now on.
    package mutating func restart(streams: Int, at now: MonotonicTime) {
        self.streams = max(1, streams)
        since = now
        toSkip = self.streams * 3 / 4
        count = 0
        sum = 0
        least = .max
    }

    /// nil until the reading is complete.
    package func reading(at now: MonotonicTime) -> ConnectionSearch.Reading? {
        guard count > 0, count >= streams - streams * 3 / 4, streams == 1 || now - since >= Self.window else {
            return nil
        }
        return .init(
            streams: streams, latency: .nanoseconds(Int64(clamping: sum / UInt64(count))),
            least: .nanoseconds(Int64(clamping: least)))
    }
}
