// SPDX-License-Identifier: Apache-2.0
import StoreSQL

extension ToldTable {
    /// Whether a device that was notified at login already counts as upgraded by that; nil: it was not notified.
    static func told(_ device: Int64, in campaign: Int64, _ connection: SQLiteConnection) throws -> Bool? {
        try connection.first(
            "SELECT upgraded FROM campaign_told WHERE campaign_id = ? AND device_id = ?", campaign, device
        ) { $0.bool() }
    }

    /// Records that a device notified at login has reached the requirement before its campaign came to it.
    ///
    /// - Returns: false where it was not notified or counts already, or where the campaign leaves it out.
    static func markEarly(_ device: Int64, in campaign: Int64, _ connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            """
            UPDATE campaign_told SET upgraded = 1 WHERE campaign_id = ?1 AND device_id = ?2 AND upgraded = 0
                AND EXISTS (SELECT 1 FROM campaign AS c WHERE c.id = ?1 AND c.finished_at IS NULL
                            AND (c.planned_at IS NULL
                                 OR EXISTS (SELECT 1 FROM shard AS s JOIN campaign_run AS n ON n.campaign_id = s.campaign_id
                                            WHERE s.campaign_id = ?1 AND n.rest IS NULL AND s.cursor < ?2 AND s.last >= ?2)))
            """, campaign, device) > 0
    }
}
