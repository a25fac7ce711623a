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
        try write("moving a campaign to \(to.rawValue)") { connection in
            try CampaignTable.move(campaign, from: from, to: to, reason: reason, at: now, connection)
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
