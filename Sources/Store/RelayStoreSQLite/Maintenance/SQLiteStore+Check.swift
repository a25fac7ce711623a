// SPDX-License-Identifier: Apache-2.0
import CSQLite
import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension SQLiteStore {
    package func check(begins: (String) -> Bool) throws -> [StoreFault] {
        options.onEnter?()
        // A connection of its own: it keeps its snapshot for a while, and the readers are needed elsewhere.
        return try reporting("checking the store") {
            try Self.check(Self.reader(path: path), begins)
        }
    }

    /// The same for a file that no daemon has open, such as a backup. Reads only.
    package static func check(file path: String, begins: (String) -> Bool) throws -> [StoreFault] {
        try withFile(path) { connection in try check(connection, begins) }
    }

    private static func check(_ connection: SQLiteConnection, _ begins: (String) -> Bool) throws -> [StoreFault] {
        try connection.run("BEGIN")
        // Nothing was written; and where pages are damaged, SQLite refuses even an empty COMMIT.
        defer { _ = try? connection.run("ROLLBACK") }
        var examination = StoreExamination(connection: connection)
        let isNewest = try Migration.version(of: connection) == Migration.newest
        let steps = StoreExamination<SQLiteConnection>.self
        // The rules of rows need the schema of this release.
        for step in steps.ofPages + (isNewest ? steps.ofRows : []) {
            guard begins(step.name) else { throw StoreError(.failed, context: "the check was given up") }
            // The later steps read rows, which proves nothing where pages are damaged.
            guard try examination.isSound(after: step) else { break }
        }
        if !isNewest {
            let version = try Migration.version(of: connection)
            _ = begins(
                "no further: schema version \(version) is older than this release's \(Migration.newest); start the daemon on it"
            )
        }
        return examination.faults
    }
}

/// SQLite's rules for its pages, beside the relay's own for its rows.
extension StoreExamination where Connection == SQLiteConnection {
    fileprivate static var ofPages: [Step] {
        [
            Step(name: "pages and indexes") { try $0.pages() },
            Step(name: "references") { try $0.references() },
        ]
    }

    /// - Returns: false where pages are damaged: reading rows proves nothing then.
    fileprivate mutating func isSound(after step: Step) throws -> Bool {
        do {
            try run(step)
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_CORRUPT {
            note(failure.message)
            return false
        }
        return step.name != Self.ofPages[0].name || faults.isEmpty
    }

    private mutating func pages() throws {
        // Line by line: on some damage SQLite gives up after reporting it.
        try connection.each("PRAGMA integrity_check(\(Self.most))") { row in
            let line = row.text()
            if line != "ok" { note(line) }
        }
    }

    /// sqlite.org/pragma.html#pragma_foreign_key_check: the table, its rowid, the table that it refers to, and the foreign key's number.
    private mutating func references() throws {
        try note(each: "PRAGMA foreign_key_check") { row in
            let (table, number, other) = (row.text(), row.text(), row.text())
            row.skip()
            return "\(table)\(number.isEmpty ? "" : " row \(number)") refers to a row of \(other) that is not there"
        }
    }
}

extension SQLiteStore {
    /// Checks the pages of a store that was not closed well, before the store is used: the requirements first, the devices
    /// and the ledger last. `store check` checks everything, at leisure.
    ///
    /// - Parameter limit: the longest time: a store of many gigabytes takes minutes.
    /// - Returns: whether everything was checked.
    /// - Throws: `StoreError` where something is damaged.
    package func checkPages(within limit: Duration) throws -> Bool {
        try reporting("checking the store, which was not closed well,") {
            let connection = try Self.reader(path: path)
            // The tables that may have the most rows come last.
            let tables = try connection.all(
                """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                ORDER BY name IN ('device', 'delivery', 'delivery_batch', 'delivery_upgrade', 'campaign_told'), name
                """
            ) { $0.text() }
            connection.interrupt(after: .now + limit)
            do {
                for table in tables {
                    let found = try connection.all("SELECT * FROM pragma_quick_check(?)", table) { $0.text() }
                    guard let first = found.first(where: { $0 != "ok" }) else { continue }
                    throw SQLiteFailure(code: SQLITE_CORRUPT, message: "table \(table): \(first)")
                }
            } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_INTERRUPT {
                return false
            }
            return true
        }
    }
}
