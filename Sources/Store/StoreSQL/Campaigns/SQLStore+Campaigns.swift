// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

extension SQLStore {
    package func campaign(_ key: CampaignKey) throws -> CampaignRecord? {
        try read("reading a campaign") { connection in try CampaignTable.record(key, connection) }
    }

    package func campaign(id: String) throws -> CampaignRecord? {
        try read("reading a campaign") { connection in
            try CampaignTable.records("c.public_id = ?", [id], connection).first
        }
    }

    package func campaigns(before: CampaignKey?, limit: Int) throws -> [CampaignRecord] {
        try read("listing campaigns") { connection in
            try CampaignTable.records(
                "c.id < ? ORDER BY c.id DESC LIMIT ?", [before?.row ?? .max, max(limit, 0)],
                connection)
        }
    }

    package func answers(
        of app: AppKey, before campaign: CampaignKey, campaigns count: Int
    ) throws -> (accepted: Int64, unregistered: Int64) {
        try read("adding up earlier answers") { connection in
            let rows = try connection.all(
                """
                SELECT n.accepted, n.unregistered FROM campaign AS c JOIN app AS a ON a.id = c.app_id
                    JOIN campaign_run AS n ON n.campaign_id = c.id
                WHERE a.name = ? AND a.platform = ? AND c.id < ? ORDER BY c.id DESC LIMIT ?
                """, app.app, app.platform, campaign.row, count
            ) { (accepted: $0.integer(), unregistered: $0.integer()) }
            return (rows.reduce(0) { $0 + $1.accepted }, rows.reduce(0) { $0 + $1.unregistered })
        }
    }

    package func openCampaigns() throws -> [CampaignRecord] {
        try read("listing open campaigns") { connection in
            try CampaignTable.records(
                "c.state NOT IN \(CampaignTable.finalStates) ORDER BY c.id", [], connection)
        }
    }

    package func expireCampaign(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("expiring a campaign", lock: .campaign(campaign)) { connection in
            guard let record = try CampaignTable.record(campaign, connection), !record.state.isFinal else { return }
            try CampaignTable.settleRest(of: campaign, as: .expired, at: now, connection)
            _ = try decide(record, .expired, at: now, connection)
        }
    }

    package func completeIfDone(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool {
        let decision = try write("completing a campaign", lock: .campaign(campaign)) {
            connection -> (AppKey, Decision)? in
            let isDone = try connection.exists(
                """
                SELECT 1 FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
                WHERE c.id = ?1 AND c.state = 'running' AND c.planned_at IS NOT NULL AND n.retrying = 0
                    AND NOT EXISTS (SELECT 1 FROM shard AS s WHERE s.campaign_id = ?1 AND \(RunTable.isOpen))
                    AND NOT EXISTS (SELECT 1 FROM campaign_round WHERE campaign_id = ?1 AND gathered_at IS NULL)
                """, campaign.row)
            guard isDone, let record = try CampaignTable.record(campaign, connection) else { return nil }
            return (record.app, try decide(record, .drained, at: now, connection))
        }
        guard let (app, decision) = decision else { return false }
        // Where no user was left for its later waves, its requirement is in force for everybody from now on.
        wasCommitted(decision, of: app, isAwaited: false)
        return decision.hasChanged
    }

    /// Decides on a campaign for the relay itself. Must run within a transaction.
    func decide(
        _ record: CampaignRecord, _ event: CampaignChange, at now: Timestamp, _ connection: Connection
    ) throws -> Decision {
        try decide(
            record.app, .campaign(record.key, event), by: .relay(at: now),
            in: RequirementMachine.Surroundings(now: now), connection)
    }
}
