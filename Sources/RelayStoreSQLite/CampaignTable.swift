// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// The table `campaign`.
enum CampaignTable {
    static let finalStates: SQL = "('completed', 'cancelled', 'superseded')"

    // MARK: Reading

    /// Everything of a campaign but its reasons; a condition and an order follow.
    private static let selection: SQL = """
        SELECT c.id, c.public_id, a.name, a.platform, c.required, c.latest, c.download_url, c.message, c.telephones,
            c.state, c.reason, c.created_at, c.started_at, c.finished_at, c.expires_at, c.planned_at,
            CASE WHEN c.planned_at IS NOT NULL THEN
                (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = c.id AND s.done = 0)
            ELSE a.devices - \(CanaryTable.withRow("c")) END,
            c.accepted, c.retrying, c.rejected, c.unregistered, c.expired, c.filtered, c.cancelled, c.upgraded,
            c.required_build, f.required, c.told, c.upgraded_push, c.upgraded_login, c.upgraded_both,
            c.canary, c.canary_ended_at, iif(c.canary = 'released', \(CanaryTable.releasedAt("c", app: "a")), NULL)
        FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            LEFT JOIN in_force AS f ON f.app = a.name AND f.platform = a.platform AND f.canary = 0
        """

    static func records(
        _ condition: SQL, _ values: [SQLValue], _ connection: SQLiteConnection
    ) throws -> [CampaignRecord] {
        let rows = try connection.all("\(selection) WHERE \(condition)", values: values) { row($0) }
        return try rows.compactMap { record, telephones in
            guard var record else { return nil }
            record.telephones = try TextList.texts(telephones, connection)
            let reasons = try connection.all(
                "SELECT kind, reason, devices FROM campaign_reason WHERE campaign_id = ? AND devices > 0",
                .integer(record.key.row)
            ) { ($0.text(0), $0.text(1), $0.integer(2)) }
            for (kind, reason, devices) in reasons { record.note(kind, reason, devices) }
            record.waves = try WaveTable.waves(of: record.key, connection)
            record.rounds = try RoundTable.rounds(of: record.key, connection)
            return record
        }
    }

    static func record(_ campaign: CampaignKey, _ connection: SQLiteConnection) throws -> CampaignRecord? {
        try records("c.id = ?", [.integer(campaign.row)], connection).first
    }

    /// nil where a column holds what the schema's CHECKs do not allow.
    private static func row(_ row: Statement) -> (CampaignRecord?, String?) {
        guard let required = row.version(4), let state = CampaignState(rawValue: row.text(9)) else { return (nil, nil) }
        var record = CampaignRecord(
            key: CampaignKey(row: row.integer(0)), id: row.text(1),
            app: AppKey(app: row.text(2), platform: row.platform(3)), required: required, latest: row.version(5),
            downloadURL: row.text(6), message: row.optionalText(7), telephones: nil, state: state,
            reason: row.optionalText(10), createdAt: row.time(11), startedAt: row.optionalTime(12),
            finishedAt: row.optionalTime(13), expiresAt: row.time(14), isPlanned: !row.isNull(15),
            counts: CampaignCounts(row, from: 16),
            filteredBy: [:], rejectedBy: [:], upgraded: row.integer(24))
        record.requiredBuild = row.optionalInteger(25)
        record.inForce = row.version(26)
        record.reach = CampaignReach(
            told: row.integer(27), push: row.integer(28), login: row.integer(29), both: row.integer(30))
        record.canary = row.optionalText(31).flatMap(CampaignCanary.Phase.init).map {
            CampaignCanary($0, endedAt: row.optionalTime(32), releasedAt: row.optionalTime(33))
        }
        return (record, row.optionalText(8))
    }

    static func state(of campaign: CampaignKey, _ connection: SQLiteConnection) throws -> CampaignState? {
        let name = try connection.first("SELECT state FROM campaign WHERE id = ?", .integer(campaign.row)) {
            $0.text(0)
        }
        return name.flatMap(CampaignState.init)
    }

    // MARK: Creating

    /// The version record of `app` when its required version has no campaign yet.
    static func missing(of app: AppKey, _ connection: SQLiteConnection) throws -> VersionRecord? {
        guard let record = try VersionTable.record(of: app, connection), let required = record.required else {
            return nil
        }
        let exists = try connection.first(
            """
            SELECT 1 FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ? AND c.required_canonical = ?
            """, .text(app.app), .text(app.platform.rawValue), .text(required.canonical)
        ) { _ in true }
        return exists == nil ? record : nil
    }

