// SPDX-License-Identifier: Apache-2.0
internal import RelayStore

/// The table `campaign_told`: devices that were notified at login.
package enum LoginNoticeTable {
    package static func isNotified(_ device: Int64, in campaign: Int64, _ connection: some SQLConnection) throws -> Bool
    {
        try connection.exists("SELECT 1 FROM campaign_told WHERE campaign_id = ? AND device_id = ?", campaign, device)
    }

    /// The condition that a campaign will still reach a device: it is not over, its rest is not settled, and its shards
    /// have not passed the device.
    package static func isAhead(_ device: SQL, of campaign: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
            WHERE c.id = \(campaign) AND c.finished_at IS NULL AND n.rest IS NULL
                AND (c.planned_at IS NULL OR EXISTS (SELECT 1 FROM shard AS s
                    WHERE s.campaign_id = \(campaign) AND s.cursor < \(device) AND s.last >= \(device))))
        """
    }

    /// Forgets a device of the app for good.
    package static func forget(_ device: Int64, of app: Int64, _ connection: some SQLConnection) throws {
        try connection.run(
            """
            DELETE FROM campaign_told
            WHERE device_id = ?1 AND campaign_id IN (SELECT id FROM campaign WHERE app_id = ?2 AND pruned_at IS NULL)
            """, device, app)
    }
}

/// Devices that were notified at login, counted within one transaction.
package struct LoginNoticeTally {
    private var campaigns: [Int64: Int64?] = [:]
    private var added: [Int64: Int64] = [:]

    package init() {}

    /// The campaign whose ledger would have the device; nil where there is none, or none any more.
    package mutating func campaign(
        of requirement: Int64, app: Int64, _ connection: some SQLConnection
    ) throws -> Int64? {
        if let known = campaigns[requirement] { return known }
        let campaign = try connection.integer(
            """
            SELECT c.id FROM campaign AS c JOIN requirement AS r ON r.id = c.requirement_id
            WHERE c.requirement_id = ? AND c.app_id = ? AND r.state <> 'withdrawn' AND c.pruned_at IS NULL
            """, requirement, app)
        campaigns.updateValue(campaign, forKey: requirement)
        return campaign
    }

    /// Records that a device was notified; each device counts once in each campaign.
    package mutating func add(
        _ device: Int64, of requirement: Int64, app: Int64, _ connection: some SQLConnection
    ) throws {
        guard let campaign = try campaign(of: requirement, app: app, connection) else { return }
        added[campaign, default: 0] += Int64(
            try connection.run(
                "INSERT INTO campaign_told (campaign_id, device_id) VALUES (?, ?) ON CONFLICT DO NOTHING", campaign,
                device))
    }

    /// How many devices each campaign has gained, ascending by campaign: each driver counts them in its own way.
    package var gained: [(campaign: Int64, devices: Int64)] {
        added.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
