// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL

/// The table `campaign_wave`.
enum WaveTable {
    static func waves(of campaign: CampaignKey, _ connection: SQLiteConnection) throws -> CampaignWaves {
        CampaignWaves(
            try connection.all(
                """
                SELECT w.number, w.part_end, w.devices, w.accepted, w.failed, w.begun_at, w.ended_at, w.held_at,
                    w.released_at, (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
                                    WHERE s.campaign_id = w.campaign_id AND s.wave = w.number AND s.done = 0),
                    EXISTS (SELECT 1 FROM shard AS s WHERE s.campaign_id = w.campaign_id AND s.wave = w.number AND s.done = 0)
                FROM campaign_wave AS w WHERE w.campaign_id = ? ORDER BY w.number
                """, campaign.row
            ) { row in
                var wave = CampaignWave(
                    number: Int(row.integer(0)), end: Int(row.integer(1)), devices: row.integer(2),
                    pending: row.integer(9), accepted: row.integer(3), failed: row.integer(4),
                    begunAt: row.optionalTime(5), endedAt: row.optionalTime(6), heldAt: row.optionalTime(7),
                    releasedAt: row.optionalTime(8))
                wave.isOpen = row.integer(10) != 0
                return wave
            })
    }

    /// nil where the campaign has no waves.
    static func draw(of campaign: CampaignKey, requirement: Int64, _ connection: SQLiteConnection) throws -> WaveDraw? {
        let ends = try connection.all(
            "SELECT part_end FROM campaign_wave WHERE campaign_id = ? ORDER BY number", campaign.row
        ) { Int($0.integer(0)) }
        return WavePlan(ends: ends).map { WaveDraw($0, requirement: requirement) }
    }

    /// The first wave begins as it is planned.
    static func insert(
        _ campaign: CampaignKey, plan: WavePlan, devices: [Int64], at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        for (number, end) in plan.ends.enumerated() {
            try connection.run(
                """
                INSERT INTO campaign_wave (campaign_id, number, part_end, devices, begun_at) VALUES (?, ?, ?, ?, ?)
                """, campaign.row, number, end, devices[number], number == 0 ? now : nil)
        }
    }

    /// A retry of the canary's was not counted as failed by the wave that its device would be of.
    static func add(_ tallies: [WaveTally], to campaign: CampaignKey, _ connection: SQLiteConnection) throws {
        for tally in tallies {
            try connection.run(
                """
                UPDATE campaign_wave SET accepted = accepted + ?, failed = max(failed + ?, 0)
                WHERE campaign_id = ? AND number = ?
                """, tally.accepted, tally.failed, campaign.row, tally.wave)
        }
    }

    /// The condition of the wave that has begun last.
    fileprivate static let isCurrent: SQL = """
        campaign_id = ?1 AND number = (SELECT max(number) FROM campaign_wave WHERE campaign_id = ?1 AND begun_at IS NOT NULL)
        """

    /// The next wave may begin at once; returns whether one was waiting.
    static func release(
        _ campaign: CampaignKey, onlyHeld: Bool, at now: Timestamp, _ connection: SQLiteConnection
    ) throws -> Bool {
        try connection.run(
            """
            UPDATE campaign_wave SET released_at = ?2 WHERE \(isCurrent) AND ended_at IS NOT NULL AND released_at IS NULL
                AND (held_at IS NOT NULL OR NOT ?3)
                AND number < (SELECT max(number) FROM campaign_wave WHERE campaign_id = ?1)
            """, campaign.row, now, onlyHeld) > 0
    }
}

extension SQLiteStore {
    package func endWave(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("ending a wave") { connection in
            let ended = try connection.run(
                """
                UPDATE campaign_wave SET ended_at = ?2 WHERE \(WaveTable.isCurrent) AND ended_at IS NULL
                    AND 'running' = (SELECT state FROM campaign WHERE id = ?1)
                """, campaign.row, now)
            if ended > 0 { try NotificationTable.note(.waveDone, of: campaign, at: now, connection) }
        }
    }

    package func beginNextWave(_ campaign: CampaignKey, at now: Timestamp) throws {
        let decision = try write("beginning a wave") { connection -> (AppKey, Decision)? in
            let reach = try connection.first(
                """
                UPDATE campaign_wave SET begun_at = ?2 WHERE campaign_id = ?1
                    AND number = (SELECT max(number) + 1 FROM campaign_wave
                                  WHERE campaign_id = ?1 AND begun_at IS NOT NULL AND ended_at IS NOT NULL)
                RETURNING part_end
                """, campaign.row, now
            ) { Int($0.integer(0)) }
            guard let reach, let record = try CampaignTable.record(campaign, connection) else { return nil }
            return (record.app, try decide(record, .stageBegan(reach: reach), at: now, connection))
        }
        if let (app, decision) = decision { report(decision.changes, of: app) }
    }

    package func holdWave(
        _ campaign: CampaignKey, _ cause: SuspensionCause, reason: String, at now: Timestamp
    ) throws -> Bool {
        try write("holding a wave") { connection in
            guard let record = try CampaignTable.record(campaign, connection), record.state == .running else {
                return false
            }
            _ = try decide(record, .suspended(cause, reason), at: now, connection)
            try connection.run("UPDATE campaign_wave SET held_at = ?2 WHERE \(WaveTable.isCurrent)", campaign.row, now)
            return true
        }
    }

    package func releaseWave(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool {
        try write("releasing a wave") { connection in
            guard try CampaignTable.state(of: campaign, connection) == .running else { return false }
            return try WaveTable.release(campaign, onlyHeld: false, at: now, connection)
        }
    }
}