    /// Creates the campaign of the record's required version, and supersedes older ones where it is in force for everybody; nil
    /// when it exists.
    static func create(
        for version: VersionRecord, draft: CampaignDraft, waitingReason: String?, at now: Timestamp,
        random: RandomSource, _ connection: SQLiteConnection
    ) throws -> CampaignRecord? {
        guard let required = version.required, try missing(of: version.app, connection) != nil else { return nil }
        guard let downloadURL = version.downloadURL ?? draft.downloadURL, !downloadURL.isEmpty else {
            throw StoreError(
                .noDownloadURL,
                context:
                    "\(version.app.app) (\(version.app.platform.rawValue)) requires \(required) but has no download URL",
                hint: "Send downloadUrl with the version, or set it in the app's configuration")
        }
        let app = try AppTable.idMade(for: version.app, connection)
        let isInForce = try InForceTable.inForce(of: version.app, connection)
            .holds(required, onlyFor: version.telephones)
        if isInForce {
            try supersede(
                below: required, of: version.app, onlyCanaries: version.telephones != nil, at: now, connection)
        }
        let state = isInForce ? CampaignState.running : .waiting
        try connection.run(
            """
            INSERT INTO campaign (public_id, app_id, required, required_canonical, required_build, latest, download_url,
                message, telephones, state, reason, created_at, started_at, expires_at, canary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .text(PushID.newCampaign(random)), .integer(app), .version(required), .text(required.canonical),
            .optional(version.builds.required), .version(version.latest), .text(downloadURL), .text(version.message),
            .text(version.telephones.map(TextList.json)), .text(state.rawValue), .text(isInForce ? nil : waitingReason),
            .time(now), isInForce ? .time(now) : .null, .time(now + draft.timeToLive),
            .text(version.telephones.map { _ in CampaignCanary.Phase.alone.rawValue }))
        return try record(CampaignKey(row: connection.lastInsertedRow), connection)
    }

    // MARK: Ending

    /// Puts a campaign into a final state and counts all that is pending or retrying as `rest`, but for reminders.
    ///
    /// The shards keep their cursors, what remained in them and what that was counted as, so that the ledger can tell who was
    /// left out, so that a batch that was in flight can take its devices out of that count again, and so that the campaign
    /// can be opened again for them.
    static func finish(
        _ campaign: CampaignKey, as state: CampaignState, reason: String?, rest: DeliveryState, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        let row = SQLValue.integer(campaign.row)
        // A campaign that was never cut into shards gets one over everyone, so that it has an audience to account for: one
        // for each environment, with the count of both in the first.
        try connection.run(
            """
            INSERT INTO shard (campaign_id, number, environment, cursor, last, remaining)
            SELECT c.id, e.value, e.value, 0, (SELECT coalesce(max(id), 0) FROM device),
                iif(e.value = 0, a.devices - \(CanaryTable.withRow("c")), 0)
            FROM campaign AS c JOIN app AS a ON a.id = c.app_id JOIN json_each('[0, 1]') AS e
            WHERE c.id = ? AND c.planned_at IS NULL
            """, row)
        try RoundTable.giveBackAll(of: campaign, at: now, connection)
        let column: SQL = rest == .expired ? "expired" : "cancelled"
        try connection.run(
            """
            UPDATE campaign SET \(column) = \(column) + retrying
                    + (SELECT coalesce(sum(remaining), 0) FROM shard WHERE campaign_id = ?1 AND done = 0),
                retrying = 0, state = ?2, reason = ?3, finished_at = ?4, planned_at = coalesce(planned_at, ?4)
            WHERE id = ?1
            """, row, .text(state.rawValue), .text(reason), .time(now))
        try connection.run(
            """
            UPDATE shard SET done = 1, rest = ?, lease_owner = NULL, lease_until = NULL
            WHERE campaign_id = ? AND done = 0
            """, .integer(Int(rest.rawValue)), row)
        try connection.run(
            """
            UPDATE delivery SET state = ?, next_attempt_at = NULL, again = 0, updated_at = ?
            WHERE campaign_id = ? AND state = 3
            """, .integer(Int(rest.rawValue)), .time(now), row)
        try CanaryTable.end(campaign, connection)
    }

    /// Makes due what was only deferred while the campaign stood still, although its moment lies ahead: the clock was ahead
    /// when it was deferred, and that may be why the campaign stood still. What has a schedule to keep was not due at once
    /// when it was recorded.
    static func release(_ campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection) throws {
        _ = try connection.run(
            """
            UPDATE delivery INDEXED BY delivery_retry SET next_attempt_at = ?1
            WHERE campaign_id = ?2 AND environment IN (0, 1) AND state = 3 AND next_attempt_at > ?1
                AND next_attempt_at <= updated_at
            """, .time(now), .integer(campaign.row))
    }
}

extension CampaignCounts {
    /// Reads eight columns: pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled.
    init(_ row: Statement, from column: Int32) {
        self.init()
        let states: [DeliveryState] = [
            .pending, .accepted, .retrying, .rejected, .unregistered, .expired, .filtered, .cancelled,
        ]
        for (place, state) in zip(column..., states) { self[state] = row.integer(place) }
    }
}

extension CampaignRecord {
    /// Takes over a row of `campaign_reason`.
    mutating func note(_ kind: String, _ reason: String, _ devices: Int64) {
        if kind == "rejected" {
            rejectedBy[reason] = devices
        } else if let reason = FilterReason(rawValue: reason) {
            filteredBy[reason] = devices
        }
    }
}
