// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// The table `in_force` and its history.
enum InForceTable {
    private static let columns: SQL = """
        canary, required, required_build, latest, latest_build, download_url, message, telephones, since, opened_by, reason
        """

    /// One of an app's rows, its telephones still JSON: reading them takes a statement of its own.
    private struct Row {
        var isCanary: Bool
        var inForce: InForce
        var telephones: String?
    }

    private static func row(_ statement: Statement) -> Row {
        var inForce = InForce()
        inForce.required = statement.version(1)
        inForce.latest = statement.version(3)
        inForce.builds = BuildNumbers(latest: statement.optionalInteger(4), required: statement.optionalInteger(2))
        inForce.downloadURL = statement.optionalText(5)
        inForce.message = statement.optionalText(6)
        inForce.since = statement.optionalTime(8)
        inForce.openedBy = statement.optionalText(9)
        inForce.reason = statement.optionalText(10)
        return Row(isCanary: statement.integer(0) == 1, inForce: inForce, telephones: statement.optionalText(7))
    }

    static func inForce(of app: AppKey, _ connection: SQLiteConnection) throws -> InForce {
        let rows = try connection.all(
            "SELECT \(columns) FROM in_force WHERE app = ? AND platform = ? ORDER BY canary", .text(app.app),
            .text(app.platform.rawValue), row: row)
        var result = rows.first { !$0.isCanary }?.inForce ?? InForce()
        if let row = rows.first(where: \.isCanary), let required = row.inForce.required {
            result.canary = InForce.Canary(
                required: required, build: row.inForce.builds.required, downloadURL: row.inForce.downloadURL,
                message: row.inForce.message, telephones: try TextList.texts(row.telephones, connection) ?? [])
        }
        return result
    }

    /// Writes what changed; triggers keep the history.
    static func store(
        _ new: InForce, of app: AppKey, by actor: String, from source: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        let old = try inForce(of: app, connection)
        var (newRow, oldRow) = (new, old)
        (newRow.canary, oldRow.canary) = (nil, nil)
        if newRow != oldRow || !sameTexts(newRow, oldRow) {
            try insert(newRow, nil, app, actor, source, now, connection)
        }
        guard let canary = new.canary else {
            if old.canary == nil { return }
            try connection.run(
                "DELETE FROM in_force WHERE app = ? AND platform = ? AND canary = 1", .text(app.app),
                .text(app.platform.rawValue))
            return
        }
        if let before = old.canary, before == canary, VersionTable.same(before.telephones, canary.telephones) { return }
        var row = InForce()
        (row.required, row.builds.required) = (canary.required, canary.build)
        (row.downloadURL, row.message) = (canary.downloadURL, canary.message)
        (row.since, row.openedBy) = (now, actor)
        try insert(row, canary.telephones, app, actor, source, now, connection)
    }

    /// Byte for byte, as `VersionTable.same`.
    private static func sameTexts(_ left: InForce, _ right: InForce) -> Bool {
        VersionTable.same(left.downloadURL, right.downloadURL) && VersionTable.same(left.message, right.message)
    }

    private static func insert(
        _ row: InForce, _ telephones: [String]?, _ app: AppKey, _ actor: String, _ source: String,
        _ now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        try connection.run(
            """
            INSERT INTO in_force (app, platform, canary, required, required_build, latest, latest_build, download_url,
                message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT (app, platform, canary) DO UPDATE SET required = ?4, required_build = ?5, latest = ?6,
                latest_build = ?7, download_url = ?8, message = ?9, telephones = ?10, since = ?11, opened_by = ?12,
                reason = ?13, changed_at = ?14, changed_by = ?15, changed_from = ?16
            """,
            .text(app.app), .text(app.platform.rawValue), .integer(telephones == nil ? 0 : 1), .version(row.required),
            .optional(row.builds.required), .version(row.latest), .optional(row.builds.latest), .text(row.downloadURL),
            .text(row.message), .text(telephones.map(TextList.json)), .time(row.since), .text(row.openedBy),
            .text(row.reason), .time(now), .text(actor), .text(source))
    }

