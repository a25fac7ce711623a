// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import Requirements

extension SQLStore {
    package func census() throws -> StoreCensus {
        try read("counting devices and campaigns") { connection in
            var census = StoreCensus()
            // The count that the relay keeps: nothing is scanned. In PostgreSQL it is a function of the row, which only a
            // qualified name calls (its manual, "Using Composite Types in Queries").
            for (app, devices) in try connection.all(
                "SELECT a.name, a.platform, a.devices FROM app AS a",
                row: { (AppKey(app: $0.text(), platform: $0.platform()), $0.integer()) })
            {
                census.devices[app] = devices
            }
            let campaigns = try connection.all(
                """
                SELECT a.name, a.platform, c.state, count(*),
                    CAST(sum(n.cancelled + \(CampaignTable.leftOut("c"))) AS bigint)
                FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id JOIN app AS a ON a.id = c.app_id
                GROUP BY a.name, a.platform, c.state
                """
            ) {
                (
                    AppKey(app: $0.text(), platform: $0.platform()), CampaignState(rawValue: $0.text()),
                    $0.integer(), $0.integer()
                )
            }
            for case (let app, let state?, let count, let cancelled) in campaigns {
                census.campaigns[.init(app: app, state: state)] = count
                census.cancelled[.init(app: app, state: state)] = cancelled
            }
            // Uses the index of pending notifications, of which a receiver has ten thousand at most.
            census.receivers = try connection.all(
                """
                SELECT r.url, count(n.id), min(n.created_at), r.gone_at IS NOT NULL
                FROM receiver AS r LEFT JOIN notification AS n ON n.receiver_id = r.id AND n.state = 'pending'
                GROUP BY r.id ORDER BY r.id
                """
            ) {
                StoreCensus.Receiver(
                    url: $0.text(), pending: $0.integer(), oldest: $0.optionalTime(), isGone: $0.bool())
            }
            return census
        }
    }
}
