// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL

extension SQLiteStore {
    /// One walk over the app's devices, some 150 ns for each.
    package func plan(
        _ app: Int64, shardSize: Int, in waves: WavePlan, draw: WaveDraw, _ connection: SQLiteConnection
    ) throws -> AudiencePlan {
        let statement = try connection.prepared(
            """
            SELECT id, telephone, \(DeviceTable.plannedEnvironment) FROM device NOT INDEXED
            WHERE app_id = ? AND removed_at IS NULL ORDER BY id
            """)
        defer { statement.reset() }
        statement.bind(1, app)
        return try AudiencePlan(size: shardSize, in: waves) {
            guard try statement.step() else { return nil }
            let (id, telephone, channel): (Int32, Int32, Int32) = (0, 1, 2)
            return (
                statement.integer(id), statement.wave(of: telephone, by: draw), statement.channel(channel)
            )
        }
    }

    package func insert(_ plan: AudiencePlan, of campaign: CampaignKey, _ connection: SQLiteConnection) throws {
        for (number, shard) in plan.shards.enumerated() {
            try connection.run(
                """
                INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave, environment, packs)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, campaign.row, number, shard.after, shard.last, shard.devices, shard.wave, shard.channel,
                shard.channel == plan.packed)
        }
    }

    package func insert(
        _ devices: [Int64], _ line: MovedDevices.Line, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        for device in devices {
            try connection.run(
                """
                INSERT INTO delivery (campaign_id, device_id, state, attempts, reason, telephone, next_attempt_at,
                    environment, updated_at)
                SELECT ?1, id, ?2, 0, ?3, telephone, ?4, iif(?4 IS NULL, 0, environment), ?5 FROM device WHERE id = ?6
                """, line.campaign.row, line.state, line.reason, line.nextAttemptAt, now, device)
        }
    }

    package func forgetMoves(of devices: [Int64], _ connection: SQLiteConnection) throws {
        for device in devices {
            try connection.run("UPDATE device SET planned_environment = NULL WHERE id = ?", device)
        }
    }
}
