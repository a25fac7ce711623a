// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import UpgradeRules

/// The columns of `campaign` that tell of its canary, and the rows that it has before there are shards.
enum CanaryTable {
    static let schema: SQL = """
        -- A campaign whose bump names telephones goes to them 'alone' first; 'released': to everybody else, too. NULL: it names
        -- nobody, or was begun by an older release, and its telephones are its whole audience.
        ALTER TABLE campaign ADD COLUMN canary TEXT CHECK (canary IN ('alone', 'released'));
        ALTER TABLE campaign ADD COLUMN canary_ended_at INTEGER;  -- when the last of its devices had its outcome
        CREATE TRIGGER campaign_event_canary AFTER INSERT ON campaign_event
            WHEN NEW.planned_at IS NULL AND NEW.finished_at IS NULL
        BEGIN
            UPDATE campaign_event SET pending = pending - (SELECT \(withRow("c")) FROM campaign AS c WHERE c.id = NEW.campaign_id)
            WHERE id = NEW.id;
        END;
        """

    /// How many of the app's devices have an outcome, or one to come, before the audience of a campaign is cut into shards.
    ///
    /// - Parameter campaign: the name of the campaign's row.
    static func withRow(_ campaign: SQL) -> SQL {
        """
        iif(\(campaign).canary IS NULL, 0,
            (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
             WHERE r.campaign_id = \(campaign).id AND v.removed_at IS NULL))
        """
    }

    /// When what a campaign requires came into force for everybody; NULL where the history does not tell, as of a campaign that
    /// is older than it.
    ///
    /// - Parameters: the names of the campaign's and its app's rows.
    static func releasedAt(_ campaign: SQL, app: SQL) -> SQL {
        """
        (SELECT min(h.changed_at) FROM in_force_history AS h
         WHERE h.app = \(app).name AND h.platform = \(app).platform AND h.canary = 0
            AND h.required = \(campaign).required AND h.changed_at >= \(campaign).created_at)
        """
    }

    /// Within the end of a campaign: nothing is in force for its canary's users alone any more.
    static func end(_ campaign: CampaignKey, _ connection: SQLiteConnection) throws {
        guard let record = try CampaignTable.record(campaign, connection), record.isCanary,
            try InForceTable.inForce(of: record.app, connection).canary?.required == record.required
        else { return }
        try connection.run(
            "DELETE FROM in_force WHERE app = ? AND platform = ? AND canary = 1", .text(record.app.app),
            .text(record.app.platform.rawValue))
    }

    /// Whether the campaign of a requirement ended before its canary was released: nobody asks for it any more.
    static func isOver(
        _ required: Version, of app: AppKey, _ connection: SQLiteConnection
    ) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ? AND c.required_canonical = ? AND c.canary = 'alone'
                AND c.state IN \(CampaignTable.finalStates)
            """, .text(app.app), .text(app.platform.rawValue), .text(required.canonical)
        ) { _ in true } ?? false
    }

    /// Devices that have rows before the audience is cut into shards, with what decides which shard would have them.
    static func devices(
        of campaign: CampaignKey, _ connection: SQLiteConnection
    ) throws -> [(id: Int64, hash: UInt64, environment: PushEnvironment)] {
        try connection.all(
            """
            SELECT d.id, d.token_hash, coalesce(d.planned_environment, d.environment)
            FROM delivery AS r CROSS JOIN device AS d ON d.id = r.device_id
            WHERE r.campaign_id = ? AND d.removed_at IS NULL
            """, .integer(campaign.row)
        ) { ($0.integer(0), UInt64(bitPattern: $0.integer(1)), $0.environment(2)) }
    }
}

extension SQLiteStore {
    package func lineUpCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("putting a canary in line") { connection in
            let again = SQLValue.integer(Int(SentAgain.untried.rawValue))
            var devices = 0
            // It may have ended, or be paused, since it was read.
            guard let record = try CampaignTable.record(campaign, connection), record.isCanary,
                record.state == .running
            else { return }
            let telephones = Set((record.telephones ?? []).map { Array($0.utf8) })
            for telephone in telephones.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                devices += try connection.run(
                    """
                    INSERT OR IGNORE INTO delivery (campaign_id, device_id, state, attempts, next_attempt_at, environment,
                        updated_at, again)
                    SELECT ?1, d.id, 3, 0, ?2, d.environment, ?2, ?3
                    FROM device AS d INDEXED BY device_telephone JOIN app AS a ON a.id = d.app_id
                    WHERE d.telephone = ?4 AND d.removed_at IS NULL AND a.name = ?5 AND a.platform = ?6
                    """, .integer(campaign.row), .time(now), again, .text(String(decoding: telephone, as: UTF8.self)),
                    .text(record.app.app), .text(record.app.platform.rawValue))
            }
            guard devices > 0 else { return }
            try connection.run(
                "UPDATE campaign SET retrying = retrying + ?, canary_ended_at = NULL WHERE id = ?", .integer(devices),
                .integer(campaign.row))
        }
    }

    package func endCanary(_ campaign: CampaignKey, at now: Timestamp) throws {
        try write("ending a canary") { connection in
            _ = try connection.run(
                "UPDATE campaign SET canary_ended_at = coalesce(canary_ended_at, ?) WHERE id = ? AND canary = 'alone'",
                .time(now), .integer(campaign.row))
        }
    }

    package func releaseCanary(
        _ required: Version?, of app: AppKey, by actor: String, from source: String, reason: String?, at now: Timestamp
    ) throws -> Version? {
        try write("releasing a canary") { connection in
            var inForce = try InForceTable.inForce(of: app, connection)
            guard let canary = inForce.canary?.required, required == nil || required == canary else { return nil }
            let campaigns = try CampaignTable.open(of: app, requiring: canary, connection)
            if let campaign = campaigns.first {
                // What an operator has paused stays so until it is resumed.
                guard try CampaignTable.state(of: campaign, connection) != .paused else { return nil }
            }
            inForce.releaseCanary(of: app, by: actor, reason: reason, at: now)
            try InForceTable.store(inForce, of: app, by: actor, from: source, at: now, connection)
            try CampaignTable.supersede(below: canary, of: app, onlyCanaries: false, at: now, connection)
            for campaign in campaigns { try Self.goOn(campaign, at: now, connection) }
            return canary
        }
    }

    /// The campaign goes to everybody else. Those whose user had changed before their push left are among them again, and
    /// all have the time that it would have had without a canary.
    private static func goOn(
        _ campaign: CampaignKey, at now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        guard try CampaignTable.record(campaign, connection)?.isCanary ?? false else { return }
        let row = SQLValue.integer(campaign.row)
        let again = try connection.run(
            "DELETE FROM delivery WHERE campaign_id = ? AND state = 7 AND reason = ? AND upgraded = 0", row,
            .text(FilterReason.notInAudience.rawValue))
        try connection.run(
            "UPDATE campaign_reason SET devices = devices - ? WHERE campaign_id = ? AND kind = 'filtered' AND reason = ?",
            .integer(again), row, .text(FilterReason.notInAudience.rawValue))
        try connection.run(
            """
            UPDATE campaign SET canary = 'released', canary_ended_at = coalesce(canary_ended_at, ?1),
                filtered = filtered - ?2, expires_at = expires_at + max(?1 - coalesce(started_at, ?1), 0)
            WHERE id = ?3 AND canary = 'alone'
            """, .time(now), .integer(again), row)
        try CampaignTable.move(campaign, from: [.suspended], to: .running, reason: nil, at: now, connection)
    }
}
