// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension SQLiteStore {
    /// Rows or batched devices that are looked at in one step, and devices of one transaction: about ten milliseconds.
    private static let step = 1000
    /// Batches that are looked at in one step where nobody is to be reminded.
    private static let batchesAtOnce = 16

    package func gather(
        _ campaign: CampaignKey, atMost most: Int64, at now: Timestamp,
        wants: (DeviceRow, borrowing DeviceRows) -> Bool
    ) throws -> Gathered {
        // Looked at beside the writer, and judged there; what is written is short.
        let found = try read("looking for devices to send to again") { connection -> RoundStep? in
            guard let round = try RoundTable.open(campaign, connection) else { return nil }
            var step = RoundStep(round, cursor: round.cursor)
            guard round.retrying < most else { return step }
            step.isFull = false
            switch (round.kind, round.isAtBatches) {
            case (.retry, _): try step.findRows(of: campaign, limit: Self.step, connection)
            case (.reminder, false):
                try step.findAccepted(of: campaign, limit: Self.step, wants: wants, connection)
            case (.reminder, true):
                try step.findPacked(of: campaign, batches: Self.batchesAtOnce, wants: wants, connection)
            }
            return step
        }
        guard let found else { return Gathered(.done) }
        guard !found.isFull else { return Gathered(.full) }
        return try write("putting devices in line again") { connection in
            try found.write(of: campaign, at: now, connection) { devices, again, round in
                try Self.putInLine(devices, again, in: round, of: campaign, at: now, connection)
            }
        }
    }

    private static func putInLine(
        _ devices: [(device: Int64, environment: PushEnvironment)], _ again: SentAgain, in round: RoundTable.Open,
        of campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws -> [(state: DeliveryState, reason: String?)] {
        try devices.compactMap { device, environment in
            let old = try connection.first(
                "SELECT state, reason FROM delivery WHERE campaign_id = ? AND device_id = ?", campaign.row, device
            ) { (state: $0.state(0), reason: $0.optionalText(1)) }
            guard let old, let state = old.state, round.states.contains(state) else { return nil }
            try connection.run(
                """
                UPDATE delivery SET state = 3, reason = NULL, next_attempt_at = ?3, environment = ?4, updated_at = ?3,
                    again = ?5
                WHERE campaign_id = ?1 AND device_id = ?2
                """, campaign.row, device, now, environment, again)
            return (state, old.reason)
        }
    }
}

extension RoundStep {
    /// Rows with one of the outcomes that are sent again.
    fileprivate mutating func findRows(of campaign: CampaignKey, limit: Int, _ connection: SQLiteConnection) throws {
        let found = try round.states.flatMap { state in
            try connection.all(
                """
                SELECT d.device_id, v.environment FROM delivery AS d INDEXED BY delivery_rare
                    CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
                WHERE d.campaign_id = ?1 AND d.state = ?2 AND d.state > 2 AND d.state <> 7 AND d.device_id > ?3
                ORDER BY d.device_id LIMIT ?4
                """, campaign.row, state, round.cursor, limit
            ) { (device: $0.integer(0), environment: $0.environment(1)) }
        }
        take(found, limit: limit)
    }

    /// Devices whose push was accepted, and that have a row.
    fileprivate mutating func findAccepted(
        of campaign: CampaignKey, limit: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ connection: SQLiteConnection
    ) throws {
        let statement = try connection.prepared(
            """
            SELECT v.id, v.token, v.telephone, v.version, v.environment, v.retired_at IS NOT NULL, v.registered_at
            FROM delivery AS d CROSS JOIN device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
            WHERE d.campaign_id = ?1 AND d.device_id > ?2 AND d.state = 2 AND v.removed_at IS NULL
            ORDER BY d.device_id LIMIT ?3
            """)
        defer { statement.reset() }
        statement.bind(1, campaign.row)
        statement.bind(2, round.cursor)
        statement.bind(3, Int64(limit))
        var rows = DeviceRows()
        while try statement.step() { statement.readDevice(into: &rows, attempts: 0) }
        take(accepted: rows, limit: limit, wants: wants)
    }

    /// Devices of batches.
    fileprivate mutating func findPacked(
        of campaign: CampaignKey, batches: Int, wants: (DeviceRow, borrowing DeviceRows) -> Bool,
        _ connection: SQLiteConnection
    ) throws {
        let find = try connection.prepared(
            """
            SELECT id, token, telephone, version, environment, retired_at IS NOT NULL, registered_at
            FROM device WHERE id = ?2 AND \(CampaignTable.isOfItsApp) AND removed_at IS NULL
            """)
        defer { find.reset() }
        try findPacked(of: campaign, batches: batches, wants: wants, connection) { devices in
            var rows = DeviceRows()
            for device in devices {
                find.bind(1, campaign.row)
                find.bind(2, device)
                if try find.step() { find.readDevice(into: &rows, attempts: 0) }
                find.reset()
            }
            return rows
        }
    }
}
