// SPDX-License-Identifier: Apache-2.0

/// How long the push services took to answer a campaign's requests within one stretch of time.
package struct LatencyStretch: Sendable, Equatable {
    package var from: Timestamp
    package var length: Duration
    package var latency: LatencyHistogram

    package init(from: Timestamp, length: Duration, latency: LatencyHistogram) {
        (self.from, self.length, self.latency) = (from, length, latency)
    }

    /// The stretch of a campaign that a moment lies in.
    package init(at now: Timestamp, begunAt: Timestamp, latency: LatencyHistogram) {
        let length = LatencyCourse.length(at: now - begunAt)
        self.init(from: LatencyCourse.start(of: now, length), length: length, latency: latency)
    }
}

/// Decides over which stretches of time a campaign's answers are counted: short ones while most are sent, and few in all. Pure.
///
/// | age of the campaign | stretches of | at most |
/// |---|---|---|
/// | 2 minutes | 1 second | 121 |
/// | 20 minutes | 10 seconds | 109 |
/// | 2 hours | 1 minute | 101 |
/// | a day | 15 minutes | 89 |
/// | 90 days | 6 hours | 357 |
/// | older | 30 days | |
///
/// They begin at whole multiples of their length since 1970. A stretch in which nothing was answered does not exist.
package enum LatencyCourse {
    private static let steps: [(age: Int64, length: Int64)] = [
        (120, 1), (1200, 10), (7200, 60), (86_400, 900), (90 * 86_400, 21_600),
    ]
    private static let longest: Int64 = 30 * 86_400

    static func length(at age: Duration) -> Duration {
        .seconds(steps.first { age < .seconds($0.age) }?.length ?? longest)
    }

    static func start(of moment: Timestamp, _ length: Duration) -> Timestamp {
        let width = max(length.milliseconds, 1)
        return Timestamp(milliseconds: moment.milliseconds / width * width)
    }

    /// The stretches of a picture, each at least as long as `grain`, in order of time.
    package static func merged(_ stretches: [LatencyStretch], over grain: Duration) -> [LatencyStretch] {
        var merged: [LatencyStretch] = []
        for stretch in stretches.sorted(by: { ($0.from, $0.length) < ($1.from, $1.length) }) {
            let length = max(stretch.length, grain)
            let from = start(of: stretch.from, length)
            if let last = merged.last, last.from == from, last.length == length {
                merged[merged.count - 1].latency.add(stretch.latency)
            } else {
                merged.append(LatencyStretch(from: from, length: length, latency: stretch.latency))
            }
        }
        return merged
    }
}
