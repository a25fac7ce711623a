// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

extension SQLStore {
    package func bringForward(_ campaign: CampaignKey, at now: Timestamp) throws {
        let condition: SQL = """
            campaign_id = ?2 AND environment IN (\(Channel.list)) AND state = 3 AND next_attempt_at > ?1
                AND (next_attempt_at <= updated_at OR updated_at > ?3)
            """
        let (row, ahead) = (campaign.row, now + BelievedClock.tolerance)
        let wave: SQL = "campaign_id = ?2 AND ended_at > ?3"
        // Usually nothing was deferred, and a campaign must begin even where nothing can be written.
        let isAny = try readOnce("looking for what a clock deferred") { connection in
            try connection.first(
                """
                SELECT EXISTS (SELECT 1 FROM delivery \(connection.dialect.indexed(by: "delivery_retry")) WHERE \(condition))
                    OR EXISTS (SELECT 1 FROM campaign_wave WHERE \(wave))
                """, now, row, ahead
            ) { $0.bool() }
        }
        guard isAny ?? false else { return }
        try write("making due what a clock deferred", lock: .rows) { connection in
            let index = connection.dialect.indexed(by: "delivery_retry")
            try connection.run(
                "UPDATE delivery \(index) SET next_attempt_at = ?1 WHERE \(condition)", now, row, ahead)
            try connection.run("UPDATE campaign_wave SET ended_at = ?1 WHERE \(wave)", now, row, ahead)
        }
    }

    package func goneDevices(of batch: LedgerCommit) throws -> Set<Int64> {
        try read("looking for devices that are gone") { connection in
            var gone: Set<Int64> = []
            for row in batch.rows {
                let isThere = try connection.exists(
                    """
                    SELECT 1 WHERE EXISTS (SELECT 1 FROM device WHERE id = ?1)
                        OR EXISTS (SELECT 1 FROM delivery WHERE campaign_id = ?2 AND device_id = ?1)
                    """, row.device, batch.campaign.row)
                if !isThere { gone.insert(row.device) }
            }
            return gone
        }
    }
}
