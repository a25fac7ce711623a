// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL
import UpgradeRules

/// The table `campaign_told`: devices that were told at login.
enum ToldTable {
    static func wasTold(_ device: Int64, in campaign: Int64, _ connection: SQLiteConnection) throws -> Bool {
        try told(device, in: campaign, connection) != nil
    }

    /// Whether a device that was told counts as upgraded by that already; nil: it was not told.
    static func told(_ device: Int64, in campaign: Int64, _ connection: SQLiteConnection) throws -> Bool? {
        try connection.first(
            "SELECT upgraded FROM campaign_told WHERE campaign_id = ? AND device_id = ?", campaign, device
        ) { $0.integer(0) != 0 }
    }

    /// Notes that a device that was told has come up to the requirement before its campaign came to it.
    ///
    /// - Returns: false where it was not told or counts already, or where the campaign leaves it out.
    static func markEarly(_ device: Int64, in campaign: Int64, _ connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            """
            UPDATE campaign_told SET upgraded = 1 WHERE campaign_id = ?1 AND device_id = ?2 AND upgraded = 0
                AND EXISTS (SELECT 1 FROM campaign AS c WHERE c.id = ?1 AND c.finished_at IS NULL
                            AND (c.planned_at IS NULL
                                 OR EXISTS (SELECT 1 FROM shard AS s JOIN campaign_run AS n ON n.campaign_id = s.campaign_id
                                            WHERE s.campaign_id = ?1 AND n.rest IS NULL AND s.cursor < ?2 AND s.last >= ?2)))
            """, campaign, device) > 0
    }

    /// Forgets a device of the app for good.
    static func forget(_ device: Int64, of app: Int64, _ connection: SQLiteConnection) throws {
        try connection.run(
            """
            DELETE FROM campaign_told
            WHERE device_id = ?1 AND campaign_id IN (SELECT id FROM campaign WHERE app_id = ?2 AND pruned_at IS NULL)
            """, device, app)
    }
}

/// Devices that were told at login, gathered within one transaction.
struct ToldTally {
    private struct Requirement: Hashable {
        var app: Int64
        var key: String
    }

    private var campaigns: [Requirement: Int64?] = [:]
    private var told: [Int64: Int64] = [:]

    /// The campaign whose ledger would know of it; nil where there is none, or none any more.
    mutating func campaign(
        of required: Version, app: Int64, _ connection: SQLiteConnection
    ) throws -> Int64? {
        let requirement = Requirement(app: app, key: required.sortKey)
        if let known = campaigns[requirement] { return known }
        let campaign = try connection.integer(
            """
            SELECT c.id FROM campaign AS c JOIN requirement AS r ON r.id = c.requirement_id
            WHERE c.app_id = ? AND r.version_key = ? AND r.state <> 'withdrawn' AND c.pruned_at IS NULL
            """, app, requirement.key)
        campaigns.updateValue(campaign, forKey: requirement)
        return campaign
    }

    /// Takes note that a device was told; each counts once in each campaign.
    mutating func told(
        _ device: Int64, of required: Version, app: Int64, _ connection: SQLiteConnection
    ) throws {
        guard let campaign = try campaign(of: required, app: app, connection) else { return }
        told[campaign, default: 0] += Int64(
            try connection.run(
                "INSERT OR IGNORE INTO campaign_told (campaign_id, device_id) VALUES (?, ?)", campaign, device))
    }

    func store(_ connection: SQLiteConnection) throws {
        for (campaign, devices) in told.sorted(by: { $0.key < $1.key }) where devices > 0 {
            try connection.run("UPDATE campaign SET told = told + ? WHERE id = ?", devices, campaign)
        }
    }
}
