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

    /// What waited for `required` to come into force begins, or goes on. One that was paused or suspended stays so.
    static func begin(
        _ required: Version, of app: AppKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        try reopenSuperseded(required, of: app, at: now, connection)
        let campaigns = try open(of: app, requiring: required, connection)
        let isCanary = try campaigns.contains { try record($0, connection)?.isCanary ?? false }
        try supersede(below: required, of: app, onlyCanaries: isCanary, at: now, connection)
        for campaign in campaigns {
            try move(campaign, from: [.waiting], to: .running, reason: nil, at: now, connection)
        }
    }

    /// The requirements whose campaigns were cancelled before they were in force for everybody: nobody asks for them any more. Who
    /// cancels what is in force for everybody ends the pushes alone: it is forced on.
    static func dropped(of app: AppKey, _ connection: SQLiteConnection) throws -> [Version?] {
        try connection.all(
            """
            SELECT c.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ?
                AND (c.state = 'cancelled' OR c.state = 'completed' AND c.canary = 'alone')
                AND instr(c.required_canonical, '/') = 0 -- withdrawn, and perhaps asked for again since
                AND c.required IS NOT (SELECT h.required FROM in_force_history AS h
                    WHERE h.app = a.name AND h.platform = a.platform AND h.canary = 0 AND h.changed_at <= c.finished_at
                    ORDER BY h.id DESC LIMIT 1)
            """, .text(app.app), .text(app.platform.rawValue)
        ) { $0.version(0) }
    }

    static func wasDropped(_ required: Version, of app: AppKey, _ connection: SQLiteConnection) throws -> Bool {
        try dropped(of: app, connection).contains(required)
    }

    /// What took the place of a requirement is gone: what is in force for everybody by now has its campaign again.
    static func goOnWithForce(of app: AppKey, at now: Timestamp, _ connection: SQLiteConnection) throws {
        guard let required = try InForceTable.inForce(of: app, connection).required else { return }
        try reopenSuperseded(required, of: app, at: now, connection)
    }

    /// A campaign that was superseded goes on where it stood, with the time that it had left: who was left out by its end is in
    /// line again, who has an outcome keeps it. One whose deliveries were pruned stays as it is.
    private static func reopenSuperseded(
        _ required: Version, of app: AppKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        let row = try connection.first(
            """
            SELECT c.id, e.state, e.reason FROM campaign AS c JOIN app AS a ON a.id = c.app_id
                LEFT JOIN campaign_event AS e ON e.id = (SELECT max(id) FROM campaign_event
                                                         WHERE campaign_id = c.id AND state <> 'superseded')
            WHERE a.name = ? AND a.platform = ? AND c.required_canonical = ? AND c.state = 'superseded'
                AND c.pruned_at IS NULL
            """, .text(app.app), .text(app.platform.rawValue), .text(required.canonical)
        ) { (CampaignKey(row: $0.integer(0)), $0.optionalText(1).flatMap(CampaignState.init), $0.optionalText(2)) }
        guard let (campaign, last, reason) = row else { return }
        try RoundTable.insert(RoundDraft(.retry([.cancelled]), timeToLive: .zero), for: campaign, at: now, connection)
        // Whoever stopped it has not said that it may go on. Its events may be pruned: then a person has to say so.
        let before = last ?? .paused
        let isHeld = before == .paused || before == .suspended
        try connection.run(
            """
            UPDATE campaign SET state = ?1, reason = ?2, expires_at = expires_at + max(?3 - finished_at, 0),
                finished_at = NULL, started_at = coalesce(started_at, ?3)
            WHERE id = ?4
            """, .text(isHeld ? before.rawValue : CampaignState.running.rawValue), .text(isHeld ? reason : nil),
            .time(now), .integer(campaign.row))
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
