// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// How many of an app's devices that were seen lately had which version at one moment. It holds until the next count.
package struct VersionCount: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package var version: Version
        package var devices: Int64

        package init(version: Version, devices: Int64) { (self.version, self.devices) = (version, devices) }
    }

    package var at: Timestamp
    /// The newest version first.
    package var rows: [Row]
    /// Devices with other versions.
    package var others: Int64
    /// Devices of unknown version.
    package var unknown: Int64

    package init(at: Timestamp, rows: [Row], others: Int64, unknown: Int64) {
        (self.at, self.rows, self.others, self.unknown) = (at, rows, others, unknown)
    }

    /// The most versions of one count: those with the most devices. The rest is `others`.
    package static let most = 12

    /// nil where no device was seen lately: then nothing is known.
    package init?(_ shares: VersionShares) {
        guard shares.devices > 0 else { return nil }
        let found = shares.rows.filter { $0.devices > 0 }
            .sorted { ($0.devices, $0.version) > ($1.devices, $1.version) }.prefix(Self.most)
        let known = found.reduce(0) { $0 + $1.devices }
        self.init(
            at: shares.countedAt,
            rows: found.sorted { $0.version > $1.version }.map { Row(version: $0.version, devices: $0.devices) },
            others: shares.devices - shares.unknown - known, unknown: shares.unknown)
    }

    /// All devices that were seen lately.
    package var devices: Int64 { rows.reduce(others + unknown) { $0 + $1.devices } }

    package func devices(of version: Version) -> Int64 { rows.first { $0.version == version }?.devices ?? 0 }

    package func isSame(as other: VersionCount) -> Bool {
        (rows, others, unknown) == (other.rows, other.others, other.unknown)
    }
}

/// Decides which counts of an app's versions are kept: enough for a curve of weeks, in bounded space. Pure.
///
/// | age of the count | kept |
/// |---|---|
/// | up to 48 hours | all: one an hour |
/// | up to 13 weeks | the last of each day |
/// | up to 2 years | the last of each week |
/// | older | none |
///
/// A count is kept only where it differs from the one before: an app that nothing happens to costs nothing. A count replaces
/// those of later moments: the clock was set back. The newest count of an app always stays.
package enum VersionCourse {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let week = 7 * day

    /// The age up to which every count is kept.
    package static let hourly = Duration.milliseconds(2 * day)
    /// The age up to which one count a day is kept; pruning deletes no younger one.
    package static let daily = Duration.milliseconds(13 * week)
    /// The age up to which one count a week is kept.
    package static let weekly = Duration.milliseconds(104 * week)
    /// The most counts of an app: of hours, days and weeks, each of which may begin within the one before.
    package static let limit = 49 + 92 + 93

    /// The counts that are no longer kept.
    ///
    /// - Parameter moments: the times of an app's counts, ascending, none later than `now`.
    package static func surplus(of moments: [Timestamp], at now: Timestamp) -> [Timestamp] {
        zip(moments, moments.dropFirst()).filter { moment, next in
            let age = now - moment
            if age <= hourly { return false }
            if age <= daily { return number(of: moment, day) == number(of: next, day) }
            return age > weekly || number(of: moment, week) == number(of: next, week)
        }.map(\.0)
    }

    private static func number(of moment: Timestamp, _ grain: Int64) -> Int64 { moment.milliseconds / grain }

    // MARK: The picture

    /// The most counts of a picture: the last ones.
    private static let mostShown = 100

    /// The counts of a picture, ascending: every one of the first days, later the last of each day.
    package static func shown(_ counts: [VersionCount]) -> [VersionCount] {
        guard let first = counts.first, let last = counts.last else { return [] }
        guard last.at - first.at > hourly else { return counts }
        let next = counts.dropFirst().map { Optional(number(of: $0.at, day)) } + [nil]
        return zip(counts, next).filter { number(of: $0.0.at, day) != $0.1 }.suffix(mostShown).map(\.0)
    }

    /// The versions that ever had the greatest shares, the newest first.
    package static func leading(_ counts: [VersionCount], most: Int) -> [Version] {
        var peaks: [Version: Double] = [:]
        for count in counts {
            let all = Double(max(count.devices, 1))
            for row in count.rows { peaks[row.version] = max(peaks[row.version] ?? 0, Double(row.devices) / all) }
        }
        return peaks.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.prefix(most).map(\.key).sorted(by: >)
    }
}
