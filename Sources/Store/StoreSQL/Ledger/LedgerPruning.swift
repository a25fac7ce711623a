// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

/// Removes the deliveries of old campaigns from the ledger, part by part, each within a transaction.
package enum LedgerPruning {
    /// Whether a campaign gave way before its requirement was in force for all devices, and may take its place again: its
    /// waves go on then.
    private static let mayComeBack: SQL = """
        (c.state = 'superseded' AND EXISTS (
            SELECT 1 FROM requirement AS r WHERE r.id = c.requirement_id AND r.state <> 'withdrawn'
                AND (r.state <> 'in_force' OR r.reach < 10000)))
        """

    /// Campaigns that ended long enough ago, and those that an earlier pruning did not finish. Their shards go last: as long
    /// as there is one, there may be deliveries.
    package static func campaigns(
        endedBefore cutoff: Timestamp, _ connection: some SQLConnection
    ) throws -> [CampaignKey] {
        try connection.all(
            """
            SELECT c.id FROM campaign AS c WHERE c.finished_at IS NOT NULL
                AND (c.finished_at < ? AND c.pruned_at IS NULL AND NOT \(mayComeBack)
                     OR c.pruned_at IS NOT NULL AND EXISTS (SELECT 1 FROM shard WHERE campaign_id = c.id))
            ORDER BY c.id
            """, cutoff
        ) { CampaignKey(row: $0.integer()) }
    }

    /// Removes a part of a campaign's deliveries; with the last part, its shards.
    ///
    /// - Parameter size: the most rows.
    /// - Returns: nil where nothing of it may go: it was opened again since it was listed.
    package static func removePart(
        of campaign: CampaignKey, size: Int, endedBefore cutoff: Timestamp, at now: Timestamp,
        _ connection: some SQLConnection
    ) throws -> (deliveries: Int64, isLast: Bool)? {
        // The campaign can go on no more: the devices that it left out are settled, once.
        let leftDevices = try connection.first(
            """
            SELECT coalesce(c.left_devices, 0) FROM campaign AS c
            WHERE c.id = ? AND c.pruned_at IS NULL AND c.finished_at < ? AND NOT \(mayComeBack)
            """, campaign.row, cutoff
        ) { $0.integer() }
        if let leftDevices { try settle(campaign, leftDevices, at: now, connection) }
        let isMarked = try connection.exists(
            "SELECT 1 FROM campaign WHERE id = ? AND pruned_at IS NOT NULL", campaign.row)
        return isMarked ? try remove(campaign.row, size, connection) : nil
    }

    private static func settle(
        _ campaign: CampaignKey, _ leftDevices: Int64, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        try connection.run(
            """
            UPDATE campaign SET pruned_at = ?1, left_devices = NULL, left_last = NULL,
                planned_at = coalesce(planned_at, ?1) WHERE id = ?2
            """, now, campaign.row)
        try connection.run(
            """
            UPDATE campaign_run SET cancelled = cancelled + retrying + pending + ?1, retrying = 0, pending = 0,
                rest = coalesce(rest, 8) WHERE campaign_id = ?2
            """, leftDevices, campaign.row)
        // Outcomes that its last owner still has on their way, and could not record for longer than records are kept, are not recorded.
        try RunTable.end(campaign, connection)
    }

    private static func remove(
        _ campaign: Int64, _ size: Int, _ connection: some SQLConnection
    ) throws -> (deliveries: Int64, isLast: Bool) {
        func rows(_ table: SQL, _ key: SQL) throws -> Int {
            try connection.run(
                """
                DELETE FROM \(table) WHERE campaign_id = ?1 AND \(key) <= coalesce(
                    (SELECT \(key) FROM \(table) WHERE campaign_id = ?1 ORDER BY \(key) LIMIT 1 OFFSET ?2), ?3)
                """, campaign, size - 1, Int64.max)
        }
        var deliveries = Int64(try rows("delivery", "device_id"))
        guard deliveries < size else { return (deliveries, false) }
        guard try rows("delivery_upgrade", "device_id") < size else { return (deliveries, false) }
        guard try rows("campaign_told", "device_id") < size else { return (deliveries, false) }
        guard try rows("campaign_adoption", "at") < size else { return (deliveries, false) }
        guard try rows("campaign_latency", "at") < size else { return (deliveries, false) }
        // A batch lies on some pages of its own: it takes as long as some dozens of rows.
        let batches = max(1, size / 64)
        let counts = try connection.all(
            """
            DELETE FROM delivery_batch WHERE campaign_id = ?1 AND last IN
                (SELECT last FROM delivery_batch WHERE campaign_id = ?1 ORDER BY last LIMIT ?2)
            RETURNING accepted + filtered
            """, campaign, batches
        ) { $0.integer() }
        deliveries += counts.reduce(0, +)
        guard counts.count < batches else { return (deliveries, false) }
        try connection.run("DELETE FROM shard WHERE campaign_id = ?", campaign)
        return (deliveries, true)
    }
}
