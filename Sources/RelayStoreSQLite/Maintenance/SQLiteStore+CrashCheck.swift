// SPDX-License-Identifier: Apache-2.0
import CSQLite
import RelayStore

extension SQLiteStore {
    /// Looks through the pages of a store that was not closed well, before anything is made of them: what is required first, the
    /// devices and the ledger last. `store check` does all of it, at leisure.
    ///
    /// - Parameter limit: no longer than this: a store of many gigabytes takes minutes.
    /// - Returns: whether all of it was seen.
    /// - Throws: `StoreError` where something is damaged.
    package func checkPages(within limit: Duration) throws -> Bool {
        try reporting("checking the store, which was not closed well,") {
            let connection = try Self.reader(path: path)
            // The largest, by the number of their rows, come last.
            let tables = try connection.all(
                """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                ORDER BY name IN ('device', 'delivery', 'delivery_batch', 'delivery_upgrade', 'campaign_told'), name
                """
            ) { $0.text(0) }
            connection.interrupt(after: .now + limit)
            do {
                for table in tables {
                    let found = try connection.all("SELECT * FROM pragma_quick_check(?)", .text(table)) { $0.text(0) }
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
