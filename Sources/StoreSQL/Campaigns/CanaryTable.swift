// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

/// The columns of `campaign` that tell of its canary, and the rows that it has before there are shards.
package enum CanaryTable {
    /// How many of the app's devices have an outcome, or one to come, before the audience of a campaign is cut into shards.
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

    /// When a requirement came into force for more than its canary.
    ///
    /// - Parameter requirement: the name of its row.
    package static func releasedAt(_ requirement: SQL) -> SQL {
        """
        (SELECT min(e.at) FROM requirement_event AS e
         WHERE e.requirement_id = \(requirement).id AND e.state = 'in_force' AND e.reach > 0)
        """
    }

    /// Those whose user had changed before their push left are among everybody else again, and all of it begins.
    package static func goOn(_ requirement: Int64, _ connection: some SQLConnection) throws {
        guard let campaign = try CampaignTable.key(ofRequirement: requirement, connection) else { return }
        let row = campaign.row
        let again = try connection.run(
            "DELETE FROM delivery WHERE campaign_id = ? AND state = 7 AND reason = ? AND upgraded = 0", row,
            FilterReason.notInAudience.rawValue)
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
    package func endCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("ending a canary", lock: .campaign(campaign)) { connection in
            let ended = try connection.run(
                """
                UPDATE campaign SET canary_ended_at = ? WHERE id = ? AND canary_ended_at IS NULL AND state = 'running'
                    AND 0 = (SELECT reach FROM requirement WHERE id = requirement_id)
                """, now, campaign.row)
            if ended > 0 { try NotificationTable.note(.canaryDone, of: campaign, at: now, connection) }
        }
    }
}
