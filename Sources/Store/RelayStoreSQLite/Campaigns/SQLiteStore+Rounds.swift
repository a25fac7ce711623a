// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL
import UpgradeRules

extension SQLiteStore {
    package func recorded(
        as state: DeliveryState, in campaign: CampaignKey, after device: Int64, limit: Int,
        _ connection: SQLiteConnection
    ) throws -> [RoundTable.Device] {
        try connection.all(
            """
            SELECT d.device_id, v.environment FROM delivery AS d INDEXED BY delivery_rare
                CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
            WHERE d.campaign_id = ?1 AND d.state = ?2 AND d.state > 2 AND d.state <> 7 AND d.device_id > ?3
            ORDER BY d.device_id LIMIT ?4
            """, campaign.row, state, device, limit
        ) { (device: $0.integer(), channel: $0.channel()) }
    }

    package func accepted(
        in campaign: CampaignKey, after device: Int64, limit: Int, _ connection: SQLiteConnection
    ) throws -> DeviceRows {
        let statement = try connection.prepared(
            """
            SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at, v.os_version
            FROM delivery AS d CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
            WHERE d.campaign_id = ?1 AND d.device_id > ?2 AND d.state = 2 AND v.removed_at IS NULL
            ORDER BY d.device_id LIMIT ?3
            """)
        defer { statement.reset() }
        statement.bind(1, campaign.row)
        statement.bind(2, device)
        statement.bind(3, Int64(limit))
        var rows = DeviceRows()
        while try statement.step() { statement.readDevice(into: &rows, attempts: 0) }
        return rows
    }

    package func registered(
        _ devices: [Int64], of campaign: CampaignKey, _ connection: SQLiteConnection
    ) throws -> DeviceRows {
        let find = try connection.prepared(
            """
            SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at, os_version
            FROM device WHERE id = ?2 AND \(CampaignTable.isOfItsApp) AND removed_at IS NULL
            """)
        defer { find.reset() }
        var rows = DeviceRows()
        for device in devices {
            find.bind(1, campaign.row)
            find.bind(2, device)
            if try find.step() { find.readDevice(into: &rows, attempts: 0) }
            find.reset()
        }
        return rows
    }

    package func putInLine(
        _ devices: [RoundTable.Device], _ again: RequeueReasons, in round: RoundTable.Open,
        of campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws -> [(state: DeliveryState, reason: String?)] {
        try devices.compactMap { device, channel in
            let old = try connection.first(
                "SELECT state, reason FROM delivery WHERE campaign_id = ? AND device_id = ?", campaign.row, device
            ) { (state: $0.state(), reason: $0.optionalText()) }
            guard let old, let state = old.state, round.states.contains(state) else { return nil }
            try connection.run(
                """
                UPDATE delivery SET state = 3, reason = NULL, next_attempt_at = ?3, environment = ?4, updated_at = ?3,
                    again = ?5
                WHERE campaign_id = ?1 AND device_id = ?2
                """, campaign.row, device, now, channel, again)
            return (state, old.reason)
        }
    }
}
