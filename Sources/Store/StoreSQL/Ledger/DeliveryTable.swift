// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// The tables `delivery` and `delivery_batch`, across all campaigns of an app.
package enum DeliveryTable {
    /// Removes the telephone from the deliveries to devices, which ascend. The outcomes of these pushes, and the telephones
    /// of other users, stay. A pruned campaign keeps its shards until the last piece of its ledger has been deleted.
    ///
    /// - Returns: the number of deliveries that had it.
    package static func erase(
        _ telephone: String, fromDeliveriesTo devices: [Int64], of app: Int64, _ connection: some SQLConnection
    ) throws -> Int64 {
        var erased: Int64 = 0
        let campaigns = try connection.all(
            """
            SELECT id FROM campaign AS c WHERE app_id = ? AND (pruned_at IS NULL
                OR EXISTS (SELECT 1 FROM shard WHERE campaign_id = c.id)) ORDER BY id
            """, app
        ) { CampaignKey(row: $0.integer()) }
        for campaign in campaigns {
            for device in devices {
                erased += Int64(
                    try connection.run(
                        "UPDATE delivery SET telephone = ? WHERE campaign_id = ? AND device_id = ? AND telephone = ?",
                        Delivery.erased, campaign.row, device, telephone))
            }
            erased += try DeliveryBatchTable.erase(telephone, of: devices, in: campaign, connection)
        }
        return erased
    }
}
