// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
package import UpgradeRules

extension SQLiteStore {
    package func newestCampaigns() throws -> [CampaignRecord] {
        try read("listing the newest campaigns") { connection in
            try CampaignTable.records("\(AdoptionTable.isNewest) ORDER BY c.id", [], connection)
        }
    }

    package func toldAtLogin(_ devices: [Int64]) throws -> [Int64: [Version]] {
        try read("looking for who was told at login") { connection in
            var told: [Int64: [Version]] = [:]
            for device in Set(devices).sorted() {
                // CROSS JOIN: by the key of `campaign_told`, campaign by campaign of the device's app.
                let versions = try connection.all(
                    """
                    SELECT c.required FROM device AS d CROSS JOIN campaign AS c ON c.app_id = d.app_id
                    CROSS JOIN campaign_told AS t ON t.campaign_id = c.id AND t.device_id = d.id
                    WHERE d.id = ? ORDER BY c.id
                    """, device
                ) { $0.version(0) }
                told[device] = versions.compactMap(\.self)
            }
            return told
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
        // Most of the time there is nothing to write, and nobody must wait for it.
        let due = try read("following adoption") { connection in
            let campaigns = try connection.all(
                """
                SELECT c.id, c.upgraded, coalesce(c.started_at, c.created_at) FROM campaign AS c
                WHERE \(AdoptionTable.isNewest) AND c.pruned_at IS NULL AND c.upgraded > 0
                """
            ) { (id: $0.integer(0), upgraded: $0.integer(1), begunAt: $0.time(2)) }
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
        return try write("following adoption") { connection in
            var noted = 0
            for point in due {
                // Pruning may have begun meanwhile: then its points are gone, or go.
                let inserted = try connection.run(
                    """
                    INSERT OR IGNORE INTO campaign_adoption (campaign_id, at, upgraded)
                    SELECT id, ?, ? FROM campaign WHERE id = ? AND pruned_at IS NULL
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

/// A point of a campaign's curve that is to be kept.
private struct DuePoint {
    var campaign: Int64
    var upgraded: Int64
    var series: AdoptionSeries
    var thins: Bool
}
