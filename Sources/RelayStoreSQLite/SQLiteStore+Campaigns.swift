// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

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

    package func answers(
        of app: AppKey, before campaign: CampaignKey, campaigns count: Int
    ) throws -> (accepted: Int64, unregistered: Int64) {
        try read("adding up earlier answers") { connection in
            try connection.all(
                """
                SELECT c.accepted, c.unregistered FROM campaign AS c JOIN app AS a ON a.id = c.app_id
                WHERE a.name = ? AND a.platform = ? AND c.id < ? ORDER BY c.id DESC LIMIT ?
                """, .text(app.app), .text(app.platform.rawValue), .integer(campaign.row), .integer(count)
            ) { (accepted: $0.integer(0), unregistered: $0.integer(1)) }
            .reduce((accepted: 0, unregistered: 0)) { ($0.accepted + $1.accepted, $0.unregistered + $1.unregistered) }
        }
    }

    package func suspensions(of campaign: CampaignKey) throws -> [String] {
        try read("reading why a campaign was suspended") { connection in
            try connection.all(
                """
                SELECT reason FROM campaign_event INDEXED BY campaign_event_suspended
                WHERE campaign_id = ? AND state = 'suspended' AND reason IS NOT NULL ORDER BY id
                """, .integer(campaign.row)
            ) { $0.text(0) }
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
