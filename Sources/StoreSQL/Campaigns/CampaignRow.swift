// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

/// Everything of a campaign that is one row, and whether there is more of it in other tables.
struct CampaignRow {
    /// nil where a column holds what the schema's CHECKs do not allow.
    var record: CampaignRecord?
    var hasNames: Bool
    var hasReasons: Bool
    var hasWaves: Bool
    var hasRounds: Bool

    /// Whether a campaign has rows in a table of what few have.
    private static func has(_ table: SQL) -> SQL { "EXISTS (SELECT 1 FROM \(table) WHERE campaign_id = c.id)" }

    private static let isLeftOut = CampaignTable.isLeftOut("c")
}

extension CampaignRow: Selection {
    static let source: SQL = """
        FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
            JOIN app AS a ON a.id = c.app_id JOIN requirement AS r ON r.id = c.requirement_id
        """

    static let columns: SQL = """
        r.canary, \(has("campaign_reason")), \(has("campaign_wave")), \(has("campaign_round")), c.required, c.state,
            c.id, c.public_id, a.name, a.platform, c.latest, c.download_url, c.reason, c.created_at, c.started_at,
            c.finished_at, c.expires_at, c.planned_at,
            CASE WHEN \(isLeftOut) THEN 0 ELSE \(CampaignTable.notReached("c")) END, n.accepted,
            CASE WHEN \(isLeftOut) THEN 0 ELSE n.retrying END, n.rejected, n.unregistered, n.expired, n.filtered,
            n.cancelled + \(CampaignTable.leftOut("c")), c.upgraded,
            r.build, \(CampaignTable.inForce("a")), r.minimum_os, r.kind = 'blocked',
            c.told, c.upgraded_push, c.upgraded_login, c.upgraded_both, c.upgraded_early,
            CASE WHEN r.canary IS NULL THEN NULL WHEN r.reach = 0 THEN 'alone' ELSE 'released' END, c.canary_ended_at,
            CASE WHEN r.canary IS NOT NULL AND r.reach > 0 THEN \(CanaryTable.releasedAt("r")) END,
            r.id, r.reach, r.message, r.messages, r.required_from, r.stages,
            c.accepts_dead, c.paused_at, c.paused_by, c.urgent_at, c.urgent_by, c.cause
        """

    static func read(_ row: inout Columns<some SQLRow>) -> CampaignRow {
        var found = CampaignRow(
            hasNames: !row.isNull(), hasReasons: row.bool(), hasWaves: row.bool(), hasRounds: row.bool())
        guard let required = row.version(), let state = CampaignState(rawValue: row.text()) else {
            row.leave()
            return found
        }
        var record = CampaignRecord(
            key: CampaignKey(row: row.integer()), id: row.text(), app: row.app(), required: required,
            latest: row.version(), downloadURL: row.text(), message: nil, telephones: nil, state: state,
            reason: row.optionalText(), createdAt: row.time(), startedAt: row.optionalTime(),
            finishedAt: row.optionalTime(), expiresAt: row.time(), isPlanned: !row.isNull(),
            counts: CampaignCounts.read(&row), filteredBy: [:], rejectedBy: [:], upgraded: row.integer())
        (record.requiredBuild, record.inForce) = (row.optionalInteger(), row.version())
        (record.minimumOS, record.isBlock) = (row.version(), row.bool())
        record.reach = CampaignReach(
            toldAtLogin: row.integer(), push: row.integer(), login: row.integer(), both: row.integer(),
            early: row.integer())
        let (phase, endedAt, releasedAt) = (row.optionalText(), row.optionalTime(), row.optionalTime())
        record.canary = phase.flatMap(CampaignCanary.Phase.init).map {
            CampaignCanary($0, endedAt: endedAt, releasedAt: releasedAt)
        }
        (record.requirement, record.requirementReach) = (row.integer(), Int(row.integer()))
        record.words = StoredText.read(row.optionalText(), row.optionalText())
        record.message = record.words?.text
        record.requiredFrom = row.optionalTime()
        record.stages = RequirementTable.stages(row.optionalText())
        record.acceptsDeadTokens = row.bool()
        (record.pausedAt, record.pausedBy) = (row.optionalTime(), row.optionalText())
        (record.urgentAt, record.urgentBy) = (row.optionalTime(), row.optionalText())
        record.cause = row.optionalText().flatMap(SuspensionCause.init)
        found.record = record
        return found
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
        c.id, c.requirement_id, c.state, c.created_at, c.expires_at, c.time_to_live, c.reason, c.paused_at, c.paused_by, c.cause,
            c.cause_text, c.ended, c.started_at, c.finished_at, c.time_left, c.pruned_at, c.accepts_dead, c.urgent_at,
            c.urgent_by, c.download_url
        """

    package static func read(_ row: inout Columns<some SQLRow>) -> CampaignFacts {
        var facts = CampaignFacts(
            key: CampaignKey(row: row.integer()), requirement: row.integer(),
            state: CampaignState(rawValue: row.text()) ?? .cancelled, createdAt: row.time(), expiresAt: row.time(),
            timeToLive: .milliseconds(row.integer()))
        facts.reason = row.optionalText()
        (facts.pausedAt, facts.pausedBy) = (row.optionalTime(), row.optionalText())
        (facts.cause, facts.causeText) = (row.optionalText().flatMap(SuspensionCause.init), row.optionalText())
        facts.end = row.optionalText().flatMap(CampaignFacts.End.init)
        (facts.startedAt, facts.finishedAt) = (row.optionalTime(), row.optionalTime())
        facts.timeLeft = row.optionalInteger().map { .milliseconds($0) }
        (facts.isPruned, facts.acceptsDeadTokens) = (!row.isNull(), row.bool())
        (facts.urgentAt, facts.urgentBy) = (row.optionalTime(), row.optionalText())
        facts.downloadURL = row.optionalText()
        return facts
    }
}
