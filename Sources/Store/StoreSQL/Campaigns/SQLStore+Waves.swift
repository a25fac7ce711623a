// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

extension SQLStore {
    @discardableResult
    package func endWave(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool {
        try write("ending a wave", lock: .campaign(campaign)) { connection in
            let ended = try connection.run(
                """
                UPDATE campaign_wave SET ended_at = ?2 WHERE \(WaveTable.isCurrent) AND ended_at IS NULL
                    AND 'running' = (SELECT state FROM campaign WHERE id = ?1)
                """, campaign.row, now)
            if ended > 0 { try ChangeTable.write(.waveDone, of: campaign, at: now, connection) }
            return ended > 0
        }
    }

    package func beginNextWave(_ campaign: CampaignKey, at now: Timestamp) throws {
        let decision = try write("beginning a wave", lock: .campaign(campaign)) { connection -> (AppKey, Decision)? in
            let reach = try connection.first(
                """
                UPDATE campaign_wave SET begun_at = ?2 WHERE campaign_id = ?1
                    AND number = (SELECT max(number) + 1 FROM campaign_wave
                                  WHERE campaign_id = ?1 AND begun_at IS NOT NULL AND ended_at IS NOT NULL)
                RETURNING part_end
                """, campaign.row, now
            ) { Int($0.integer()) }
            guard let reach, let record = try CampaignTable.record(campaign, connection) else { return nil }
            return (record.app, try decide(record, .stageBegan(reach: reach), at: now, connection))
        }
        if let (app, decision) = decision { wasCommitted(decision, of: app, isAwaited: false) }
    }

    package func holdWave(
        _ campaign: CampaignKey, _ cause: SuspensionCause, reason: String, at now: Timestamp
    ) throws -> Bool {
        try write("holding a wave", lock: .campaign(campaign)) { connection in
            guard let record = try CampaignTable.record(campaign, connection), record.state == .running else {
                return false
            }
            _ = try decide(record, .suspended(cause, reason), at: now, connection)
            try connection.run("UPDATE campaign_wave SET held_at = ?2 WHERE \(WaveTable.isCurrent)", campaign.row, now)
            return true
        }
    }

    package func releaseWave(_ campaign: CampaignKey, isUrgent: Bool, by actor: Signature) throws -> Bool {
        try write("releasing a wave", lock: .campaign(campaign)) { connection in
            try judge(actor, .campaign(campaign), connection)
            guard let record = try CampaignTable.record(campaign, connection), record.state == .running,
                try WaveTable.release(campaign, onlyHeld: false, at: actor.at, connection)
            else { return false }
            let wave = record.figures.waves.next.map { Int64($0.number + 1) }
            try ChangeTable.write(.waveReleased(wave), of: record, by: actor, connection)
            if isUrgent { try hurry(campaign, of: record.app, by: actor, connection) }
            return true
        }
    }
}
