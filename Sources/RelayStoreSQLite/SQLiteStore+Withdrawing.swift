// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import UpgradeRules

extension SQLiteStore {
    package func withdraw(
        _ required: Version, of app: AppKey, by actor: String, reason: String?, at now: Timestamp
    ) throws -> Withdrawal? {
        try write("withdrawing a version") { connection in
            guard let record = try VersionTable.record(of: app, connection), record.required == required else {
                return nil
            }
            let before = try Self.record(before: required, of: app, connection)
            var after = record
            after.required = before?.required
            after.builds.required = before?.builds.required
            if record.latest == required {
                // It was lifted along with the requirement.
                (after.latest, after.builds.latest) = (before?.latest, before?.builds.latest)
            }
            (after.downloadURL, after.message) = (before?.downloadURL, before?.message)
            (after.telephones, after.updatedAt) = (before?.telephones, now)
            try VersionTable.store(after, actor: actor, source: VersionChange.withdrawal, connection)
            let words = "withdrawn by \(actor)" + (reason.map { ": \($0)" } ?? "")
            try Self.takeBack(required, record: after, by: actor, reason: words, at: now, connection)
            let campaign = try CampaignTable.withdraw(required, of: app, reason: words, at: now, connection)
            try CampaignTable.goOnWithForce(of: app, at: now, connection)
            return Withdrawal(
                withdrawn: required, record: try VersionTable.record(of: app, connection) ?? after,
                campaign: campaign)
        }
    }

    /// The newest state of the record in which it required less. What was withdrawn since is not among them: taking it back
    /// left a newer entry that says what was before it.
    private static func record(
        before required: Version, of app: AppKey, _ connection: SQLiteConnection
    ) throws -> VersionRecord? {
        let rows = try connection.all(
            """
            SELECT \(VersionTable.columns) FROM version_history WHERE app = ? AND platform = ? ORDER BY revision DESC
            """, .text(app.app), .text(app.platform.rawValue), row: VersionTable.row)
        let row = rows.first { row in row.record.required.map { $0 < required } ?? true }
        return try row.map { try VersionTable.record($0, connection) }
    }

    /// What was in force before the requirement is so again, on every channel.
    private static func takeBack(
        _ required: Version, record: VersionRecord, by actor: String, reason: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        let inForce = try InForceTable.inForce(of: record.app, connection)
        var new = inForce
        if inForce.required == required {
            new = try InForceTable.before(required, of: record.app, connection)
            new.since = new.required == nil ? nil : now
            new.reason = reason
            (new.latest, new.builds.latest) = (inForce.latest, inForce.builds.latest)
            (new.latestURL, new.latestMessage) = (inForce.latestURL, inForce.latestMessage)
        }
        // Users are not told of a version that nobody asks for any more.
        if let announced = new.latest, record.latest.map({ $0 < announced }) ?? true {
            let earlier = try InForceTable.history(of: record.app, limit: 1000, connection).first { change in
                change.inForce.latest.map { latest in record.latest.map { latest <= $0 } ?? false } ?? true
            }?.inForce
            (new.latest, new.builds.latest) = (earlier?.latest, earlier?.builds.latest)
            (new.latestURL, new.latestMessage) = (earlier?.latestURL, earlier?.latestMessage)
        }
        new.canary = inForce.canary.flatMap { $0.required == required ? nil : $0 }
        try InForceTable.store(
            new, of: record.app, by: actor, from: VersionChange.withdrawal, at: now, connection)
    }
}

extension CampaignTable {
    /// Whether what the campaign announces was taken back.
    static func wasWithdrawn(_ campaign: CampaignKey, _ connection: SQLiteConnection) throws -> Bool {
        try connection.first(
            "SELECT instr(required_canonical, '/') > 0 FROM campaign WHERE id = ?", .integer(campaign.row)
        ) { $0.integer(0) != 0 } ?? false
    }

    /// Ends the campaign of a requirement that was taken back, and lets the version have another one.
    static func withdraw(
        _ required: Version, of app: AppKey, reason: String, at now: Timestamp, _ connection: SQLiteConnection
    ) throws -> CampaignRecord? {
        for campaign in try open(of: app, requiring: required, connection) {
            try finish(campaign, as: .cancelled, reason: reason, rest: .cancelled, at: now, connection)
        }
        // UNIQUE (app_id, required_canonical) is all that this column is for.
        let rows = try connection.all(
            """
            SELECT c.id FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ? AND c.required_canonical = ?
            """, .text(app.app), .text(app.platform.rawValue), .text(required.canonical)
        ) { $0.integer(0) }
        guard let row = rows.first else { return nil }
        try connection.run(
            "UPDATE campaign SET required_canonical = required_canonical || '/' || public_id WHERE id = ?",
            .integer(row))
        return try record(CampaignKey(row: row), connection)
    }
}
