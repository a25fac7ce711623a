// SPDX-License-Identifier: Apache-2.0
import CSQLite
import RelayStore
import Requirements
import UpgradeRules

/// A connection of its own. It compiles each statement once: the triggers behind one take SQLite longer to compile than to run.
@safe final class SQLiteProgram: OtherProgram {
    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = unsafe [:]

    /// An error of SQLite.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter flags: a kept connection is given only to callers with the same flags (`Tests/CFaultyVFS/kept_connections.c`).
    init(path: String, flags: Int32 = SQLITE_OPEN_NOMUTEX) throws {
        var connection: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | flags, nil)
        guard code == SQLITE_OK, let connection = unsafe connection else {
            unsafe sqlite3_close_v2(connection)
            throw Refusal(description: "the store cannot be opened: \(code)")
        }
        unsafe self.connection = connection
    }

    deinit {
        // "the database connection becomes an unusable "zombie" which will automatically be deallocated when the last prepared statement
        // is finalized" (sqlite.org/c3ref/close.html).
        unsafe sqlite3_close_v2(connection)
        unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    }

    package func require(_ version: String, of app: AppKey) throws {
        try run(
            """
            INSERT INTO version (app, platform, required) VALUES (?, ?, ?)
            ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required,
                telephones = CASE WHEN excluded.required = required THEN telephones END
            """, app.app, app.platform.rawValue, version)
    }

    /// As SQLite's own shell does it, where foreign keys are off by default.
    package func deleteDevice(_ id: Int64) throws {
        try run("DELETE FROM device WHERE id = CAST(? AS INTEGER)", "\(id)")
    }

    /// Turns the schema's triggers off on this connection, from now on.
    func ignoreTriggers() { unsafe relay_sqlite3_enforce_triggers(connection, 0) }

    package func own(_ campaign: Int64, _ isOwned: Bool) throws {
        try run(
            "UPDATE campaign_run SET owner = \(isOwned ? "9999" : "NULL"), epoch = epoch + 1 WHERE campaign_id = CAST(? AS INTEGER)",
            "\(campaign)")
    }

    /// Runs a script of any number of statements.
    func execute(_ script: String) throws {
        let code = unsafe sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw refusal(code) }
    }

    /// All rows of a query, as text.
    func rows(_ query: String) throws -> [[String]] {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(connection, query, -1, 0, &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else { throw refusal(code) }
        defer { unsafe sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while unsafe sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                unsafe (0..<sqlite3_column_count(statement)).map { column in
                    unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? ""
                })
        }
        return rows
    }

    func run(_ sql: String, _ values: String...) throws {
        let statement = unsafe try prepared(sql)
        defer { unsafe sqlite3_reset(statement) }
        for (index, value) in values.enumerated() {
            _ = unsafe relay_sqlite3_bind_text_copied(statement, Int32(index + 1), value, Int32(value.utf8.count))
        }
        let code = unsafe sqlite3_step(statement)
        guard code == SQLITE_DONE else { throw refusal(code) }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let known = unsafe statements[sql] { return unsafe known }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else { throw refusal(code) }
        unsafe statements[sql] = statement
        return unsafe statement
    }

    private func refusal(_ code: Int32) -> Refusal {
        Refusal(description: unsafe "\(String(cString: sqlite3_errmsg(connection))) (\(code))")
    }
}
