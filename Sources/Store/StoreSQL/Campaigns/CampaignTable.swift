// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// The table `campaign`.
package enum CampaignTable {
    package static let finalStates: SQL = "('completed', 'cancelled', 'superseded')"
    /// The condition that a device belongs to the campaign's app, in a statement whose first parameter is the campaign:
    /// SQLite gives the id of a device that another program deleted to the next new one, which may be another app's
    /// (sqlite.org/autoinc.html).
    package static let isOfItsApp: SQL = "app_id = (SELECT app_id FROM campaign WHERE id = ?1)"

    // MARK: Reading

    /// Whether a campaign is over, but its pending devices were not settled, so that it may go on.
    package static func isLeftOut(_ campaign: SQL) -> SQL {
        "(\(campaign).state IN ('cancelled', 'superseded') AND \(campaign).pruned_at IS NULL)"
    }

    /// How many devices a campaign that is over and may go on leaves out. Its run is `n`.
    package static func leftOut(_ campaign: SQL) -> SQL {
        "CASE WHEN \(isLeftOut(campaign)) THEN n.retrying + \(notReached(campaign)) ELSE 0 END"
    }

    /// How many devices a campaign whose run is `n` has not reached yet.
    package static func notReached(_ campaign: SQL) -> SQL {
        """
        CASE WHEN \(campaign).left_devices IS NOT NULL THEN \(campaign).left_devices
             WHEN \(campaign).planned_at IS NOT NULL THEN n.pending
             ELSE \(unplanned(campaign)) END
        """
    }

    /// How many devices a campaign that is not cut into shards would reach.
    private static func unplanned(_ campaign: SQL) -> SQL {
        "(SELECT p.devices FROM app AS p WHERE p.id = \(campaign).app_id) - \(CanaryTable.withRow(campaign))"
    }

    /// The version that is in force for all devices, or another column of its requirement. The condition "not
    /// withdrawn" follows from the rest, and is that of the index with the requirements in their order: without it,
    /// SQLite sorts all of the app's requirements for each row of the query.
    package static func inForce(_ app: SQL, _ column: SQL = "version") -> SQL {
        """
        (SELECT f.\(column) FROM requirement AS f WHERE f.app = \(app).name AND f.platform = \(app).platform
         AND f.kind = 'required' AND f.state <> 'withdrawn' AND f.state = 'in_force' AND f.reach = 10000
         ORDER BY f.version_key DESC LIMIT 1)
        """
    }

    package static func records(
        _ condition: SQL, _ values: [(any SQLValue)?], _ connection: some SQLConnection
    ) throws -> [CampaignRecord] {
        let rows = try connection.all(
            CampaignRow.self, "\(CampaignRow.source) WHERE \(condition)", values: values)
        return try rows.compactMap { row in
            guard var record = row.record else { return nil }
            record.requirement = try RequirementTable.named(record.requirement, connection)
            if row.hasReasons {
                _ = try connection.all(
                    "SELECT kind, reason, devices FROM campaign_reason WHERE campaign_id = ? AND devices > 0",
                    record.key.row
                ) { record.figures.note($0.text(), $0.text(), $0.integer()) }
            }
            if row.hasWaves {
                record.figures.waves = try WaveTable.waves(of: record.key, connection)
                if record.state.isFinal { record.figures.waves.end(isExpired: record.state == .completed) }
            }
            if row.hasRounds { record.figures.rounds = try RoundTable.rounds(of: record.key, connection) }
            return record
        }
    }

    package static func record(_ campaign: CampaignKey, _ connection: some SQLConnection) throws -> CampaignRecord? {
        try records("c.id = ?", [campaign.row], connection).first
    }

    package static func state(of campaign: CampaignKey, _ connection: some SQLConnection) throws -> CampaignState? {
        let name = try connection.first("SELECT state FROM campaign WHERE id = ?", campaign.row) {
            $0.text()
        }
        return name.flatMap(CampaignState.init)
    }

    // MARK: Deciding

    package static func key(ofRequirement id: Int64, _ connection: some SQLConnection) throws -> CampaignKey? {
        try connection.first("SELECT id FROM campaign WHERE requirement_id = ?", id) {
            CampaignKey(row: $0.integer())
        }
    }

    /// The decisions on an app's campaigns, oldest first; campaigns that are pruned, or are being pruned, stay as they are.
    package static func facts(of app: AppKey, _ connection: some SQLConnection) throws -> [CampaignFacts] {
        try connection.all(
            CampaignFacts.self,
            "FROM campaign AS c JOIN app AS a ON a.id = c.app_id WHERE a.name = ? AND a.platform = ? ORDER BY c.id",
            app.app, app.platform)
    }

    package static func create(
        _ facts: CampaignFacts, of requirement: Int64, _ key: AppKey, latest: Version?, random: RandomSource,
        _ connection: some SQLConnection
    ) throws -> CampaignKey {
        let app = try AppTable.idMade(for: key, connection)
        // A campaign that is superseded in the same decision, such as a canary that comes right after another program's row,
        // is inserted as it was before that.
        var first = facts
        if facts.state.isFinal { (first.state, first.reason) = (.waiting, nil) }
        let row = try connection.insert(
            """
            INSERT INTO campaign (public_id, app_id, requirement_id, required, latest, download_url, message, state, reason,
                created_at, started_at, expires_at, time_left, time_to_live, urgent_at, urgent_by)
            SELECT ?1, ?2, id, version, ?4, ?5, message, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 FROM requirement WHERE id = ?3
            RETURNING id
            """, PushID.newCampaign(random), app, requirement, latest, first.downloadURL, first.state, first.reason,
            first.createdAt, first.startedAt, first.expiresAt, first.timeLeft?.milliseconds,
            first.timeToLive.milliseconds, first.urgentAt, first.urgentBy)
        let made = CampaignKey(row: row)
        try connection.run("INSERT INTO campaign_run (campaign_id) VALUES (?)", row)
        if facts.state.isFinal {
            var final = facts
            final.key = made
            try write(final, over: first, at: facts.createdAt, connection)
        }
        return made
    }

    /// The campaigns as they were when they were made: none has begun, and none is over.
    static let asMade: SQL = """
        (SELECT id, app_id, requirement_id, 'waiting' AS state, CAST(NULL AS TEXT) AS reason, started_at,
            CAST(NULL AS BIGINT) AS finished_at, expires_at, CAST(NULL AS BIGINT) AS planned_at,
            CAST(NULL AS BIGINT) AS pruned_at, CAST(NULL AS BIGINT) AS left_devices FROM campaign)
        """

    /// Writes a decision, with the number of devices that the campaign leaves out. Only a decision moves a campaign:
    /// the event of a new state is made from the decision's change (`ChangeTable`).
    package static func write(
        _ new: CampaignFacts, over old: CampaignFacts, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        let row = new.key.row
        let leavesOut = new.state == .cancelled || new.state == .superseded
        if leavesOut, !old.state.isFinal { try RoundTable.giveBackReminders(of: new.key, at: now, connection) }
        if new.state.isFinal || old.state.isFinal {
            let ended: DeliveryState? = leavesOut ? .cancelled : new.state == .completed ? .expired : nil
            try connection.run("UPDATE campaign_run SET ended = ? WHERE campaign_id = ?", ended, row)
        }
        try connection.run(
            """
            UPDATE campaign SET state = ?2, reason = ?3, paused_at = ?4, paused_by = ?5, cause = ?6, cause_text = ?7,
                ended = ?8, started_at = ?9, finished_at = ?10, expires_at = ?11, time_left = ?12, accepts_dead = ?14, urgent_at = ?15,
                urgent_by = ?16,
                left_devices = CASE WHEN ?13 = 1 AND planned_at IS NULL THEN coalesce(left_devices, \(unplanned("campaign"))) END,
                left_last = CASE WHEN ?13 = 1 AND planned_at IS NULL
                    THEN coalesce(left_last, (SELECT coalesce(max(id), 0) FROM device)) END
            WHERE id = ?1
            """, row, new.state, new.reason, new.pausedAt, new.pausedBy, new.cause?.rawValue, new.causeText,
            new.end?.rawValue, new.startedAt, new.finishedAt, new.expiresAt, new.timeLeft?.milliseconds, leavesOut,
            new.acceptsDeadTokens, new.urgentAt, new.urgentBy)
        if new.state == .running, old.state != .running {
            _ = try WaveTable.release(new.key, onlyHeld: true, at: now, connection)
        }
    }

    /// Counts all pending and retrying devices, except for reminders, as `rest`, for good: none of them goes on.
    ///
    /// The shards keep their cursors and their remaining devices, and the run keeps the state that these were counted as. So
    /// the ledger can list the devices left out, a batch in flight can take its devices out of that count again, and the
    /// campaign can be opened again for them.
    package static func settleRest(
        of campaign: CampaignKey, as rest: DeliveryState, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        let row = campaign.row
        // A campaign that was never cut into shards gets one over all devices for each channel, so that it has an
        // audience to account for. The first has the count of all devices.
        try connection.run(
            """
            INSERT INTO shard (campaign_id, number, environment, packs, cursor, last, remaining)
            SELECT c.id, e.number, e.number, CASE WHEN e.number = 0 THEN 1 ELSE 0 END, 0, coalesce(c.left_last, (SELECT coalesce(max(id), 0) FROM device)),
                CASE WHEN e.number = 0 THEN coalesce(c.left_devices, \(unplanned("c"))) ELSE 0 END
            FROM campaign AS c CROSS JOIN (\(Channel.table)) AS e
            WHERE c.id = ? AND c.planned_at IS NULL
            """, row)
        try RoundTable.giveBackAll(of: campaign, at: now, connection)
        let column: SQL = rest == .expired ? "expired" : "cancelled"
        try connection.run(
            """
            UPDATE campaign_run SET \(column) = \(column) + retrying + CASE WHEN rest IS NOT NULL THEN 0 ELSE
                    (SELECT CAST(coalesce(sum(remaining), 0) AS BIGINT) FROM shard WHERE campaign_id = ?1) END,
                retrying = 0, pending = 0, rest = coalesce(rest, ?2)
            WHERE campaign_id = ?1
            """, row, rest)
        try connection.run(
            """
            UPDATE campaign SET planned_at = coalesce(planned_at, ?2), left_devices = NULL, left_last = NULL
            WHERE id = ?1
            """, row, now)
        try connection.run(
            """
            UPDATE delivery SET state = ?, next_attempt_at = NULL, again = 0, updated_at = ?
            WHERE campaign_id = ? AND state = 3
            """, rest, now, row)
    }
}
