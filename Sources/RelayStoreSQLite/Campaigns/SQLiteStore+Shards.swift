// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

extension SQLiteStore {
    /// Counts on a reader, so that nobody waits for the count, and then writes the shards in one short transaction. A
    /// device that registers in between is not of the audience; one whose environment changes in between stays with the
    /// environment that it was counted in.
    package func planShards(_ campaign: CampaignKey, shardSize: Int, waves: WavePlan?, at now: Timestamp) throws {
        try forgetMoves(before: campaign, at: now)
        let plan = try read("planning a campaign") { connection in
            try CampaignTable.plan(campaign, waves: waves, connection) { app, waves in
                let size = max(shardSize, 1)
                guard let waves else { return try AudiencePlan(of: app, size: size, connection) }
                return try AudiencePlan(of: app, size: size, in: waves.plan, draw: waves.draw, connection)
            }
        }
        guard let plan else { return }
        try write("planning a campaign") { connection in
            try CampaignTable.store(plan, of: campaign, waves: waves, at: now, connection) { shards in
                for (number, shard) in shards.enumerated() {
                    try connection.run(
                        """
                        INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave, environment, packs)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                        """, campaign.row, number, shard.after, shard.last, shard.devices, shard.wave,
                        shard.environment, shard.environment == plan.packed)
                }
            }
        }
    }

    /// Before the count, so that whatever changes after this is counted where it was. Some at a time, since a corrected import may have
    /// moved all devices.
    private func forgetMoves(before campaign: CampaignKey, at now: Timestamp) throws {
        var after: Int64 = 0
        while true {
            let isAny = try read("looking for devices that have moved") { connection in
                try MovedDevices.isAny(before: campaign, after: after, connection)
            }
            guard isAny else { return }
            let last = try write("planning a campaign") { connection in
                try MovedDevices.forget(before: campaign, after: after, at: now, connection) { devices, line in
                    for device in devices {
                        try connection.run(
                            """
                            INSERT INTO delivery (campaign_id, device_id, state, attempts, reason, telephone, next_attempt_at,
                                environment, updated_at)
                            SELECT ?1, id, ?2, 0, ?3, telephone, ?4, iif(?4 IS NULL, 0, environment), ?5 FROM device WHERE id = ?6
                            """, line.campaign.row, line.state, line.reason, line.nextAttemptAt, now, device)
                    }
                } forget: { devices in
                    for device in devices {
                        try connection.run("UPDATE device SET planned_environment = NULL WHERE id = ?", device)
                    }
                }
            }
            guard let last else { return }
            after = last
        }
    }
}

extension AudiencePlan {
    /// Walks over the app's devices in steps of `size`, inside SQLite and on indexes alone: some 30 ns a device.
    fileprivate init(of app: Int64, size: Int, _ connection: SQLiteConnection) throws {
        try self.init(
            size: size, all: Self.walk(DeviceTable.live, of: app, .production, size: size, connection),
            sandbox: Self.walk(DeviceTable.sandbox, of: app, .sandbox, size: size, connection)
        ) { shard in
            try connection.integer(
                "SELECT count(*) \(DeviceTable.sandbox) AND id > ? AND id <= ?", app, shard.after, shard.last) ?? 0
        }
    }

    /// One walk over the app's devices, for each of which the wave is drawn, some 150 ns a device.
    fileprivate init(
        of app: Int64, size: Int, in waves: WavePlan, draw: WaveDraw, _ connection: SQLiteConnection
    ) throws {
        let statement = try connection.prepared(
            """
            SELECT id, telephone, \(DeviceTable.plannedEnvironment) FROM device NOT INDEXED
            WHERE app_id = ? AND removed_at IS NULL ORDER BY id
            """)
        defer { statement.reset() }
        statement.bind(1, app)
        try self.init(size: size, in: waves) {
            guard try statement.step() else { return nil }
            return (statement.integer(0), statement.wave(of: 1, by: draw), statement.environment(2))
        }
    }

    private static func walk(
        _ devices: SQL, of app: Int64, _ environment: PushEnvironment, size: Int, _ connection: SQLiteConnection
    ) throws -> [PlannedShard] {
        var shards: [PlannedShard] = []
        var after: Int64 = 0
        while let last = try connection.integer(
            "SELECT id \(devices) AND id > ? ORDER BY id LIMIT 1 OFFSET ?", app, after, size - 1)
        {
            shards.append(PlannedShard(after: after, last: last, devices: Int64(size), environment: environment))
            after = last
        }
        let rest = try connection.first(
            "SELECT count(*), max(id) \(devices) AND id > ?", app, after
        ) {
            PlannedShard(after: after, last: $0.integer(1), devices: $0.integer(0), environment: environment)
        }
        if let rest, rest.devices > 0 { shards.append(rest) }
        return shards
    }
}
