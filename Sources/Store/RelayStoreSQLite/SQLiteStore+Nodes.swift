// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import Threading

/// A relay is alone with its file. Several share one only in a simulation, which has one thread.
extension SQLiteStore {
    package var newestStep: Int64 { Int64(Migration.newest) }
    package var storeClock: Timestamp? { options.clock() }

    package func keepLease<R: Sendable>(
        _ doing: String, isOneStatement: Bool, _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        let asked = MonotonicClock.now()
        return try locked(doing) { connection in
            try commit(on: connection, since: asked, isOfLease: true, body)
        }
    }

    /// Does nothing: the one writer's transactions are over at once.
    package func endSessions(of node: Int64) throws {}

    /// Returns at once, without news: no other relay could send any.
    package func awaitNews(until deadline: MonotonicTime) throws -> FleetHints { FleetHints() }

    package func send(_ wish: FleetRequest) throws {}
}
