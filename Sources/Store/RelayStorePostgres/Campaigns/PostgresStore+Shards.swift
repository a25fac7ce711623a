// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL
import UpgradeRules

extension PostgresStore {
    package func plan(
        _ app: Int64, shardSize: Int, in waves: WavePlan, draw: WaveDraw, _ session: PostgresSession
    ) throws -> AudiencePlan {
        var page: [AudiencePlan.Member] = []
        var (place, after) = (0, Int64(0))
        return try AudiencePlan(size: shardSize, in: waves) {
            if place == page.count {
                page = try session.all(Self.audience, app, after, 20_000) { row in
                    (row.integer(), draw.wave(of: row.optionalText()?.utf8), row.channel())
                }
                place = 0
                guard let last = page.last else { return nil }
                after = last.device
            }
            defer { place += 1 }
            return page[place]
        }
    }

    private static let audience: SQL = """
        SELECT d.id, d.telephone, coalesce(d.planned_environment, d.environment) \(AudienceSQL.live(.postgres))
        ORDER BY d.app_id, d.id LIMIT ?3
        """

    package func insert(_ plan: AudiencePlan, of campaign: CampaignKey, _ session: PostgresSession) throws {
        let shards = plan.shards
        try session.run(Self.insertShards) { values in
            values.add(campaign.row)
            values.add(shards.indices.map(Int64.init))
            values.add(shards.map(\.after))
            values.add(shards.map(\.last))
            values.add(shards.map(\.devices))
            values.add(shards.map { Int64($0.wave) })
            values.add(shards.map { Int64($0.channel.rawValue) })
            values.add(shards.map { $0.channel == plan.packed ? Int64(1) : 0 })
        }
    }

    static let insertShards = PostgresStatement(
        """
        INSERT INTO shard (campaign_id, number, cursor, last, remaining, wave, environment, packs)
        SELECT $1, n.number, n.after, n.last, n.devices, n.wave, n.environment::smallint, n.packs::smallint
        FROM unnest($2, $3, $4, $5, $6, $7, $8) AS n (number, after, last, devices, wave, environment, packs)
        """)

    package func insert(
        _ devices: [Int64], _ line: MovedDevices.Line, at now: Timestamp, _ session: PostgresSession
    ) throws {
        try session.run(Self.putInLine) { values in
            values.add(line.campaign.row)
            values.add(Int64(line.state.rawValue))
            values.add(line.reason)
            values.add(line.nextAttemptAt?.milliseconds)
            values.add(now.milliseconds)
            values.add(devices)
        }
    }

    static let putInLine = PostgresStatement(
        """
        INSERT INTO delivery (campaign_id, device_id, state, attempts, reason, telephone, next_attempt_at, environment, updated_at)
        SELECT $1, id, $2::smallint, 0, $3, telephone, $4::bigint, CASE WHEN $4::bigint IS NULL THEN 0 ELSE environment END, $5
        FROM device WHERE id = ANY ($6)
        """)

    package func forgetMoves(of devices: [Int64], _ session: PostgresSession) throws {
        try session.run(Self.forgetMoves) { $0.add(devices) }
    }

    static let forgetMoves = PostgresStatement("UPDATE device SET planned_environment = NULL WHERE id = ANY ($1)")
}
