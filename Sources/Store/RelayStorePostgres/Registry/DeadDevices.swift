// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL

/// The places of dead tokens among those of their app. Assigned last in a transaction, which then holds the app's row until its end.
enum DeadDevices {
    /// A token may be listed twice: one place then stays empty.
    static let placeTokens = PostgresStatement(
        sql: """
            UPDATE device AS d SET retired_order = $2 + n.place
            FROM (SELECT token_digest($1, t.token) AS digest, max(t.place) AS place
                  FROM unnest($3) WITH ORDINALITY AS t (token, place) GROUP BY 1) AS n
            WHERE d.digest = n.digest AND \(DeadTable.isDead)
            """)
    static let placeDevices = PostgresStatement(
        sql: """
            UPDATE device AS d SET retired_order = $2 + n.place FROM unnest($3) WITH ORDINALITY AS n (id, place)
            WHERE d.app_id = $1 AND d.id = n.id AND \(DeadTable.isDead)
            """)

    /// - Parameter tokens: packed, in their order.
    static func place(_ tokens: [[UInt8]], of app: Int64, at now: Timestamp, _ session: PostgresSession) throws {
        guard !tokens.isEmpty else { return }
        let before = try DeadTable.take(tokens.count, of: app, at: now, session)
        try session.run(placeTokens) { values in
            values.add(app)
            values.add(before.order)
            values.add(tokens.map(Optional.some))
        }
    }

    /// - Parameter devices: in their order, each once.
    static func place(_ devices: [Int64], of app: Int64, at now: Timestamp, _ session: PostgresSession) throws {
        guard !devices.isEmpty else { return }
        let before = try DeadTable.take(devices.count, of: app, at: now, session)
        try session.run(placeDevices) { values in
            values.add(app)
            values.add(before.order)
            values.add(devices)
        }
    }
}
