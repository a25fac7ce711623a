// SPDX-License-Identifier: Apache-2.0
import StoreSQL

/// Free pages of the file, and how they go back to the file system.
///
/// A new store is made with `auto_vacuum = INCREMENTAL`, so that pruning can shrink the file in small steps. An older store,
/// made without, is changed when it is opened while it is small, since that takes a VACUUM, which writes the whole file
/// anew; a large one stays as it is: its free pages are used again, and the file never shrinks.
enum FreePages {
    private static let incremental: Int64 = 2
    /// Bytes that a VACUUM at the start may cost: well below a second.
    private static let smallStore: Int64 = 32 << 20

    /// Must be called before anything is written to the file.
    ///
    /// The pragma is compiled and not run. Compiling it decides how the file will be made at the first write ("some
    /// pragmas run during the SQL compilation stage", sqlite.org/pragma.html; pragma.c: "in case this connection
    /// creates the database file"); running it would make the file at once, in a transaction of its own with four calls
    /// of fdatasync. With a SQLite that behaves otherwise, `prepare` would change the new file.
    static func prepareNewFile(_ connection: SQLiteConnection) throws {
        guard try connection.integer("PRAGMA page_count") == 0 else { return }
        _ = try connection.prepared("PRAGMA auto_vacuum = INCREMENTAL")
    }

    /// Changes an older store while it is small. Ignores failures: another connection may be reading, or the disk may
    /// be full. The next start tries again.
    static func prepare(_ connection: SQLiteConnection) throws {
        guard try !areGivenBack(connection), try pages(connection) * pageSize(connection) < smallStore else { return }
        try? connection.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }

    /// Whether `giveBack` works on this file.
    static func areGivenBack(_ connection: SQLiteConnection) throws -> Bool {
        try connection.integer("PRAGMA auto_vacuum") == incremental
    }

    static func free(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.integer("PRAGMA freelist_count") ?? 0
    }

    static func pages(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.integer("PRAGMA page_count") ?? 0
    }

    static func pageSize(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.integer("PRAGMA page_size") ?? 0
    }

    /// Cuts up to `count` free pages off the end of the file.
    static func giveBack(_ count: Int, _ connection: SQLiteConnection) throws {
        try connection.execute("PRAGMA incremental_vacuum(\(count))")
    }
}
