// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// When a version counts as given up by its users.
package struct RetirementRules: Hashable, Sendable {
    /// Devices with a version or an older one must be below this share of the devices seen lately, from 0 to 1. Default 0.01.
    package var retireBelow = 0.01
    /// How recently a device must have been seen to count as seen lately. Default 30 days.
    package var seenWithin = Duration.seconds(30 * 86_400)

    package init() {}

    /// The interval at which a device that logs in with an unchanged version is noted as seen. `seenWithin` is at least twice this.
    package static let seenEvery = Duration.seconds(7 * 86_400)
}

/// How many of an app's devices that were seen lately have which version, and since when a version and all older ones are
/// below the configured share, so that code that serves only them can be removed. Pure.
///
/// | version and older | `belowSince` | reported (`isNotified`) |
/// |---|---|---|
/// | first counted, at or above the share | none | no |
/// | first counted, below it | that moment | counts as reported: its fall was not seen |
/// | falls below it, not reported | that moment | now |
/// | falls below it, reported | that moment | no: it has hardly risen since |
/// | stays below it | stays | |
/// | rises to the share | none | stays reported |
/// | rises to one and a half times the share | none | the next fall is reported again |
///
/// A device of unknown version counts as older than all. While no device was seen lately, nothing is known, and nothing
/// changes.
package struct VersionShares: Hashable, Sendable {
    /// One version, and those below it.
    package struct Row: Hashable, Sendable {
        package var version: Version
        /// Devices with this version.
        package var devices: Int64
        /// Devices with this version, an older one, or an unknown one.
        package var orOlder: Int64
        /// nil where these are not below the share.
        package var belowSince: Timestamp?
        /// Whether its fall was reported, or came before the first count, and it has not risen well above the share since.
        package var isNotified: Bool

        package init(version: Version, devices: Int64, orOlder: Int64, belowSince: Timestamp?, isNotified: Bool) {
            self.version = version
            self.devices = devices
            self.orOlder = orOlder
            self.belowSince = belowSince
            self.isNotified = isNotified
        }
    }

    package var countedAt: Timestamp
    /// Since when a device must have been seen to count.
    package var seenSince: Timestamp
    package var retireBelow: Double
    /// All devices that were seen lately.
    package var devices: Int64
    /// The devices of unknown version among them.
    package var unknown: Int64
    /// Ascending.
    package var rows: [Row]

    package init(
        countedAt: Timestamp, seenSince: Timestamp, retireBelow: Double, devices: Int64, unknown: Int64, rows: [Row]
    ) {
        self.countedAt = countedAt
        self.seenSince = seenSince
        self.retireBelow = retireBelow
        self.devices = devices
        self.unknown = unknown
        self.rows = rows
    }

    /// How often devices are counted.
    package static let interval = Duration.seconds(3600)
    /// The most versions that are kept; the oldest beyond that are left out.
    package static let most = 1000
    /// How long a version that no device was seen with lately is kept, after it fell below the share.
    private static let memory = Duration.seconds(90 * 86_400)
    /// How far above the share a version must rise for its next fall to be reported.
    private static let wellAbove = 1.5

    /// Takes a count.
    ///
    /// - Parameters:
    ///   - counts: devices seen lately by version, in any order and spelling.
    ///   - unknown: devices of unknown version.
    ///   - before: the previous count; nil: there was none.
    /// - Returns: the new state, and the versions of it whose fall must be reported.
    package static func counted(
        _ counts: [(version: Version, devices: Int64)], unknown: Int64, after before: VersionShares?,
        by rules: RetirementRules, at now: Timestamp
    ) -> (shares: VersionShares, fallen: [Row]) {
        let total = counts.reduce(unknown) { $0 + $1.devices }
        var shares = VersionShares(
            countedAt: now, seenSince: now - rules.seenWithin, retireBelow: rules.retireBelow, devices: total,
            unknown: unknown, rows: before?.rows ?? [])
        guard total > 0 else { return (shares, []) }
        let old = Dictionary((before?.rows ?? []).map { ($0.version, $0) }) { first, _ in first }
        let new = Dictionary(counts.map { ($0.version, $0.devices) }, uniquingKeysWith: +)
        var (rows, fallen): ([Row], [Row]) = ([], [])
        var orOlder = unknown
        for version in Set(old.keys).union(new.keys).sorted() {
            let devices = new[version] ?? 0
            orOlder += devices
            let last = old[version]
            var row = Row(
                version: last?.version ?? version, devices: devices, orOlder: orOlder, belowSince: nil,
                isNotified: last?.isNotified ?? false)
            let limit = rules.retireBelow * Double(total)
            if Double(orOlder) < limit {
                row.belowSince = last?.belowSince ?? now
                if last != nil, !row.isNotified { fallen.append(row) }
                row.isNotified = true
            } else if Double(orOlder) >= min(limit * wellAbove, Double(total)) {
                row.isNotified = false
            }
            let isForgotten = devices == 0 && row.belowSince.map { now - $0 > memory } ?? false
            if !isForgotten { rows.append(row) }
        }
        shares.rows = rows.suffix(most)
        return (shares, fallen)
    }

    /// The newest version that is below the share, with all older ones; nil: none is.
    package var newestBelow: Row? { rows.last { $0.belowSince != nil } }

    /// Devices that were seen lately with an older version than this one, or with an unknown one.
    package func devices(below version: Version) -> Int64 {
        rows.last { $0.version < version }?.orOlder ?? unknown
    }
}
