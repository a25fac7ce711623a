// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// Two copies of a store's rows, in memory behind a connection of their own. Rows are copied there and back without the triggers, so that
/// the open file stays the same, and so does the schema that all open connections have compiled their statements by.
final class SQLiteCopies {
    private let program: SQLiteProgram
    /// By copy: the statements that take the rows there, and those that put them back.
    private let ways: [(there: [String], back: [String])]

    init(path: String) throws {
        // A flag that no other connection has, so that none is given this one where connections are kept. SQLite ignores it where caches
        // are not shared.
        let program = try SQLiteProgram(path: path, flags: SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE)
        let tables = try program.rows(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND (name NOT LIKE 'sqlite%' OR name = 'sqlite_sequence')"
        ).map { $0[0] }
        let columns = try tables.map { table in
            try program.rows("SELECT name FROM pragma_table_info('\(table)')").map { "\"\($0[0])\"" }.joined(
                separator: ", ")
        }
        func statements(from source: (String) -> String, to target: (String) -> String) -> [String] {
            zip(tables, columns).flatMap { table, columns in
                [
                    "DELETE FROM \(target(table))",
                    "INSERT INTO \(target(table)) (\(columns)) SELECT \(columns) FROM \(source(table))",
                ]
            }
        }
        ways = (0..<2).map { number in
            let main = { (table: String) in "main.\(table)" }
            let copy = { (table: String) in "copy\(number).the_\(table)" }
            return (statements(from: main, to: copy), statements(from: copy, to: main))
        }
        self.program = program
        // A kept connection has the copies already.
        guard try program.rows("PRAGMA database_list").allSatisfy({ $0[1] != "copy0" }) else { return }
        program.ignoreTriggers()
        for number in 0..<2 {
            try program.execute("ATTACH ':memory:' AS copy\(number)")
            for (table, columns) in zip(tables, columns) {
                try program.execute("CREATE TABLE copy\(number).the_\(table) (\(columns))")
            }
        }
    }

    func copy(to number: Int) throws { try perform(ways[number].there) }

    func putBack(from number: Int) throws { try perform(ways[number].back) }

    private func perform(_ statements: [String]) throws {
        try program.run("BEGIN IMMEDIATE")
        for statement in statements { try program.run(statement) }
        try program.run("COMMIT")
    }
}
