// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

extension SQLiteStore {
    package func campaign(_ key: CampaignKey) throws -> CampaignRecord? {
        try read("reading a campaign") { connection in try CampaignTable.record(key, connection) }
    }

    package func campaign(id: String) throws -> CampaignRecord? {
        try read("reading a campaign") { connection in
            try CampaignTable.records("c.public_id = ?", [.text(id)], connection).first
        }
    }

    package func campaigns(before: CampaignKey?, limit: Int) throws -> [CampaignRecord] {
        try read("listing campaigns") { connection in
            try CampaignTable.records(
                "c.id < ? ORDER BY c.id DESC LIMIT ?", [.integer(before?.row ?? .max), .integer(max(limit, 0))],
                connection)
        }
    }

    package func openCampaigns() throws -> [CampaignRecord] {
        try read("listing open campaigns") { connection in
            try CampaignTable.records(
                "c.state NOT IN \(CampaignTable.finalStates) ORDER BY c.id", [], connection)
        }
    }

    package func moveCampaign(
        _ campaign: CampaignKey, from: Set<CampaignState>, to: CampaignState, reason: String?, at now: Timestamp
    ) throws -> Bool {
        let states = TextList.json(from.map(\.rawValue).sorted())
        return try write("moving a campaign to \(to.rawValue)") { connection in
            if to == .cancelled || to == .superseded {
                // Counts and state in one statement: the event that it makes is the campaign as it then is.
                guard let state = try CampaignTable.state(of: campaign, connection), from.contains(state) else {
                    return false
                }
                try CampaignTable.finish(campaign, as: to, reason: reason, rest: .cancelled, at: now, connection)
                return true
            }
            let moved = try connection.run(
                """
                UPDATE campaign SET state = ?1, reason = ?2,
                    expires_at = expires_at + CASE WHEN ?1 = 'running' AND started_at IS NULL THEN
                        max(?3 - created_at, 0) ELSE 0 END,
                    started_at = CASE WHEN ?1 = 'running' THEN coalesce(started_at, ?3) ELSE started_at END,
                    finished_at = CASE WHEN ?1 IN \(CampaignTable.finalStates) THEN ?3 END
                WHERE id = ?4 AND state IN (SELECT value FROM json_each(?5))
                """, .text(to.rawValue), .text(reason), .time(now), .integer(campaign.row), .text(states))
            if moved > 0, to == .running {
                try CampaignTable.release(campaign, at: now, connection)
                _ = try WaveTable.release(campaign, onlyHeld: true, at: now, connection)
            }
            return moved > 0
        }
    }

    package func expireCampaign(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("expiring a campaign") { connection in
            guard let state = try CampaignTable.state(of: campaign, connection), !state.isFinal else { return }
            try CampaignTable.finish(campaign, as: .completed, reason: nil, rest: .expired, at: now, connection)
        }
    }

    package func completeIfDone(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool {
        try write("completing a campaign") { connection in
            try connection.run(
                """
                UPDATE campaign SET state = 'completed', reason = NULL, finished_at = ?1
                WHERE id = ?2 AND state = 'running' AND planned_at IS NOT NULL AND retrying = 0
                    AND NOT EXISTS (SELECT 1 FROM shard WHERE campaign_id = ?2 AND done = 0)
                    AND NOT EXISTS (SELECT 1 FROM campaign_round WHERE campaign_id = ?2 AND gathered_at IS NULL)
                """, .time(now), .integer(campaign.row)) > 0
        }
    }
}
