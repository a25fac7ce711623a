// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL
import TestPeers

@testable import RelayStorePostgres
@testable import RelayStoreSQLite

/// Another program that writes plain SQL to a store, and the requirements that the store then holds.
protocol OutsideWriter {
    /// - Returns: whether the statement was taken.
    func write(_ sql: String) throws -> Bool
    /// Each row as texts, NULL as "-".
    func rows(_ sql: String, columns: Int) throws -> [[String]]
}

extension OutsideWriter {
    /// Everything but the times.
    func state() throws -> [[String]] {
        func columns(_ list: String) -> (String, Int) { (list, list.split(separator: ",").count) }
        let version = columns(
            "app, platform, latest, required, latest_build, required_build, download_url, message, telephones, changed_by, changed_from, revision"
        )
        let requirement = columns(
            "id, kind, version, version_key, build, state, reach, gated, released, download_url, message, canary, reason, changed_by, changed_via"
        )
        let event = columns(
            "id, requirement_id, state, reach, build, download_url, message, in_force_at, in_force_by, reason, by, via")
        return try rows("SELECT \(version.0) FROM version ORDER BY app, platform", columns: version.1)
            + rows("SELECT \(requirement.0) FROM requirement ORDER BY id", columns: requirement.1)
            + rows("SELECT \(event.0) FROM requirement_event ORDER BY id", columns: event.1)
            + rows("SELECT requirement_id, number, telephone FROM requirement_canary ORDER BY 1, 2", columns: 3)
    }
}

struct PostgresOutsideWriter: OutsideWriter {
    let connection: PostgresConnection

    init() throws {
        connection = try TestDatabase.ofNewStore().connect()
    }

    func write(_ sql: String) throws -> Bool {
        do {
            try connection.execute(sql, until: .soon)
            return true
        } catch  where error.state?.storeCode == .conflict {
            return false
        }
    }

    func rows(_ sql: String, columns: Int) throws -> [[String]] {
        let rows = try connection.execute(sql, until: .soon)
        return (0..<rows.count).map { row in (0..<columns).map { rows.optionalText(row, $0) ?? "-" } }
    }
}

struct SQLiteOutsideWriter: OutsideWriter {
    let connection: SQLiteConnection

    init() throws {
        let path = try TestFolder.make() + "/relay.db"
        try StoreFile.create(path)
        connection = try SQLiteConnection(path: path)
        try Migration.run(on: connection, path: path, release: "1", at: Timestamp(seconds: 1))
    }

    func write(_ sql: String) throws -> Bool {
        do {
            try connection.execute(SQL(typed: sql))
            return true
        } catch  where error.storeError(doing: "", path: "").code == .conflict {
            return false
        }
    }

    func rows(_ sql: String, columns: Int) throws -> [[String]] {
        try connection.all(SQL(typed: sql), values: []) { row in
            (0..<columns).map { _ in row.optionalText() ?? "-" }
        }
    }

    /// The name "table.column" of each column of all tables and views.
    func columns() throws -> Set<String> {
        Set(
            try connection.all(
                """
                SELECT m.name || '.' || c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
                WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%'
                """
            ) { $0.text() })
    }
}
