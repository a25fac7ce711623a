// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The versions of an app's devices, now and over weeks.
struct AppAdoption {
    let app: AppKey
    let at: Timestamp
    /// nil: not counted yet.
    let shares: VersionShares?
    /// In order of time.
    let counts: [VersionCount]

    static let shape = Shape<AppAdoption>(
        "AppAdoption", "The versions of an app's devices seen lately, now and over weeks.",
        [
            AppKey.shape.members { $0.app },
            .member(.at, .instant, "The moment of this answer.") { $0.at },
            .nullableObject(.versions, VersionShares.shape, "The last count. null: not counted yet.") { $0.shares },
            .list(.items, of: VersionCount.shape, "The counts that are kept, ascending. One holds until the next.") {
                $0.counts
            },
        ])
}

extension VersionCount {
    static let shape = Shape<VersionCount>(
        "VersionCount", "The versions of the app's devices seen lately, at one moment.",
        [
            .member(.at, .instant, "The time of the count.") { $0.at },
            .member(.seen, .count, "All devices that count.") { $0.devices },
            .list(
                .versions, of: Row.shape, "The \(VersionCount.most) versions with the most devices, the newest first."
            ) { count in count.rows.map { (row: $0, of: count.devices) } },
            .member(.others, .count, "Devices with other versions.") { $0.others },
            .member(.unknown, .count, "Devices of unknown version.") { $0.unknown },
        ])
}

extension VersionCount.Row {
    static let shape = Shape<(row: VersionCount.Row, of: Int64)>(
        "CountedVersion", "The number of devices that had a version.",
        [
            .member(.version, .version) { $0.row.version.text },
            .member(.devices, .count, "Devices with this version.") { $0.row.devices },
            .member(.share, .decimal, "The same as a share of all that were seen, from 0 to 1.") {
                VersionShares.Row.share($0.row.devices, of: $0.of)
            },
        ])
}

extension API {
    func adoption(of app: AppKey) throws -> Response {
        try require(app)
        let adoption = AppAdoption(
            app: app, at: now(), shares: try store.versionShares(of: app), counts: try store.versionCounts(of: app))
        return .json { $0.object(adoption, AppAdoption.shape) }
    }
}