    /// Puts all that `record` asks for in force: its app has no gate.
    static func follow(
        _ record: VersionRecord, by actor: String, from source: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        var new = try inForce(of: record.app, connection)
        if let required = record.required, !new.holds(required, onlyFor: record.telephones),
            try record.telephones == nil || !CanaryTable.isOver(required, of: record.app, connection)
        {
            new.require(record, by: actor, reason: nil, at: now)
        }
        if let latest = record.latest, !record.isLatestOfCanary, new.latest.map({ $0 < latest }) ?? true {
            new.announce(record)
        }
        new.reword(record)
        try store(new, of: record.app, by: actor, from: source, at: now, connection)
    }

    /// Takes over the texts of a bump that raised nothing that still waits.
    static func reword(
        _ record: VersionRecord, by actor: String, from source: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        var new = try inForce(of: record.app, connection)
        new.reword(record)
        try store(new, of: record.app, by: actor, from: source, at: now, connection)
    }

    // MARK: History

    static func history(of app: AppKey, limit: Int, _ connection: SQLiteConnection) throws -> [InForceChange] {
        try connection.all(
            """
            SELECT \(columns), changed_at, changed_by, changed_from FROM in_force_history
            WHERE app = ? AND platform = ? AND canary = 0 ORDER BY id DESC LIMIT ?
            """, .text(app.app), .text(app.platform.rawValue), .integer(max(limit, 0))
        ) { statement in
            InForceChange(
                inForce: row(statement).inForce, at: statement.time(11), actor: statement.text(12),
                source: statement.text(13))
        }
    }

    /// What was in force before `required`; nothing where nothing was.
    static func before(
        _ required: Version, of app: AppKey, _ connection: SQLiteConnection
    ) throws -> InForce {
        let earlier = try history(of: app, limit: 1000, connection)
        return earlier.first { $0.inForce.required.map { $0 < required } ?? true }?.inForce ?? InForce()
    }

    // MARK: Waiting

    static func waiting(of app: AppKey, _ connection: SQLiteConnection) throws -> WaitingVersions {
        guard let record = try VersionTable.record(of: app, connection) else { return WaitingVersions() }
        var waiting = WaitingVersions()
        let begun = try connection.all(
            """
            SELECT c.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ? AND c.state = 'waiting'
            """, .text(app.app), .text(app.platform.rawValue)
        ) { $0.version(0) }
        if !record.isWaiting, begun.isEmpty { return waiting }
        let cancelled = try connection.all(
            """
            SELECT c.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE a.name = ? AND a.platform = ?
                AND (c.state = 'cancelled' OR c.state = 'completed' AND c.canary = 'alone')
            """, .text(app.app), .text(app.platform.rawValue)
        ) { $0.version(0) }
        let rows = try connection.all(
            """
            SELECT \(VersionTable.columns) FROM version_history WHERE app = ? AND platform = ? ORDER BY revision DESC
            """, .text(app.app), .text(app.platform.rawValue), row: VersionTable.row)
        for row in rows {
            let past = try VersionTable.record(row, connection)
            waiting.forgetBuilds(asOf: past)
            // What was withdrawn since is newer than what is asked for now.
            if let required = past.required, required <= record.required ?? required,
                required != waiting.required.last?.required,
                waiting.required.last?.required.map({ required < $0 }) ?? true,
                !record.inForce.holds(required, onlyFor: past.telephones) || begun.contains(required),
                !cancelled.contains(required)
            {
                waiting.required.append(past)
            }
            if let latest = past.latest, latest <= record.latest ?? latest, !past.isLatestOfCanary,
                record.inForce.latest.map({ $0 < latest }) ?? true,
                waiting.latest.last?.latest.map({ latest < $0 }) ?? true
            {
                waiting.latest.append(past)
            }
        }
        return waiting
    }
}
