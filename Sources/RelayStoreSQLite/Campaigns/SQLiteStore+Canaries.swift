// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

extension SQLiteStore {
    package func lineUpCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("putting a canary in line") { connection in
            let again = SentAgain.untried.rawValue
            var devices = 0
            // It may have ended, or be paused, since it was read.
            guard let record = try CampaignTable.record(campaign, connection), record.isCanary,
                record.state == .running
            else { return }
            let telephones = Set((record.telephones ?? []).map { Array($0.utf8) })
            for telephone in telephones.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                devices += try connection.run(
                    """
                    INSERT OR IGNORE INTO delivery (campaign_id, device_id, state, attempts, next_attempt_at, environment,
                        updated_at, again)
                    SELECT ?1, d.id, 3, 0, ?2, d.environment, ?2, ?3
                    FROM device AS d INDEXED BY device_telephone JOIN app AS a ON a.id = d.app_id
                    WHERE d.telephone = ?4 AND d.removed_at IS NULL AND a.name = ?5 AND a.platform = ?6
                    """, campaign.row, now, again, String(decoding: telephone, as: UTF8.self),
                    record.app.app, record.app.platform)
            }
            guard devices > 0 else { return }
            var counts = CampaignCounts()
            counts.retrying = Int64(devices)
            try RunTable.add(counts, to: campaign, connection)
            try connection.run("UPDATE campaign SET canary_ended_at = NULL WHERE id = ?", campaign.row)
        }
    }
}

extension CanaryTable {
    /// Devices that have rows before the audience is cut into shards, with what decides which shard would have them.
    static func devices(
        of campaign: CampaignKey, _ connection: SQLiteConnection
    ) throws -> [(id: Int64, telephone: String?, environment: PushEnvironment)] {
        try connection.all(
            """
            SELECT d.id, d.telephone, coalesce(d.planned_environment, d.environment)
            FROM delivery AS r CROSS JOIN device AS d ON d.id = r.device_id AND d.\(CampaignTable.isOfItsApp)
            WHERE r.campaign_id = ?1 AND d.removed_at IS NULL
            """, campaign.row
        ) { ($0.integer(0), $0.optionalText(1), $0.environment(2)) }
    }
}
