// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// From state to state.
extension CampaignTable {
    /// The campaigns of an app that are not in a final state, oldest first.
    ///
    /// - Parameter required: of this requirement alone; nil: all.
    static func open(
        of app: AppKey, requiring required: Version? = nil, _ connection: SQLiteConnection
    ) throws -> [CampaignKey] {
        let rows = try connection.all(
            """
            SELECT c.id, c.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ? AND c.state NOT IN \(finalStates) ORDER BY c.id
            """, .text(app.app), .text(app.platform.rawValue)
        ) { (CampaignKey(row: $0.integer(0)), $0.version(1)) }
        return rows.filter { required == nil || $0.1 == required }.map(\.0)
    }

    /// Ends the open campaigns of older requirements (DESIGN, rule 6): a newer one has come into force.
    ///
    /// - Parameter onlyCanaries: it is in force for named users alone, and takes the place of what others were named for.
    static func supersede(
        below required: Version, of app: AppKey, onlyCanaries: Bool, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        for campaign in try open(of: app, connection) {
            guard let record = try record(campaign, connection), record.required < required,
                !onlyCanaries || record.isCanary
            else { continue }
            try finish(
                campaign, as: .superseded, reason: "version \(required) became required", rest: .cancelled, at: now,
                connection)
        }
    }

    /// What waited for `required` to come into force begins. A campaign that was suspended because its store had stopped to
    /// offer the version goes on; one that was paused by hand stays paused.
    static func begin(
        _ required: Version, of app: AppKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        let campaigns = try open(of: app, requiring: required, connection)
        let isCanary = try campaigns.contains { try record($0, connection)?.isCanary ?? false }
        try supersede(below: required, of: app, onlyCanaries: isCanary, at: now, connection)
        for campaign in campaigns {
            try move(campaign, from: [.waiting, .suspended], to: .running, reason: nil, at: now, connection)
        }
    }

    /// As `CampaignStore.moveCampaign`.
    @discardableResult
    static func move(
        _ campaign: CampaignKey, from: Set<CampaignState>, to: CampaignState, reason: String?, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws -> Bool {
        if to == .cancelled || to == .superseded {
            // Counts and state in one statement: the event that it makes is the campaign as it then is.
            guard let state = try state(of: campaign, connection), from.contains(state) else { return false }
            try finish(campaign, as: to, reason: reason, rest: .cancelled, at: now, connection)
            return true
        }
        let moved = try connection.run(
            """
            UPDATE campaign SET state = ?1, reason = ?2,
                expires_at = expires_at + CASE WHEN ?1 = 'running' AND started_at IS NULL THEN
                    max(?3 - created_at, 0) ELSE 0 END,
                started_at = CASE WHEN ?1 = 'running' THEN coalesce(started_at, ?3) ELSE started_at END,
                finished_at = CASE WHEN ?1 IN \(finalStates) THEN ?3 END
            WHERE id = ?4 AND state IN (SELECT value FROM json_each(?5))
            """, .text(to.rawValue), .text(reason), .time(now), .integer(campaign.row),
            .text(TextList.json(from.map(\.rawValue).sorted())))
        if moved > 0, to == .running {
            try release(campaign, at: now, connection)
            _ = try WaveTable.release(campaign, onlyHeld: true, at: now, connection)
        }
        return moved > 0
    }
}
