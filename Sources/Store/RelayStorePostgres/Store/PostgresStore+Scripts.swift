// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Threading

extension PostgresStore {
    /// Runs a script of statements, in one transaction unless it contains its own; for faults in tests.
    package func administer(_ script: String) throws {
        let deadline = MonotonicClock.now() + Self.patience(.long)
        try pool.use(.long, "running a script", until: deadline) { connection in
            try connection.execute(script, until: deadline)
        }
    }

    /// Returns the rows of one query as text: for tests, and for looking into a store.
    package func inspect(_ query: String) throws -> [[String]] {
        let deadline = MonotonicClock.now() + Self.patience(.requests)
        return try pool.use(.requests, "looking into the store", isReadOnly: true, until: deadline) { connection in
            let rows = try connection.execute(query, until: deadline)
            return (0..<rows.count).map { row in
                (0..<rows.columnCount).map { rows.optionalText(row, $0) ?? "" }
            }
        }
    }
}
