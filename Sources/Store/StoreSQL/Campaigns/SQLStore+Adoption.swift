// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import UpgradeRules

extension SQLStore {
    package func newestCampaigns() throws -> [CampaignRecord] {
        try read("listing the newest campaigns") { connection in
            try CampaignTable.records("\(AdoptionTable.isNewest) ORDER BY c.id", [], connection)
        }
    }

    package func toldAtLogin(_ devices: [Int64]) throws -> [Int64: [Version]] {
        try read("looking for users notified at login") { connection in
            var notices: [Int64: [Version]] = [:]
            for device in Set(devices).sorted() {
                // Uses the key of `campaign_told`, campaign by campaign of the device's app.
                let join = connection.dialect.join
                let versions = try connection.all(
                    """
                    SELECT c.required FROM device AS d \(join) campaign AS c ON c.app_id = d.app_id
                    \(join) campaign_told AS t ON t.campaign_id = c.id AND t.device_id = d.id
                    WHERE d.id = ? ORDER BY c.id
                    """, device
                ) { $0.version() }
                notices[device] = versions.compactMap(\.self)
            }
            return notices
        }
    }

    package func adoption(of campaign: CampaignKey) throws -> CampaignAdoption? {
        try read("reading a campaign's adoption") { connection in
            guard let record = try CampaignTable.record(campaign, connection) else { return nil }
            return CampaignAdoption(
                record: record, points: try AdoptionTable.points(of: campaign.row, before: nil, connection))
        }
    }

    @discardableResult
    package func followAdoption(at now: Timestamp) throws -> Int {
        // Read first: usually there is nothing to write, and no writer should wait for that.
        let due = try read("following adoption") { connection in
            let campaigns = try connection.all(
                """
                SELECT c.id, c.upgraded, coalesce(c.started_at, c.created_at) FROM campaign AS c
                WHERE \(AdoptionTable.isNewest) AND c.pruned_at IS NULL AND c.upgraded > 0
                """
            ) { (id: $0.integer(), upgraded: $0.integer(), begunAt: $0.time()) }
            return try campaigns.compactMap { campaign -> DuePoint? in
                let series = AdoptionSeries(begunAt: campaign.begunAt)
                let last = try AdoptionTable.lastPoint(of: campaign.id, connection)
                let step = series.step(upgraded: campaign.upgraded, after: last, at: now)
                guard step != .nothing else { return nil }
                return DuePoint(
                    campaign: campaign.id, upgraded: campaign.upgraded, series: series, thins: step == .noteAndThin)
            }
        }
        guard !due.isEmpty else { return 0 }
        return try write("following adoption", lock: .rows) { connection in
            var noted = 0
            for point in due {
                // Pruning may have begun since: then the campaign's points are gone, or will be.
                let inserted = try connection.run(
                    """
                    INSERT INTO campaign_adoption (campaign_id, at, upgraded)
                    SELECT id, ?, ? FROM campaign WHERE id = ? AND pruned_at IS NULL
                    ON CONFLICT DO NOTHING
                    """, now, point.upgraded, point.campaign)
                noted += inserted
                guard inserted > 0, point.thins else { continue }
                let first = try AdoptionTable.points(of: point.campaign, before: point.series.firstEnd, connection)
                for surplus in point.series.surplus(of: first) {
                    try connection.run(
                        "DELETE FROM campaign_adoption WHERE campaign_id = ? AND at = ?", point.campaign, surplus.at)
                }
            }
            return noted
        }
    }
}

/// A point of a campaign's curve that must be kept.
private struct DuePoint {
    var campaign: Int64
    var upgraded: Int64
    var series: AdoptionSeries
    var thins: Bool
}

/// The table `campaign_adoption`.
enum AdoptionTable {
    /// The newest campaign `c` of each app that has started for all devices: while a newer one waits, or goes to a canary
    /// alone, this one is still in force.
    static let isNewest: SQL = """
        c.id = (SELECT max(n.id) FROM campaign AS n WHERE n.app_id = c.app_id AND n.started_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM requirement AS q WHERE q.id = n.requirement_id AND q.reach > 0 AND q.kind = 'required'))
        """

    static func points(of campaign: Int64, before end: Timestamp?, _ connection: some SQLConnection) throws
        -> [AdoptionPoint]
    {
        try connection.all(
            "SELECT at, upgraded FROM campaign_adoption WHERE campaign_id = ? AND at < ? ORDER BY at",
            campaign, end?.milliseconds ?? .max
        ) { AdoptionPoint(at: $0.time(), upgraded: $0.integer()) }
    }

    static func lastPoint(of campaign: Int64, _ connection: some SQLConnection) throws -> AdoptionPoint? {
        try connection.first(
            "SELECT at, upgraded FROM campaign_adoption WHERE campaign_id = ? ORDER BY at DESC LIMIT 1", campaign
        ) { AdoptionPoint(at: $0.time(), upgraded: $0.integer()) }
    }
}
