// SPDX-License-Identifier: Apache-2.0
import CSQLite
import RelayEngine
import RelayStore
import StoreSQL

/// One step of the store's own growth from release to release (SEEDS S6: a chain, in order, each step once, no way back).
///
/// The store's version is `PRAGMA user_version`; the time of each step is in `migration`.
struct Migration {
    var name: String
    /// The value of `user_version` after the step: 1, 2, 3, …
    var toVersion: Int
    var sql: SQL

    static let newest = newest(of: chain)

    static func newest(of chain: [Migration]) -> Int { chain.map(\.toVersion).max() ?? 0 }

    static func version(of connection: SQLiteConnection) throws -> Int {
        Int(try connection.integer("PRAGMA user_version") ?? 0)
    }

    /// "Upgr" in ASCII: identifies the database to `file(1)` and to this program
    /// (sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x5570_6772
}

extension Migration {
    /// Brings the database to the newest version, one transaction for each step, and records the release that did it. From
    /// then on foreign keys are enforced.
    ///
    /// - Parameters:
    ///   - release: the name of the running release.
    ///   - chain: every step, in order; another one only in tests.
    /// - Throws: `StoreError.tooNew`, or `.failed` when the database is another program's; then nothing was written.
    static func run(
        on connection: SQLiteConnection, path: String, release: String, at now: Timestamp, chain: [Migration] = chain
    ) throws {
        let newest = newest(of: chain)
        try check(connection, path: path, newest: newest)
        let releases = ReleaseTable(connection: connection, release: release, now: now)
        try releases.noteEarlierRelease()
        // A step may make a table anew that others refer to (sqlite.org/lang_altertable.html, 7).
        let isOlder = try version(of: connection) < newest
        if isOlder { connection.enforceForeignKeys(false) }
        defer { connection.enforceForeignKeys(true) }
        for step in chain where try version(of: connection) < step.toVersion {
            // The step and its record, or nothing. Two relays may start at once: the second one waits here, looks again, and
            // finds the step done.
            try connection.transaction("BEGIN IMMEDIATE") { connection in
                let before = try version(of: connection)
                guard before < step.toVersion else { return }
                try connection.execute(step.sql)
                try connection.run(
                    "INSERT INTO migration (version, name, applied_at) VALUES (?, ?, ?)", step.toVersion, step.name, now
                )
                try connection.execute(
                    "PRAGMA user_version = \(step.toVersion); PRAGMA application_id = \(applicationID)")
                if before == 0 { try releases.insert(release, schemaVersion: newest, at: now) }
            }
        }
        // A newer release may have opened the store since the check.
        try check(connection, path: path, newest: newest)
        // Tables that a step dropped have left free pages.
        if isOlder { try connection.execute("PRAGMA incremental_vacuum(1000)") }
        try releases.noteRelease()
    }

    /// Refuses a database of a newer release or of another program. Reads only, and from one snapshot: between two
    /// reads another relay may have made the first tables of a new store.
    static func check(_ connection: SQLiteConnection, path: String, newest: Int = newest) throws {
        let (version, owner, tables) = try connection.transaction("BEGIN") { connection in
            (
                try Migration.version(of: connection), try connection.integer("PRAGMA application_id") ?? 0,
                try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
            )
        }
        guard owner == applicationID || (owner == 0 && version == 0 && tables == 0) else {
            throw StoreError(
                .failed, context: "\(path) is a SQLite database of another program",
                hint: "Name a file of its own as the store; it was not changed")
        }
        guard version <= newest else {
            throw StoreError(
                .tooNew,
                context: "the store \(path) has schema version \(version); this release knows versions up to \(newest)",
                hint: "Install the release that wrote it, or a later one; the file was not changed")
        }
    }
}
