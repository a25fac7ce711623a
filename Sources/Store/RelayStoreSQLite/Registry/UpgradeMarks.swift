// SPDX-License-Identifier: Apache-2.0
import Registry
import StoreSQL
import UpgradeRules

/// Devices that have reached a campaign's requirement since the campaign listed them, each marked at once.
struct UpgradeMarks: UpgradeTallying {
    private var campaigns: [Int64: [MarkedCampaign]] = [:]
    /// Whether the transaction also records notices at login, which `MarkedCampaign.hasNotices`, read earlier, may not
    /// include.
    private let notifies: Bool
    private var tally = AdoptionTally()
    /// The work done so far, in the cost of registering a device.
    private(set) var work = 0

    /// The work of a look-up in a campaign's ledger and of the mark there: 31 µs, where registering a device takes
    /// about 10.
    private static let look = 3

    init(notifies: Bool = false) {
        self.notifies = notifies
    }

    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ connection: SQLiteConnection
    ) throws {
        guard UpgradeTarget.mayBeReached(by: version, from: old) else { return }
        if campaigns[app] == nil { campaigns[app] = try MarkedCampaign.all(of: app, connection) }
        for campaign in campaigns[app] ?? [] where campaign.target.isReached(by: version, from: old) {
            work += Self.look
            guard let verdict = try mark(device, in: campaign, connection) else { continue }
            tally.add(verdict, to: campaign.campaign)
        }
    }

    /// Marks a device; nil where it does not count, or counts already.
    private func mark(
        _ device: Int64, in campaign: MarkedCampaign, _ connection: SQLiteConnection
    ) throws -> AdoptionRule.Verdict? {
        let notice =
            notifies || campaign.hasNotices
            ? try connection.first(Self.notice, campaign.campaign, device) { AdoptionRule.Notice.read(&$0) } : nil
        guard !AdoptionRule.isSettled(by: notice),
            let verdict = AdoptionRule.judge(try entry(of: device, in: campaign.campaign, connection), notice)
        else { return nil }
        return try connection.run(Self.statement(verdict.mark), campaign.campaign, device) > 0 ? verdict : nil
    }

    /// The ledger's entry for a device. No device has both a place in a batch and a row.
    private func entry(
        of device: Int64, in campaign: Int64, _ connection: SQLiteConnection
    ) throws -> AdoptionRule.Entry? {
        try DeliveryBatchTable.outcome(of: device, in: campaign, connection).map(AdoptionRule.Entry.init)
            ?? connection.first(Self.entry, campaign, device) { AdoptionRule.Entry.read(&$0) }
    }

    mutating func store(_ connection: SQLiteConnection) throws { try tally.store(connection) }

    // MARK: Statements, of a campaign (?1) and a device (?2)

    private static let notice: SQL = """
        SELECT \(AdoptionRule.Notice.columns) FROM campaign_told WHERE campaign_id = ?1 AND device_id = ?2
        """
    /// Not read by a RETURNING of the mark: SQLite's table in memory for that costs twice as much as this query.
    private static let entry: SQL = """
        SELECT \(AdoptionRule.Entry.columns) FROM delivery WHERE campaign_id = ?1 AND device_id = ?2
        """
    private static let markEarly: SQL = """
        UPDATE campaign_told SET upgraded = 1
        WHERE campaign_id = ?1 AND device_id = ?2 AND upgraded = 0 AND \(LoginNoticeTable.isAhead("?2", of: "?1"))
        """

    private static func statement(_ mark: AdoptionRule.Mark) -> SQL {
        switch mark {
        case .row: "UPDATE delivery SET upgraded = 1 WHERE campaign_id = ?1 AND device_id = ?2"
        case .besideBatch: "INSERT OR IGNORE INTO delivery_upgrade (campaign_id, device_id) VALUES (?1, ?2)"
        case .notice: markEarly
        }
    }
}
