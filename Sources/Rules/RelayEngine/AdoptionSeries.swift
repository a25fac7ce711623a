// SPDX-License-Identifier: Apache-2.0

/// How many devices had come up to a campaign's requirement at one moment. The number holds until the next point.
package struct AdoptionPoint: Hashable, Sendable {
    package var at: Timestamp
    package var upgraded: Int64

    package init(at: Timestamp, upgraded: Int64) {
        self.at = at
        self.upgraded = upgraded
    }
}

/// Decides which moments of a campaign's `upgraded` are kept: enough for its curve, in bounded space. Pure.
///
/// | age of the campaign | points |
/// |---|---|
/// | its first 24 hours | one a minute at most |
/// | until 90 days | one an hour at most |
/// | from a week on | the first 24 hours keep only the last point of each hour |
/// | from 90 days on | no new ones |
///
/// A point is made only where the number differs from that of the point before: a campaign that nothing happens to costs
/// nothing. Before its first point the number was 0.
package struct AdoptionSeries: Sendable {
    /// The first hours, when most devices upgrade.
    package static let firstTime = Duration.seconds(86_400)
    /// The age from which those hours are no longer kept by the minute.
    package static let thinnedFrom = Duration.seconds(7 * 86_400)
    /// How long a campaign gets new points.
    package static let span = Duration.seconds(90 * 86_400)
    /// The most points of a campaign: one an hour for 90 days, 25 of them on the first day, which may begin within an hour.
    /// Before the first day is thinned there are fewer.
    package static let limit = 25 + 89 * 24 + 1

    private static let minute = Duration.seconds(60)
    private static let hour = Duration.seconds(3600)

    /// When the campaign began.
    package let begunAt: Timestamp

    package init(begunAt: Timestamp) {
        self.begunAt = begunAt
    }

    package enum Step: Hashable, Sendable {
        case nothing
        /// Keep this moment.
        case note
        /// Keep this moment, and delete the `surplus` of the first hours.
        case noteAndThin
    }

    /// The step at a moment when `upgraded` devices have upgraded; `last` is the last point that was kept.
    package func step(upgraded: Int64, after last: AdoptionPoint?, at now: Timestamp) -> Step {
        let age = now - begunAt
        guard age <= Self.span, upgraded != last?.upgraded ?? 0 else { return .nothing }
        if let last {
            let grain = age < Self.firstTime ? Self.minute : Self.hour
            // After a clock was set back, nothing is kept until it has passed the last point again.
            guard now > last.at, Self.number(of: now, grain) != Self.number(of: last.at, grain) else { return .nothing }
        }
        return age < Self.thinnedFrom ? .note : .noteAndThin
    }

    /// The end of the first hours, whose points are thinned.
    package var firstEnd: Timestamp { begunAt + Self.firstTime }

    /// The points of the first hours that are not the last of their hour. `points` must be in ascending order.
    package func surplus(of points: [AdoptionPoint]) -> [AdoptionPoint] {
        let first = points.prefix { $0.at < firstEnd }
        return zip(first, first.dropFirst()).filter { point, next in
            Self.number(of: point.at, Self.hour) == Self.number(of: next.at, Self.hour)
        }.map(\.0)
    }

    /// The number of the minute or hour since 1970, so that points of different campaigns lie side by side.
    private static func number(of time: Timestamp, _ grain: Duration) -> Int64 {
        time.milliseconds / grain.milliseconds
    }
}
