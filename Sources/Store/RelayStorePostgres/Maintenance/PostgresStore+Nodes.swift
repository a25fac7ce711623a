// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import StoreSQL
import Synchronization
import Threading

/// The relay's lease and the news of other relays use a session of their own, which is never in a transaction for long: a
/// session that waits in a transaction receives no notification (postgresql.org/docs, "LISTEN").
extension PostgresStore {
    package var newestStep: Int64 { Int64(schema.newest) }
    package var storeClock: Timestamp? { nil }

    package func keepLease<R: Sendable>(
        _ doing: String, isOneStatement: Bool, _ body: (PostgresSession) throws -> R
    ) throws -> R {
        options.onEnter?()
        let deadline = MonotonicClock.now() + Self.patience(.control)
        return try noting {
            try pool.use(.control, doing, isReadOnly: isOneStatement, until: deadline) { connection in
                let session = PostgresSession(connection: connection, deadline: deadline, isReadOnly: isOneStatement)
                guard !isOneStatement else { return try body(session) }
                return try connection.transaction(until: deadline) { _ in try body(session) }
            }
        }
    }

    package func endSessions(of node: Int64) throws {
        try keepLease("ending the sessions of a relay that is gone", isOneStatement: true) { session in
            _ = try session.integer("SELECT end_sessions_of_node(?)", node)
        }
    }

    package func awaitNews(until deadline: MonotonicTime) throws -> FleetHints {
        let payloads = try noting {
            try pool.use(
                .control, "listening for changes by others", isReadOnly: true,
                until: max(deadline, MonotonicClock.now() + Self.patience(.control))
            ) { connection in try connection.news(until: deadline) }
        }
        guard let payloads else {
            // Earlier notifications are unknown.
            watch.withLock { $0.doubt() }
            return .everything
        }
        var news = FleetHints()
        for payload in payloads { news.add(payload, ofSchema: schema.name) }
        if news.tables.contains("version") { watch.withLock { $0.doubt() } }
        return news
    }

    package func send(_ wish: FleetRequest) throws {
        try look(.requests, "telling the other relays", isSnapshot: false) { [schema] session in
            _ = try session.run("SELECT pg_notify('upgrade_relay', ?)", "\(schema.name) \(wish.text)")
        }
    }
}
