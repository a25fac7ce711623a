// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules

/// All of a campaign that is in one row, and whether there is more in other tables.
struct CampaignRow {
    /// Without the numbers of its canary; nil where a column holds a value that the schema's CHECKs do not allow.
    var record: CampaignRecord?
    var hasReasons: Bool
    var hasWaves: Bool
    var hasRounds: Bool

    /// Whether a campaign has rows in a table that few campaigns need.
    private static func has(_ table: SQL) -> SQL { "EXISTS (SELECT 1 FROM \(table) WHERE campaign_id = c.id)" }

    private static let isLeftOut = CampaignTable.isLeftOut("c")
}

extension CampaignRow: Selection {
    static let source: SQL = """
        FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
            JOIN app AS a ON a.id = c.app_id JOIN requirement AS r ON r.id = c.requirement_id
        """

    static let columns: SQL = """
        \(has("campaign_reason")), \(has("campaign_wave")), \(has("campaign_round")), c.state,
            \(RequirementTable.Row.columns),
            c.public_id, a.name, a.platform, c.latest, \(CampaignTable.inForce("a")),
            \(CampaignFacts.columns),
            c.planned_at,
            CASE WHEN \(isLeftOut) THEN 0 ELSE \(CampaignTable.notReached("c")) END, n.accepted,
            CASE WHEN \(isLeftOut) THEN 0 ELSE n.retrying END, n.rejected, n.unregistered, n.expired, n.filtered,
            n.cancelled + \(CampaignTable.leftOut("c")), c.upgraded,
            c.told, c.upgraded_push, c.upgraded_login, c.upgraded_both, c.upgraded_early, c.canary_ended_at,
            CASE WHEN r.canary IS NOT NULL AND r.reach > 0 THEN \(CanaryTable.releasedAt("r")) END
        """

    static func read(_ row: inout Columns<some SQLRow>) -> CampaignRow {
        var found = CampaignRow(hasReasons: row.bool(), hasWaves: row.bool(), hasRounds: row.bool())
        let isKnown = CampaignState(rawValue: row.text()) != nil
        guard let requirement = RequirementTable.Row.read(&row), isKnown else {
            row.leave()
            return found
        }
        let (id, app, latest, inForce) = (row.text(), row.app(), row.version(), row.version())
        var record = CampaignRecord(id: id, app: app, facts: .read(&row), requirement: requirement)
        (record.latest, record.inForce) = (latest, inForce)
        record.figures = .read(&row)
        found.record = record
        return found
    }
}

extension CampaignFigures {
    /// The figures that are columns of a `CampaignRow`.
    fileprivate static func read(_ row: inout Columns<some SQLRow>) -> CampaignFigures {
        var figures = CampaignFigures()
        figures.isPlanned = !row.isNull()
        (figures.counts, figures.upgraded) = (CampaignCounts.read(&row), row.integer())
        figures.reach = CampaignReach(
            toldAtLogin: row.integer(), push: row.integer(), login: row.integer(), both: row.integer(),
            early: row.integer())
        (figures.canaryEndedAt, figures.canaryReleasedAt) = (row.optionalTime(), row.optionalTime())
        return figures
    }
}

extension CampaignCounts: Selection {
    /// Columns of `campaign_run`.
    package static let columns: SQL =
        "pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled"

    package static func read(_ row: inout Columns<some SQLRow>) -> CampaignCounts {
        var counts = CampaignCounts()
        (counts.pending, counts.accepted, counts.retrying) = (row.integer(), row.integer(), row.integer())
        (counts.rejected, counts.unregistered, counts.expired) = (row.integer(), row.integer(), row.integer())
        (counts.filtered, counts.cancelled) = (row.integer(), row.integer())
        return counts
    }
}

extension CampaignFacts: Selection {
    /// Columns of `campaign` (c).
    package static let columns: SQL = """
        c.id, c.requirement_id, c.state, c.created_at, c.expires_at, c.time_to_live, c.download_url, c.reason, c.paused_at,
            c.paused_by, c.cause, c.cause_text, c.ended, c.started_at, c.finished_at, c.time_left, c.pruned_at, c.accepts_dead,
            c.urgent_at, c.urgent_by
        """

    package static func read(_ row: inout Columns<some SQLRow>) -> CampaignFacts {
        var facts = CampaignFacts(
            key: CampaignKey(row: row.integer()), requirement: row.integer(),
            state: CampaignState(rawValue: row.text()) ?? .cancelled, createdAt: row.time(), expiresAt: row.time(),
            timeToLive: .milliseconds(row.integer()), downloadURL: row.text())
        facts.reason = row.optionalText()
        (facts.pausedAt, facts.pausedBy) = (row.optionalTime(), row.optionalText())
        (facts.cause, facts.causeText) = (row.optionalText().flatMap(SuspensionCause.init), row.optionalText())
        facts.end = row.optionalText().flatMap(CampaignFacts.End.init)
        (facts.startedAt, facts.finishedAt) = (row.optionalTime(), row.optionalTime())
        facts.timeLeft = row.optionalInteger().map { .milliseconds($0) }
        (facts.isPruned, facts.acceptsDeadTokens) = (!row.isNull(), row.bool())
        (facts.urgentAt, facts.urgentBy) = (row.optionalTime(), row.optionalText())
        return facts
    }
}
