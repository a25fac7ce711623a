// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func deadDevices(of app: AppKey, after place: DeadPlace, limit: Int) throws -> [DeadDevice] {
        try read("listing dead devices") { connection in
            guard let id = try AppTable.id(of: app, connection) else { return [] }
            return try DeadTable.devices(of: id, after: place, through: nil, limit: max(limit, 0), connection)
        }
    }

    package func noteDeadTokens(limit: Int, at now: Timestamp) throws {
        let behind = try readOnce("looking for dead tokens") { connection in
            try connection.all("SELECT id FROM app WHERE retired_told < retired_last ORDER BY id") { $0.integer() }
        }
        for app in behind {
            while try noteBatch(of: app, limit: limit, at: now) {}
        }
    }

    /// - Returns: whether there may be more.
    private func noteBatch(of app: Int64, limit: Int, at now: Timestamp) throws -> Bool {
        try write("noting dead tokens", lock: .rows) { connection in
            // Locks the app's row: another transaction that retires or notes tokens of the app comes before or after
            // this one.
            let places = try connection.first(
                "SELECT retired_told, retired_last FROM app WHERE id = ? \(connection.dialect.forUpdate)", app
            ) { (reported: DeadPlace(order: $0.integer()), last: DeadPlace(order: $0.integer())) }
            guard let (reported, last) = places, reported < last else { return false }
            var through = last
            if try Self.isHeardOf(.dead, connection) {
                let found = try connection.all(DeadTable.places, app, reported.order, last.order, max(limit, 1)) {
                    DeadPlace(order: $0.integer())
                }
                if found.count >= max(limit, 1), let end = found.last { through = end }
                if !found.isEmpty {
                    let subject = JSONValue.object([
                        JSONMember(name: "after", value: .integer(reported.order)),
                        JSONMember(name: "through", value: .integer(through.order)),
                    ])
                    try NotificationTable.note(.dead, of: app, subject, at: now, connection)
                }
            }
            try connection.run("UPDATE app SET retired_told = ? WHERE id = ?", through.order, app)
            return through < last
        }
    }

    /// Whether any receiver subscribes to events of a type.
    static func isHeardOf(_ type: EventType, _ connection: Connection) throws -> Bool {
        try connection.all("SELECT states FROM receiver WHERE gone_at IS NULL") { names($0.text()) }
            .contains { $0.contains(type.name) }
    }
}

/// Dead tokens in the order in which the relay learnt of them.
package enum DeadTable {
    /// The dead tokens of an app (?1) behind a place (?2) up to another (?3).
    private static let found: SQL = """
        d.app_id = ?1 AND d.retired_order > ?2 AND d.retired_order <= ?3 AND \(isDead) ORDER BY d.retired_order LIMIT ?4
        """
    /// The condition for a device `d` that has a place among the dead tokens.
    package static let isDead: SQL = "d.retired_at IS NOT NULL AND d.removed_at IS NULL"

    /// The condition for a device `d` whose token an answer to a push ends: the answer is about the registration that the device
    /// still has, and the token was not dead before. No count of devices falls: a dead one stays registered.
    ///
    /// - Parameters:
    ///   - dead: the time at which the push service declared the token dead.
    ///   - registered: the time of the registration that was pushed to.
    package static func dies(at dead: SQL, registered: SQL) -> SQL {
        "d.registered_at = \(registered) AND d.registered_at <= \(dead) AND d.retired_at IS NULL"
    }

    package static let page: SQL = """
        SELECT \(DeviceRecord.columns), d.retired_order FROM device AS d CROSS JOIN app AS a WHERE a.id = d.app_id AND \(found)
        """
    package static let places: SQL = "SELECT d.retired_order FROM device AS d WHERE \(found)"

    static func devices(
        of app: Int64, after place: DeadPlace, through last: DeadPlace?, limit: Int, _ connection: some SQLConnection
    ) throws -> [DeadDevice] {
        try connection.all(page, app, place.order, last?.order ?? .max, limit) { row in
            DeadDevice(record: .read(&row), place: DeadPlace(order: row.integer()))
        }
    }

    /// Takes `count` places for tokens of an app that have just died. Must come last in its transaction, since it locks the app's row.
    ///
    /// - Returns: the place before the first of them.
    package static func take(
        _ count: Int, of app: Int64, at now: Timestamp, _ connection: some SQLConnection
    ) throws -> DeadPlace {
        let last = try connection.all(
            """
            UPDATE app SET retired_last = ?3
                + CASE WHEN retired_last > CAST(?2 AS bigint) THEN retired_last ELSE CAST(?2 AS bigint) END
            WHERE id = ?1 RETURNING retired_last
            """, app, DeadPlace(before: now).order, count
        ) { $0.integer() }.first
        return DeadPlace(order: (last ?? 0) - Int64(count))
    }
}
