// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

extension SQLiteStore {
    /// Counts on a reader, so that nobody waits for the count, and then writes the shards in one short transaction. A
    /// device that registers in between is not of the audience.
    package func planShards(_ campaign: CampaignKey, shardSize: Int, waves: WavePlan?, at now: Timestamp) throws {
        let ranges: [ShardRange]? = try read("planning a campaign") { connection in
            guard let app = try Self.unplannedApp(of: campaign, connection) else { return nil }
            guard let waves else { return try Self.ranges(of: app, size: max(shardSize, 1), connection) }
            return try Self.ranges(of: app, size: max(shardSize, 1), in: waves, campaign, connection)
        }
        guard let ranges else { return }
        try write("planning a campaign") { connection in
            guard try Self.unplannedApp(of: campaign, connection) != nil else { return }
            let insert = try connection.prepared(
                "INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave) VALUES (?, ?, ?, ?, ?, ?)")
            for (number, range) in ranges.enumerated() {
                insert.bind(1, campaign.row)
                insert.bind(2, Int64(number))
                insert.bind(3, range.after)
                insert.bind(4, range.last)
                insert.bind(5, range.devices)
                insert.bind(6, Int64(range.wave))
                try insert.run()
            }
            if let waves {
                var devices = [Int64](repeating: 0, count: waves.count)
                for range in ranges { devices[range.wave] += range.devices }
                try WaveTable.insert(campaign, plan: waves, devices: devices, at: now, connection)
            }
            try connection.run(
                "UPDATE campaign SET planned_at = ? WHERE id = ?", .time(now), .integer(campaign.row))
        }
    }

    private struct ShardRange: Sendable {
        var after: Int64
        var last: Int64
        var devices: Int64
        var wave = 0
    }

    private static func unplannedApp(of campaign: CampaignKey, _ connection: Connection) throws -> Int64? {
        try connection.first(
            "SELECT app_id FROM campaign WHERE id = ? AND planned_at IS NULL", .integer(campaign.row)
        ) { $0.integer(0) }
    }

    /// Walks the app's devices in steps of `size`, inside SQLite: some 30 ns a device.
    private static func ranges(of app: Int64, size: Int, _ connection: Connection) throws -> [ShardRange] {
        var ranges: [ShardRange] = []
        var after: Int64 = 0
        while let last = try connection.first(
            """
            SELECT id FROM device INDEXED BY device_live
            WHERE app_id = ? AND removed_at IS NULL AND id > ? ORDER BY id LIMIT 1 OFFSET ?
            """, .integer(app), .integer(after), .integer(size - 1), row: { $0.integer(0) })
        {
            ranges.append(ShardRange(after: after, last: last, devices: Int64(size)))
            after = last
        }
        let rest = try connection.first(
            """
            SELECT count(*), max(id) FROM device INDEXED BY device_live
            WHERE app_id = ? AND removed_at IS NULL AND id > ?
            """, .integer(app), .integer(after)
        ) { ($0.integer(0), $0.integer(1)) }
        if let (devices, last) = rest, devices > 0 {
            ranges.append(ShardRange(after: after, last: last, devices: devices))
        }
        return ranges
    }

    /// One walk over the app's devices, for each of which the wave is drawn: some 150 ns a device.
    ///
    /// - Parameter size: devices in a shard of the whole audience; a wave's shards have its share of that, but at least 20.
    private static func ranges(
        of app: Int64, size: Int, in plan: WavePlan, _ campaign: CampaignKey, _ connection: Connection
    ) throws -> [ShardRange] {
        guard
            let id = try connection.first(
                "SELECT public_id FROM campaign WHERE id = ?", .integer(campaign.row), row: { $0.text(0) })
        else { return [] }
        let draw = WaveDraw(plan, campaign: id)
        let sizes = (0..<plan.count).map { Int64(max(Int(Double(size) * plan.share(of: $0)), min(size, 20))) }
        var open = (0..<plan.count).map { ShardRange(after: 0, last: 0, devices: 0, wave: $0) }
        var ranges: [ShardRange] = []
        let statement = try connection.prepared(
            "SELECT id, token_hash FROM device NOT INDEXED WHERE app_id = ? AND removed_at IS NULL ORDER BY id")
        defer { statement.reset() }
        statement.bind(1, app)
        while try statement.step() {
            let (device, wave) = (statement.integer(0), draw.wave(of: UInt64(bitPattern: statement.integer(1))))
            open[wave].last = device
            open[wave].devices += 1
            guard open[wave].devices == sizes[wave] else { continue }
            ranges.append(open[wave])
            open[wave] = ShardRange(after: device, last: device, devices: 0, wave: wave)
        }
        // The earliest wave first, which the numbers follow.
        return (ranges + open.filter { $0.devices > 0 }).sorted { ($0.wave, $0.after) < ($1.wave, $1.after) }
    }

    // MARK: Leases

    package func leaseShards(
        _ campaign: CampaignKey, owner: String, until: Timestamp, now: Timestamp, limit: Int
    ) throws -> [Shard] {
        try write("leasing shards") { connection in
            let shards = try connection.all(
                """
                SELECT s.number, s.cursor, s.last, s.wave FROM shard AS s
                WHERE s.campaign_id = ?1 AND s.done = 0
                    AND (s.lease_owner IS NULL OR s.lease_owner = ?2 OR s.lease_until <= ?3)
                    AND s.wave <= (SELECT coalesce(max(w.number), 0) FROM campaign_wave AS w
                                   WHERE w.campaign_id = ?1 AND w.begun_at IS NOT NULL)
                ORDER BY s.number LIMIT ?4
                """, .integer(campaign.row), .text(owner), .time(now), .integer(max(limit, 0))
            ) {
                Shard(
                    campaign: campaign, number: Int($0.integer(0)), wave: Int($0.integer(3)), cursor: $0.integer(1),
                    last: $0.integer(2), isDone: false)
            }
            for shard in shards {
                try connection.run(
                    "UPDATE shard SET lease_owner = ?, lease_until = ? WHERE campaign_id = ? AND number = ?",
                    .text(owner), .time(until), .integer(campaign.row), .integer(shard.number))
            }
            return shards
        }
    }

    package func releaseShards(owner: String) throws {
        try write("giving back shards") { connection in
            _ = try connection.run(
                """
                UPDATE shard SET lease_owner = NULL, lease_until = NULL
                WHERE done = 0 AND lease_owner = ? AND campaign_id IN
                    (SELECT id FROM campaign WHERE state NOT IN \(CampaignTable.finalStates))
                """, .text(owner))
        }
    }
}
