// SPDX-License-Identifier: Apache-2.0
package import Registry
import RelayEngine
import RelayStore
import Requirements
package import UpgradeRules

/// Devices that reach a campaign's requirement in one transaction: each counts once in each campaign.
package protocol UpgradeTallying {
    associatedtype Connection: SQLConnection

    /// The effort so far, in the cost of registering a device.
    var work: Int { get }

    /// Notes that a device was seen with a version.
    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ connection: Connection
    ) throws
    mutating func store(_ connection: Connection) throws
}

/// A campaign whose ledger can be marked.
package struct MarkedCampaign: Sendable {
    package let campaign: Int64
    package let target: UpgradeTarget
    /// Whether any device was notified at login: if not, none is looked for.
    package let hasNotices: Bool

    /// An app's campaigns, ascending.
    package static func all(of app: Int64, _ connection: some SQLConnection) throws -> [MarkedCampaign] {
        try connection.all(
            """
            SELECT c.id, c.required, r.kind = 'blocked', EXISTS (SELECT 1 FROM campaign_told WHERE campaign_id = c.id)
            FROM campaign AS c JOIN requirement AS r ON r.id = c.requirement_id
            WHERE c.app_id = ? AND c.pruned_at IS NULL ORDER BY c.id
            """, app
        ) { row in
            let (campaign, required, isBlock, hasNotices) = (row.integer(), row.version(), row.bool(), row.bool())
            return required.map {
                MarkedCampaign(campaign: campaign, target: UpgradeTarget($0, isBlock: isBlock), hasNotices: hasNotices)
            }
        }.compactMap { $0 }
    }
}

/// The devices that one transaction has marked in each campaign's ledger, by what had reached them. Written at its end.
package struct AdoptionTally {
    private var campaigns: [Int64: Marked] = [:]

    private struct Marked {
        var devices: Int64 = 0
        var reach = CampaignReach()

        mutating func add(_ verdict: AdoptionRule.Verdict) {
            devices += 1
            if verdict.isEarly { reach.early += 1 }
            switch (verdict.isPushed, verdict.isNotified) {
            case (true, true): reach.both += 1
            case (true, false): reach.push += 1
            case (false, true): reach.login += 1
            case (false, false): break
            }
        }
    }

    package init() {}

    /// Counts a device whose mark is new.
    package mutating func add(_ verdict: AdoptionRule.Verdict, to campaign: Int64) {
        campaigns[campaign, default: Marked()].add(verdict)
    }

    package func store(_ connection: some SQLConnection) throws {
        let add: SQL =
            connection.dialect == .sqlite
            ? """
            UPDATE campaign SET upgraded = upgraded + ?2, upgraded_push = upgraded_push + ?3,
                upgraded_login = upgraded_login + ?4, upgraded_both = upgraded_both + ?5, upgraded_early = upgraded_early + ?6
            WHERE id = ?1
            """
            : """
            INSERT INTO campaign_tally AS t (campaign_id, upgraded, upgraded_push, upgraded_login, upgraded_both,
                upgraded_early) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (campaign_id, slot) DO UPDATE SET upgraded = t.upgraded + excluded.upgraded,
                upgraded_push = t.upgraded_push + excluded.upgraded_push,
                upgraded_login = t.upgraded_login + excluded.upgraded_login,
                upgraded_both = t.upgraded_both + excluded.upgraded_both,
                upgraded_early = t.upgraded_early + excluded.upgraded_early
            """
        for (campaign, marked) in campaigns.sorted(by: { $0.key < $1.key }) {
            let reach = marked.reach
            try connection.run(
                add, campaign, marked.devices, reach.push, reach.login, reach.both, reach.early)
        }
    }
}

extension AdoptionRule.Notice: Selection {
    /// Columns of `campaign_told`.
    package static let columns: SQL = "upgraded"

    package static func read(_ row: inout Columns<some SQLRow>) -> AdoptionRule.Notice {
        row.bool() ? .counted : .given
    }
}

extension AdoptionRule.Entry: Selection {
    /// Columns of `delivery`. Whether the device was current is read as a boolean: reading the reason would make a text
    /// for each device.
    package static let columns: SQL =
        "state, CASE WHEN state = 7 AND reason = 'alreadyCurrent' THEN 1 ELSE 0 END, upgraded"

    package static func read(_ row: inout Columns<some SQLRow>) -> AdoptionRule.Entry {
        AdoptionRule.Entry(state: row.state() ?? .cancelled, wasCurrent: row.bool(), isMarked: row.bool())
    }
}
