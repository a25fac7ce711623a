// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// The table `version`.
enum VersionTable {
    /// A row whose telephones are still JSON: reading them takes a statement of its own.
    typealias Row = (record: VersionRecord, telephones: String?)

    /// What `row` reads, of `version` or of its history.
    static let columns: SQL = """
        app, platform, latest, required, download_url, message, telephones, updated_at, latest_build, required_build
        """

    /// Reads `columns`.
    static func row(_ statement: Statement) -> Row {
        var record = VersionRecord(
            app: AppKey(app: statement.text(0), platform: statement.platform(1)), latest: statement.version(2),
            required: statement.version(3), downloadURL: statement.optionalText(4),
            message: statement.optionalText(5), updatedAt: statement.time(7))
        record.builds = BuildNumbers(latest: statement.optionalInteger(8), required: statement.optionalInteger(9))
        return (record, statement.optionalText(6))
    }

    static func record(_ row: Row, _ connection: SQLiteConnection) throws -> VersionRecord {
        var record = row.record
        record.telephones = try TextList.texts(row.telephones, connection)
        return record
    }

    static func record(of app: AppKey, _ connection: SQLiteConnection) throws -> VersionRecord? {
        let row = try connection.first(
            "SELECT \(columns) FROM version WHERE app = ? AND platform = ?",
            .text(app.app), .text(app.platform.rawValue), row: row)
        return try row.map { try current($0, connection) }
    }

    /// A row of `version` with what of it is in force.
    static func current(_ row: Row, _ connection: SQLiteConnection) throws -> VersionRecord {
        var record = try record(row, connection)
        record.inForce = try InForceTable.inForce(of: record.app, connection)
        return record
    }

    /// What a bump makes of a record: versions rise, and `latest` is never behind `required`.
    ///
    /// A version that is equal keeps the spelling that it has.
    static func merge(_ bump: VersionBump, into before: VersionRecord?, at now: Timestamp) throws -> VersionRecord {
        // json_each ends a text at a NUL: the audience that is read again would be another.
        if bump.telephones?.contains(where: { $0.utf8.contains(0) }) ?? false {
            throw StoreError(.failed, context: "a telephone of the audience holds a NUL, which no telephone does")
        }
        var after = before ?? VersionRecord(app: bump.app, updatedAt: now)
        after.required = try raised("required", from: before?.required, to: bump.required, app: bump.app)
        after.latest = try raised("latest", from: before?.latest, to: bump.latest, app: bump.app)
        if let required = after.required, after.latest.map({ $0 < required }) ?? true { after.latest = required }
        after.builds = try raised(after.builds, to: bump.builds, app: bump.app)
        let rose = after.required != before?.required
        after.downloadURL = bump.downloadURL ?? after.downloadURL
        after.message = bump.message ?? after.message
        after.telephones = rose ? bump.telephones : bump.telephones ?? after.telephones
        after.updatedAt = now
        return after
    }

    private static func raised(
        _ current: BuildNumbers, to proposed: BuildNumbers, app: AppKey
    ) throws -> BuildNumbers {
        var builds = BuildNumbers(
            latest: try raised("builds.latest", from: current.latest, to: proposed.latest, app: app),
            required: try raised("builds.required", from: current.required, to: proposed.required, app: app))
        if let required = builds.required { builds.latest = max(builds.latest ?? required, required) }
        return builds
    }

    private static func raised(
        _ field: String, from current: Int64?, to proposed: Int64?, app: AppKey
    ) throws -> Int64? {
        let version = try raised(field, from: current.map(version), to: proposed.map(version), app: app)
        return version.flatMap { Int64($0.text) }
    }

    private static func version(_ build: Int64) throws -> Version { try Version(String(build)) }

    private static func raised(
        _ field: String, from current: Version?, to proposed: Version?, app: AppKey
    ) throws -> Version? {
        guard let proposed else { return current }
        guard let current else { return proposed }
        guard proposed >= current else {
            throw StoreError(
                .versionWouldFall(field: field, current: current, proposed: proposed),
                context: "\(field) of \(app.app) (\(app.platform.rawValue)) is \(current); \(proposed) is older",
                hint: "Versions only rise: send \(current) or a newer one")
        }
        return proposed == current ? current : proposed
    }

    /// Whether two records say the same, byte for byte; when they were written does not matter. (Swift's `==` on texts
    /// is canonical equivalence: it would keep an old spelling of a telephone that the app does not have any more.)
    static func same(_ left: VersionRecord?, _ right: VersionRecord) -> Bool {
        guard let left else { return false }
        return left.latest == right.latest && left.required == right.required
            && same(left.downloadURL, right.downloadURL) && same(left.message, right.message)
            && left.builds == right.builds
            && same(left.telephones ?? [], right.telephones ?? [])
            && (left.telephones == nil) == (right.telephones == nil)
    }

    static func same(_ left: [String], _ right: [String]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
    }

    static func same(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    /// Writes a record as a signed change; the triggers of the schema check it once more and keep the history.
    static func store(_ record: VersionRecord, actor: String, source: String, _ connection: SQLiteConnection) throws {
        try connection.run(
            """
            INSERT INTO version (app, platform, latest, required, download_url, message, telephones, changed_by,
                changed_from, updated_at, latest_build, required_build, revision)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1)
            ON CONFLICT (app, platform) DO UPDATE SET latest = ?3, required = ?4, download_url = ?5, message = ?6,
                telephones = ?7, changed_by = ?8, changed_from = ?9, updated_at = ?10,
                latest_build = ?11, required_build = ?12, revision = revision + 1
            """,
            .text(record.app.app), .text(record.app.platform.rawValue), .version(record.latest),
            .version(record.required), .text(record.downloadURL), .text(record.message),
            .text(record.telephones.map(TextList.json)), .text(actor), .text(source), .time(record.updatedAt),
            .optional(record.builds.latest), .optional(record.builds.required))
    }
}
