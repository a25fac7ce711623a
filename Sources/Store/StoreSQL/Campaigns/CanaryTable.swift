// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

/// The columns of `campaign` about its canary, and the rows that exist before there are shards.
package enum CanaryTable {
    /// How many of the app's devices have an outcome, or are in line for one, before the audience of a campaign is cut
    /// into shards.
    ///
    /// - Parameter campaign: the name of the campaign's row.
    package static func withRow(_ campaign: SQL) -> SQL {
        """
        CASE WHEN (SELECT q.canary FROM requirement AS q WHERE q.id = \(campaign).requirement_id) IS NULL THEN 0
            ELSE (SELECT count(*) FROM delivery AS r WHERE r.campaign_id = \(campaign).id AND EXISTS (
                SELECT 1 FROM device AS v
                WHERE v.id = r.device_id AND v.app_id = \(campaign).app_id AND v.removed_at IS NULL)) END
        """
    }

    /// The time at which a requirement came into force for more than its canary.
    ///
    /// - Parameter requirement: the name of its row.
    package static func releasedAt(_ requirement: SQL) -> SQL {
        """
        (SELECT min(e.at) FROM requirement_event AS e
         WHERE e.requirement_id = \(requirement).id AND e.state = 'in_force' AND e.reach > 0)
        """
    }

    /// Devices that have rows before the audience is cut into shards, with the values that decide on their shard.
    package static func devices(
        of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> [(id: Int64, telephone: String?, channel: Channel)] {
        try connection.all(
            """
            SELECT d.id, d.telephone, coalesce(d.planned_environment, d.environment)
            FROM delivery AS r \(connection.dialect.join) device AS d ON d.id = r.device_id AND d.\(CampaignTable.isOfItsApp)
            WHERE r.campaign_id = ?1 AND d.removed_at IS NULL
            """, campaign.row
        ) { ($0.integer(), $0.optionalText(), $0.channel()) }
    }

    /// Takes back the outcomes of devices that were not the canary's when their push was about to leave: their user had
    /// changed, or other users were named after the push was read. Must come before anything of the campaign is sent
    /// under its new terms.
    ///
    /// - Parameter users: the telephones that the canary names now; nil: everybody, as the whole campaign begins.
    package static func takeBack(
        _ campaign: CampaignKey, of users: Set<[UInt8]>? = nil, _ connection: some SQLConnection
    ) throws {
        let row = campaign.row
        let devices = try connection.all(
            """
            SELECT r.device_id, d.telephone FROM delivery AS r LEFT JOIN device AS d ON d.id = r.device_id
            WHERE r.campaign_id = ?1 AND r.state = 7 AND r.reason = ?2 AND r.upgraded = 0
            """, row, FilterReason.notInAudience.rawValue
        ) { (id: $0.integer() as Int64, telephone: $0.optionalText()) }
        var again = 0
        for device in devices where users.map({ $0.contains(Array((device.telephone ?? "").utf8)) }) ?? true {
            again += try connection.run("DELETE FROM delivery WHERE campaign_id = ? AND device_id = ?", row, device.id)
        }
        guard again > 0 else { return }
        try connection.run(
            "UPDATE campaign_reason SET devices = devices - ? WHERE campaign_id = ? AND kind = 'filtered' AND reason = ?",
            again, row, FilterReason.notInAudience.rawValue)
        var counts = CampaignCounts()
        counts.filtered = -Int64(again)
        try RunTable.add(counts, to: campaign, connection)
    }
}

extension SQLStore {
    package func lineUpCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("putting a canary in line", lock: .campaign(campaign)) { connection in
            var devices = 0
            // The campaign may have ended, or be paused, since it was read.
            guard let record = try CampaignTable.record(campaign, connection), record.isCanary,
                record.state == .running
            else { return }
            let telephones = Set((record.requirement.canary ?? []).map { Array($0.utf8) })
            try CanaryTable.takeBack(campaign, of: telephones, connection)
            let index = connection.dialect.indexed(by: "device_telephone")
            for telephone in telephones.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                devices += try connection.run(
                    """
                    INSERT INTO delivery (campaign_id, device_id, state, attempts, next_attempt_at, environment,
                        updated_at, again)
                    SELECT ?1, d.id, 3, 0, ?2, d.environment, ?2, ?3
                    FROM device AS d \(index) JOIN app AS a ON a.id = d.app_id
                    WHERE d.telephone = ?4 AND d.removed_at IS NULL AND a.name = ?5 AND a.platform = ?6
                    ON CONFLICT DO NOTHING
                    """, campaign.row, now, RequeueReasons.untried, String(decoding: telephone, as: UTF8.self),
                    record.app.app, record.app.platform)
            }
            guard devices > 0 else { return }
            var counts = CampaignCounts()
            counts.retrying = Int64(devices)
            try RunTable.add(counts, to: campaign, connection)
            try connection.run("UPDATE campaign SET canary_ended_at = NULL WHERE id = ?", campaign.row)
        }
    }

    package func endCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("ending a canary", lock: .campaign(campaign)) { connection in
            let ended = try connection.run(
                """
                UPDATE campaign SET canary_ended_at = ? WHERE id = ? AND canary_ended_at IS NULL AND state = 'running'
                    AND 0 = (SELECT reach FROM requirement WHERE id = requirement_id)
                """, now, campaign.row)
            if ended > 0 { try ChangeTable.write(.canaryDone, of: campaign, at: now, connection) }
        }
    }
}
