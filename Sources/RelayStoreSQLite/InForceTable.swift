// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// The table `in_force` and its history.
enum InForceTable {
    private static let columns: SQL = """
        canary, required, required_build, latest, latest_build, download_url, message, telephones, since, opened_by, reason,
            latest_url, latest_message
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
        (inForce.latestURL, inForce.latestMessage) = (statement.optionalText(11), statement.optionalText(12))
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
                message: row.inForce.message, telephones: try TextList.texts(row.telephones, connection) ?? [],
                openedBy: row.inForce.openedBy)
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
        (row.since, row.openedBy) = (now, canary.openedBy ?? actor)
        try insert(row, canary.telephones, app, actor, source, now, connection)
    }

    /// Byte for byte, as `VersionTable.same`.
    private static func sameTexts(_ left: InForce, _ right: InForce) -> Bool {
        VersionTable.same(left.downloadURL, right.downloadURL) && VersionTable.same(left.message, right.message)
            && VersionTable.same(left.latestURL, right.latestURL)
            && VersionTable.same(left.latestMessage, right.latestMessage)
    }

    private static func insert(
        _ row: InForce, _ telephones: [String]?, _ app: AppKey, _ actor: String, _ source: String,
        _ now: Timestamp, _ connection: SQLiteConnection
    ) throws {
        try connection.run(
            """
            INSERT INTO in_force (app, platform, canary, required, required_build, latest, latest_build, download_url,
                message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from,
                latest_url, latest_message)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
            ON CONFLICT (app, platform, canary) DO UPDATE SET required = ?4, required_build = ?5, latest = ?6,
                latest_build = ?7, download_url = ?8, message = ?9, telephones = ?10, since = ?11, opened_by = ?12,
                reason = ?13, changed_at = ?14, changed_by = ?15, changed_from = ?16, latest_url = ?17,
                latest_message = ?18
            """,
            .text(app.app), .text(app.platform.rawValue), .integer(telephones == nil ? 0 : 1), .version(row.required),
            .optional(row.builds.required), .version(row.latest), .optional(row.builds.latest), .text(row.downloadURL),
            .text(row.message), .text(telephones.map(TextList.json)), .time(row.since), .text(row.openedBy),
            .text(row.reason), .time(now), .text(actor), .text(source), .text(row.latestURL), .text(row.latestMessage))
    }

    /// What was asked for, by which bump, and what is asked for now.
    typealias Rewording = (bump: VersionBump, before: VersionRecord?)

    /// Puts all that `record` asks for in force: its app has no gate.
    static func follow(
        _ record: VersionRecord, _ rewording: Rewording?, by actor: String, from source: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        var new = try inForce(of: record.app, connection)
        if let required = record.required, !new.holds(required, onlyFor: record.telephones),
            try record.telephones == nil || !CanaryTable.isOver(required, of: record.app, connection),
            // Its store has left the configuration: it waits on, for that or for a person.
            try CampaignTable.open(of: record.app, requiring: required, connection).isEmpty,
            // Nor is what a person has cancelled while it waited.
            try !CampaignTable.wasDropped(required, of: record.app, connection)
        {
            new.require(record, by: actor, reason: nil, at: now)
        }
        if let latest = record.latest, !record.isLatestOfCanary, new.latest.map({ $0 < latest }) ?? true {
            new.announce(record)
        }
        if let rewording { new.reword(rewording.bump, from: rewording.before, to: record) }
        try store(new, of: record.app, by: actor, from: source, at: now, connection)
    }

    /// Takes over the texts of a bump that raised nothing that still waits.
    static func reword(
        _ record: VersionRecord, _ rewording: Rewording, by actor: String, from source: String, at now: Timestamp,
        _ connection: SQLiteConnection
    ) throws {
        var new = try inForce(of: record.app, connection)
        new.reword(rewording.bump, from: rewording.before, to: record)
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
                inForce: row(statement).inForce, at: statement.time(13), actor: statement.text(14),
                source: statement.text(15))
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
        let cancelled = try CampaignTable.dropped(of: app, connection)
        let rows = try connection.all(
            """
            SELECT \(VersionTable.columns), changed_from FROM version_history
            WHERE app = ? AND platform = ? ORDER BY revision DESC
            """, .text(app.app), .text(app.platform.rawValue)
        ) { (record: VersionTable.row($0), source: $0.text(10)) }
        let texts = PastTexts(rows.map(\.record.record))
        var limits = Limits(record)
        for (place, row) in rows.enumerated() {
            let past = try VersionTable.record(row.record, connection)
            waiting.forgetBuilds(asOf: past)
            // Below an entry that took a version back, what is newer than that entry was withdrawn.
            defer { if row.source == VersionChange.withdrawal { limits.lower(to: past) } }
            if let required = past.required, limits.required.map({ required <= $0 }) ?? false,
                required != waiting.required.last?.required,
                waiting.required.last?.required.map({ required < $0 }) ?? true,
                !record.inForce.holds(required, onlyFor: past.telephones) || begun.contains(required),
                !cancelled.contains(required)
            {
                waiting.required.append(texts.ofRequired(past, at: place))
            }
            if let latest = past.latest, limits.latest.map({ latest <= $0 }) ?? false, !past.isLatestOfCanary,
                record.inForce.latest.map({ $0 < latest }) ?? true,
                waiting.latest.last?.latest.map({ latest < $0 }) ?? true
            {
                waiting.latest.append(texts.ofLatest(past, at: place))
            }
        }
        return waiting
    }
}

/// The newest versions that can still be asked for, walking back through the history.
private struct Limits {
    private(set) var required: Version?
    private(set) var latest: Version?

    init(_ record: VersionRecord) { (required, latest) = (record.required, record.latest) }

    mutating func lower(to record: VersionRecord) {
        required = required.flatMap { limit in record.required.map { min(limit, $0) } }
        latest = latest.flatMap { limit in record.latest.map { min(limit, $0) } }
    }
}

/// Whose the texts of a record in the history are: a record has those of the bump that made it, and that may have been about
/// the other of its two versions.
private struct PastTexts {
    /// The history of an app, newest first.
    let history: [VersionRecord]

    init(_ history: [VersionRecord]) { self.history = history }

    /// The record with the texts that its requirement was raised or last reworded with.
    func ofRequired(_ record: VersionRecord, at place: Int) -> VersionRecord {
        worded(record, at: place) {
            $0.required != $1?.required
        } isOther: {
            $0.latest != $1?.latest
        }
    }

    func ofLatest(_ record: VersionRecord, at place: Int) -> VersionRecord {
        worded(record, at: place) {
            $0.latest != $1?.latest
        } isOther: {
            $0.required != $1?.required
        }
    }

    private func worded(
        _ record: VersionRecord, at place: Int, isOwn: (VersionRecord, VersionRecord?) -> Bool,
        isOther: (VersionRecord, VersionRecord?) -> Bool
    ) -> VersionRecord {
        var record = record
        var (url, message): (String??, String??) = (nil, nil)
        for index in history.indices[place...] {
            let (entry, older) = (history[index], index + 1 < history.count ? history[index + 1] : nil)
            let isOwn = isOwn(entry, older)
            if isOwn || !isOther(entry, older) {
                if url == nil, isOwn || entry.downloadURL != older?.downloadURL { url = .some(entry.downloadURL) }
                if message == nil, isOwn || entry.message != older?.message { message = .some(entry.message) }
            }
            if isOwn { break }
        }
        (record.downloadURL, record.message) = (url ?? nil, message ?? nil)
        return record
    }
}
