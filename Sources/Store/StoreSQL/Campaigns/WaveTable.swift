// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// The table `campaign_wave`.
package enum WaveTable {
    package static func waves(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> CampaignWaves {
        CampaignWaves(
            try connection.all(
                """
                SELECT w.number, w.part_end, w.devices, o.devices, w.accepted, w.failed, w.retrying, w.begun_at, w.ended_at,
                    w.held_at, w.released_at
                FROM campaign_wave AS w LEFT JOIN (
                    SELECT s.wave, CAST(sum(s.remaining) AS BIGINT) AS devices
                    FROM shard AS s JOIN campaign_run AS n ON n.campaign_id = s.campaign_id
                    WHERE s.campaign_id = ?1 AND \(RunTable.isOpen) GROUP BY s.wave
                ) AS o ON o.wave = w.number
                WHERE w.campaign_id = ?1 ORDER BY w.number
                """, campaign.row
            ) { row in
                let (number, end, devices) = (Int(row.integer()), Int(row.integer()), row.integer())
                let open = row.optionalInteger()
                var wave = CampaignWave(
                    number: number, end: end, devices: devices, pending: open ?? 0, accepted: row.integer(),
                    failed: row.integer(), retrying: row.integer(), begunAt: row.optionalTime(),
                    endedAt: row.optionalTime(), heldAt: row.optionalTime(), releasedAt: row.optionalTime())
                wave.isOpen = open != nil
                return wave
            })
    }

    /// nil where the campaign has no waves.
    package static func draw(of campaign: CampaignKey, requirement: Int64, _ connection: some SQLConnection) throws
        -> WaveDraw?
    {
        let ends = try connection.all(
            "SELECT part_end FROM campaign_wave WHERE campaign_id = ? ORDER BY number", campaign.row
        ) { Int($0.integer()) }
        return WavePlan(ends: ends).map { WaveDraw($0, requirement: requirement) }
    }

    /// The first wave begins when it is planned.
    package static func insert(
        _ campaign: CampaignKey, plan: WavePlan, devices: [Int64], at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        for (number, end) in plan.ends.enumerated() {
            try connection.run(
                """
                INSERT INTO campaign_wave (campaign_id, number, part_end, devices, begun_at) VALUES (?, ?, ?, ?, ?)
                """, campaign.row, number, end, devices[number], number == 0 ? now : nil)
        }
    }

    /// Adds to the counts of waves. Devices that were tried before are subtracted from the retrying ones and, beyond
    /// these, from the failed ones, since a campaign was opened again for them. The retry of a canary's device was
    /// counted as neither in its user's wave.
    package static func add(_ tallies: [WaveTally], to campaign: CampaignKey, _ connection: some SQLConnection) throws {
        for tally in tallies {
            try connection.run(
                """
                UPDATE campaign_wave SET accepted = accepted + ?1,
                    retrying = ?3 + CASE WHEN retrying > ?4 THEN retrying - ?4 ELSE 0 END,
                    failed = ?2 + CASE WHEN retrying >= ?4 THEN failed
                        WHEN failed + retrying > ?4 THEN failed + retrying - ?4 ELSE 0 END
                WHERE campaign_id = ?5 AND number = ?6
                """, tally.accepted, tally.failed, tally.retrying, tally.again, campaign.row, tally.wave)
        }
    }

    /// The condition for the wave that has begun last.
    package static let isCurrent: SQL = """
        campaign_id = ?1 AND number = (SELECT max(number) FROM campaign_wave WHERE campaign_id = ?1 AND begun_at IS NOT NULL)
        """

    /// Lets the next wave begin at once; returns whether one was waiting.
    package static func release(
        _ campaign: CampaignKey, onlyHeld: Bool, at now: Timestamp, _ connection: some SQLConnection
    ) throws -> Bool {
        try connection.run(
            """
            UPDATE campaign_wave SET released_at = ?2 WHERE \(isCurrent) AND ended_at IS NOT NULL AND released_at IS NULL
                AND (held_at IS NOT NULL OR ?3 = 0)
                AND number < (SELECT max(number) FROM campaign_wave WHERE campaign_id = ?1)
            """, campaign.row, now, onlyHeld) > 0
    }
}
