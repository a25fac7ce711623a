// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension PostgresStore {
    /// Counts in one snapshot, and then writes the shards in one short transaction. A device that registers in between is not of the
    /// audience; one whose environment changes in between stays with the environment that it was counted in.
    package func planShards(_ campaign: CampaignKey, shardSize: Int, waves: WavePlan?, at now: Timestamp) throws {
        try forgetMoves(before: campaign, at: now)
        let plan = try look(.long, "planning a campaign", isSnapshot: true) { session in
            try CampaignTable.plan(campaign, waves: waves, session) { app, waves in
                let size = max(shardSize, 1)
                guard let waves else { return try AudiencePlan(of: app, size: size, session) }
                return try AudiencePlan(of: app, size: size, in: waves.plan, draw: waves.draw, session)
            }
        }
        guard let plan else { return }
        try write(.long, "planning a campaign", lock: .campaign(campaign)) { session in
            try CampaignTable.store(plan, of: campaign, waves: waves, at: now, session) { shards in
                try session.run(Self.insertShards) { values in
                    values.add(campaign.row)
                    values.add(shards.indices.map(Int64.init))
                    values.add(shards.map(\.after))
                    values.add(shards.map(\.last))
                    values.add(shards.map(\.devices))
                    values.add(shards.map { Int64($0.wave) })
                    values.add(shards.map { Int64($0.environment.rawValue) })
                    values.add(shards.map { $0.environment == plan.packed ? Int64(1) : 0 })
                }
            }
        }
    }

    static let insertShards = PostgresStatement(
        """
        INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave, environment, packs)
        SELECT $1, n.number, n.after, n.last, n.devices, n.wave, n.environment::smallint, n.packs::smallint
        FROM unnest($2, $3, $4, $5, $6, $7, $8) AS n (number, after, last, devices, wave, environment, packs)
        """)

    /// Before the count, so that whatever changes after this is counted where it was. Some at a time, since a corrected import may have
    /// moved all devices.
    private func forgetMoves(before campaign: CampaignKey, at now: Timestamp) throws {
        var after: Int64 = 0
        while true {
            let last = try write(.long, "planning a campaign", lock: .campaign(campaign)) { session in
                try MovedDevices.forget(before: campaign, after: after, at: now, session) { devices, line in
                    try session.run(Self.putInLine) { values in
                        values.add(line.campaign.row)
                        values.add(Int64(line.state.rawValue))
                        values.add(line.reason)
                        values.add(line.nextAttemptAt?.milliseconds)
                        values.add(now.milliseconds)
                        values.add(devices)
                    }
                } forget: { devices in
                    try session.run(Self.forgetMoves) { $0.add(devices) }
                }
            }
            guard let last else { return }
            after = last
        }
    }

    static let putInLine = PostgresStatement(
        """
        INSERT INTO delivery (campaign_id, device_id, state, attempts, reason, telephone, next_attempt_at, environment, updated_at)
        SELECT $1, id, $2::smallint, 0, $3, telephone, $4::bigint, CASE WHEN $4::bigint IS NULL THEN 0 ELSE environment END, $5
        FROM device WHERE id = ANY ($6)
        """)
    static let forgetMoves = PostgresStatement("UPDATE device SET planned_environment = NULL WHERE id = ANY ($1)")
}

extension AudiencePlan {
    /// By the server alone: some 150 ns a device.
    fileprivate init(of app: Int64, size: Int, _ session: PostgresSession) throws {
        try self.init(
            size: size, all: Self.cut(Self.everybody, of: app, .production, size: size, session),
            sandbox: Self.cut(Self.sandbox, of: app, .sandbox, size: size, session)
        ) { shard in
            try session.integer(
                "SELECT count(*) FROM device AS d WHERE \(Self.sandbox) AND (d.app_id, d.id) <= (?1, ?3)", app,
                shard.after, shard.last) ?? 0
        }
    }

    /// Devices of an app (?1) behind an id (?2).
    private static let everybody: SQL = "\(DeviceList.behind(.postgres)) AND d.removed_at IS NULL"
    private static let sandbox: SQL = "\(everybody) AND coalesce(d.planned_environment, d.environment) = 1"

    /// From the last device of each shard to that of the next one: counting all of them in one statement takes four times as long.
    private static func cut(
        _ devices: SQL, of app: Int64, _ environment: PushEnvironment, size: Int, _ session: PostgresSession
    ) throws -> [PlannedShard] {
        var shards: [PlannedShard] = []
        var after: Int64 = 0
        func add(_ last: Int64, _ devices: Int64) {
            shards.append(PlannedShard(after: after, last: last, devices: devices, environment: environment))
            after = last
        }
        while let last = try session.integer(
            "SELECT d.id FROM device AS d WHERE \(devices) ORDER BY d.app_id, d.id OFFSET ?3 LIMIT 1", app, after,
            size - 1)
        {
            add(last, Int64(size))
        }
        let rest = try session.first("SELECT max(d.id), count(*) FROM device AS d WHERE \(devices)", app, after) {
            ($0.integer(0), $0.integer(1))
        }
        if let (last, devices) = rest, devices > 0 { add(last, devices) }
        return shards
    }

    /// For each device the wave is drawn here.
    fileprivate init(
        of app: Int64, size: Int, in waves: WavePlan, draw: WaveDraw, _ session: PostgresSession
    ) throws {
        var page: [(device: Int64, wave: Int, environment: PushEnvironment)] = []
        var (place, after) = (0, Int64(0))
        try self.init(size: size, in: waves) {
            if place == page.count {
                page = try session.all(Self.page, app, after, 20_000) { row in
                    (row.integer(0), draw.wave(of: row.optionalText(1)?.utf8), row.environment(2))
                }
                place = 0
                guard let last = page.last else { return nil }
                after = last.device
            }
            defer { place += 1 }
            return page[place]
        }
    }

    private static let page: SQL = """
        SELECT d.id, d.telephone, coalesce(d.planned_environment, d.environment) FROM device AS d
        WHERE \(DeviceList.behind(.postgres)) AND d.removed_at IS NULL ORDER BY d.app_id, d.id LIMIT ?3
        """
}
