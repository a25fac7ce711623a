// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL

/// The table `release`: the releases that have worked on the store.
struct ReleaseTable {
    let connection: SQLiteConnection
    let release: String
    let now: Timestamp

    /// The table's schema. A row is added when a release other than the last one opens the store. Not a step of the
    /// chain, since the release is recorded together with the chain's first step.
    private static let schema: SQL = """
        CREATE TABLE IF NOT EXISTS release (
            id             INTEGER PRIMARY KEY,
            name           TEXT NOT NULL,     -- as --version prints it; 'unknown': before releases were noted
            schema_version INTEGER NOT NULL,  -- the newest that it knows, and brought the store to
            opened_at      INTEGER NOT NULL
        ) STRICT;
        """

    /// Records an unknown release for a store from before releases were recorded. Must be called before the chain runs.
    func noteEarlierRelease() throws {
        func isMissing() throws -> Bool {
            try Migration.version(of: connection) > 0 && Self.releases(on: connection).isEmpty
        }
        guard try isMissing() else { return }
        try connection.transaction("BEGIN IMMEDIATE") { connection in
            guard try isMissing() else { return }
            let firstStep = try connection.first("SELECT min(applied_at) FROM migration") { $0.optionalTime() } ?? nil
            try insert(Self.unknown, schemaVersion: Migration.version(of: connection), at: firstStep ?? now)
        }
    }

    /// Records that this release works on the store, unless it was the last to do so: usually it was, and then nothing is written.
    func noteRelease() throws {
        func isMissing() throws -> Bool {
            let last = try Self.releases(on: connection).last
            return try last?.release != release || last?.schemaVersion != Migration.version(of: connection)
        }
        guard try isMissing() else { return }
        try connection.transaction("BEGIN IMMEDIATE") { connection in
            guard try isMissing() else { return }
            try insert(release, schemaVersion: Migration.version(of: connection), at: now)
        }
    }

    static let unknown = "unknown"

    func insert(_ name: String, schemaVersion: Int, at time: Timestamp) throws {
        try connection.execute(Self.schema)
        try connection.run(
            "INSERT INTO release (name, schema_version, opened_at) VALUES (?, ?, ?)", name, schemaVersion, time)
    }

    /// Oldest first; none where the table is not there yet.
    static func releases(on connection: SQLiteConnection) throws -> [StoreRelease] {
        let isThere = try connection.exists("SELECT 1 FROM sqlite_schema WHERE name = 'release'")
        guard isThere else { return [] }
        return try connection.all(StoreRelease.self, "FROM release ORDER BY id")
    }
}
