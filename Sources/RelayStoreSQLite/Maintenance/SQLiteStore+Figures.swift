// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
package import RelayStore
import StoreSQL
import Synchronization

extension SQLiteStore {
    package func figures() -> StoreFigures {
        var figures = tally.withLock { $0 }
        figures.databaseBytes = Self.fileSize(path)
        // A log that is not there holds nothing.
        figures.logBytes = Self.fileSize(path + "-wal") ?? 0
        var system = statvfs()
        if unsafe statvfs(path, &system) == 0 {
            figures.freeBytes = Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
        }
        return figures
    }

    package func census() throws -> StoreCensus {
        try read("counting devices and campaigns") { connection in
            var census = StoreCensus()
            // The count that the relay keeps: nothing is scanned.
            for (app, devices) in try connection.all(
                "SELECT name, platform, devices FROM app",
                row: { (AppKey(app: $0.text(0), platform: $0.platform(1)), $0.integer(2)) })
            {
                census.devices[app] = devices
            }
            let campaigns = try connection.all(
                """
                SELECT a.name, a.platform, c.state, count(*),
                    sum(n.cancelled + \(CampaignTable.leftOut("c")))
                FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id JOIN app AS a ON a.id = c.app_id
                GROUP BY c.app_id, c.state
                """
            ) {
                (
                    AppKey(app: $0.text(0), platform: $0.platform(1)), CampaignState(rawValue: $0.text(2)),
                    $0.integer(3), $0.integer(4)
                )
            }
            for case (let app, let state?, let count, let cancelled) in campaigns {
                census.campaigns[.init(app: app, state: state)] = count
                census.cancelled[.init(app: app, state: state)] = cancelled
            }
            // Over the index of what is pending, of which a receiver has ten thousand at most.
            census.receivers = try connection.all(
                """
                SELECT r.url, count(n.id), min(n.created_at), r.gone_at IS NOT NULL
                FROM receiver AS r LEFT JOIN notification AS n ON n.receiver_id = r.id AND n.state = 'pending'
                GROUP BY r.id ORDER BY r.id
                """
            ) {
                StoreCensus.Receiver(
                    url: $0.text(0), pending: $0.integer(1), oldest: $0.optionalTime(2), isGone: $0.integer(3) != 0)
            }
            return census
        }
    }
}
