// SPDX-License-Identifier: Apache-2.0
import RelayStore
import StoreSQL

/// The devices that a question about deliveries means.
extension DeliveryList {
    /// The devices of the user and of the token that the filter names; nil where it names neither.
    static func devices(meantBy filter: DeliveryFilter, _ connection: SQLiteConnection) throws -> [Device]? {
        let user = try filter.telephone.map { try devices(ofUser: $0, connection) }
        guard let token = filter.token else { return user }
        let named = try devices(token: token, connection)
        guard let user else { return named }
        let ids = Set(named.map(\.id))
        return user.filter { ids.contains($0.id) }
    }

    /// Those that are or were this user's, ascending by id.
    static func devices(ofUser telephone: String, _ connection: SQLiteConnection) throws -> [Device] {
        try connection.all(
            """
            SELECT \(deviceColumns) FROM device WHERE telephone = ?1
            UNION
            SELECT \(deviceColumns) FROM device
            WHERE id IN (SELECT device_id FROM former_telephone WHERE telephone = ?1)
            ORDER BY id
            """, telephone, row: device)
    }

    /// The device of this token in each app that has it, ascending by id.
    static func devices(token: String, _ connection: SQLiteConnection) throws -> [Device] {
        let apps = try connection.all("SELECT id, platform FROM app") { ($0.integer(0), $0.platform(1)) }
        return try apps.compactMap { app, platform in
            let token = platform.stored(token)
            return try connection.first(
                "SELECT \(deviceColumns) FROM device \(DeviceTable.isToken)",
                app, token, DeviceTable.hash(token), row: device)
        }.sorted { $0.id < $1.id }
    }

    private static let deviceColumns: SQL =
        "id, app_id, token, telephone, removed_at, \(DeviceTable.plannedEnvironment)"

    private static func device(_ row: Statement) -> Device {
        Device(
            id: row.integer(0), app: row.integer(1), token: row.text(2), telephone: row.optionalText(3),
            isRemoved: !row.isNull(4), environment: row.environment(5))
    }
}
