// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// Where the store's own version is kept: in the database itself, so that a step and its record are one transaction.
///
/// The version is `PRAGMA user_version`, the time of each step is in `migration`, and `release` says which releases have
/// worked on the store. No step runs at every upgrade, so an unfinished run is one whose version is below the newest.
struct DatabaseMigrationStorage: MigrationStorage {
    let connection: SQLiteConnection
    let release: String
    let now: Timestamp

    /// Which releases have worked on the store: a row whenever another one than before opens it. Not a step of the chain,
    /// because the chain's first step is recorded in it already.
    private static let schema: SQL = """
        CREATE TABLE IF NOT EXISTS release (
            id             INTEGER PRIMARY KEY,
            name           TEXT NOT NULL,     -- as --version prints it; 'unknown': before releases were noted
            schema_version INTEGER NOT NULL,  -- the newest that it knows, and brought the store to
            opened_at      INTEGER NOT NULL
        ) STRICT;
        """

    static func version(of connection: SQLiteConnection) throws -> Int {
        Int(try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0)
    }

    // MARK: The chain's storage

    func record(of component: String) throws -> MigrationRecord? {
        let version = try Self.version(of: connection)
        guard version > 0 else { return nil }
        let first = try Self.releases(on: connection).first?.schemaVersion ?? version
        return MigrationRecord(version: version, firstInstalledVersion: first)
    }

    func save(_ record: MigrationRecord, of component: String) throws {
        let isFirst = try Self.version(of: connection) == 0
        try connection.execute(
            "PRAGMA user_version = \(record.version); PRAGMA application_id = \(Migration.applicationID)")
        if isFirst { try insert(release, schemaVersion: record.firstInstalledVersion, at: now) }
    }

    /// Two relays may start at once: who comes second waits here, looks again, and finds the step done.
    func atomically(_ component: String, _ body: () throws -> Void) throws {
        try connection.transaction("BEGIN IMMEDIATE") { _ in try body() }
    }

    // MARK: Steps and releases

    /// Runs a step inside the chain's transaction.
    func perform(_ step: Migration) throws {
        try connection.execute(step.sql)
        try connection.run(
            "INSERT INTO migration (version, name, applied_at) VALUES (?, ?, ?)",
            .integer(step.toVersion), .text(step.name), .time(now))
    }

    /// A store from before releases were noted was somebody's first: nobody knows whose. To be called before the chain runs.
    func noteEarlierRelease() throws {
        func isMissing() throws -> Bool {
            try Self.version(of: connection) > 0 && Self.releases(on: connection).isEmpty
        }
        guard try isMissing() else { return }
        try atomically("store") {
            guard try isMissing() else { return }
            let firstStep = try connection.first("SELECT min(applied_at) FROM migration") { $0.optionalTime(0) } ?? nil
            try insert(Self.unknown, schemaVersion: Self.version(of: connection), at: firstStep ?? now)
        }
    }

    /// Notes that this release works on the store, where it is not the one that did so last: usually it is, and then nothing
    /// is written.
    func noteRelease() throws {
        func isMissing() throws -> Bool {
            let last = try Self.releases(on: connection).last
            return try last?.release != release || last?.schemaVersion != Self.version(of: connection)
        }
        guard try isMissing() else { return }
        try atomically("store") {
            guard try isMissing() else { return }
            try insert(release, schemaVersion: Self.version(of: connection), at: now)
        }
    }

    static let unknown = "unknown"

    private func insert(_ name: String, schemaVersion: Int, at time: Timestamp) throws {
        try connection.execute(Self.schema)
        try connection.run(
            "INSERT INTO release (name, schema_version, opened_at) VALUES (?, ?, ?)",
            .text(name), .integer(schemaVersion), .time(time))
    }

    /// Oldest first; none where the table is not there yet.
    static func releases(on connection: SQLiteConnection) throws -> [StoreRelease] {
        let isThere = try connection.first("SELECT 1 FROM sqlite_schema WHERE name = 'release'") { _ in true }
        guard isThere == true else { return [] }
        return try connection.all("SELECT name, schema_version, opened_at FROM release ORDER BY id") { row in
            StoreRelease(
                release: row.text(0), schemaVersion: Int(row.integer(1)),
                openedAt: Timestamp(milliseconds: row.integer(2)))
        }
    }
}
