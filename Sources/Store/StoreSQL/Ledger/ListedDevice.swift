// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore

/// A device whose deliveries are asked for.
package struct ListedDevice: Sendable {
    package var id: Int64
    package var app: Int64
    package var token: String
    package var telephone: String?
    package var isRemoved: Bool
    /// The channel under which the shards of its app's campaign count it.
    package var channel: Channel

    /// The column expression for `channel`.
    package static let plannedEnvironment: SQL = "coalesce(planned_environment, environment)"

    /// The devices that are or were this user's, ascending by id.
    package static func all(ofUser telephone: String, _ connection: some SQLConnection) throws -> [ListedDevice] {
        try connection.all(
            """
            SELECT \(columns) FROM device WHERE telephone = ?1
            UNION
            SELECT \(columns) FROM device
            WHERE id IN (SELECT device_id FROM former_telephone WHERE telephone = ?1)
            ORDER BY id
            """, telephone
        ) { read(&$0) }
    }
}

extension ListedDevice: Selection {
    package static let columns: SQL = "id, app_id, token, telephone, removed_at, \(plannedEnvironment)"

    package static func read(_ row: inout Columns<some SQLRow>) -> ListedDevice {
        ListedDevice(
            id: row.integer(), app: row.integer(), token: row.text(), telephone: row.optionalText(),
            isRemoved: !row.isNull(), channel: row.channel())
    }
}

extension SQLStore {
    /// The devices of the user and of the token that the filter names; nil where it names neither.
    func devices(meantBy filter: DeliveryFilter, _ connection: Connection) throws -> [ListedDevice]? {
        let user = try filter.telephone.map { try ListedDevice.all(ofUser: $0, connection) }
        guard let token = filter.token else { return user }
        let named = try devices(token: token, connection)
        guard let user else { return named }
        let ids = Set(named.map(\.id))
        return user.filter { ids.contains($0.id) }
    }
}
