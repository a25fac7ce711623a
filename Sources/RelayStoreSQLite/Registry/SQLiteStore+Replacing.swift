// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
import StoreSQL

extension SQLiteStore {
    @discardableResult
    package func register(
        _ device: DeviceRegistration, replacing old: String, at now: Timestamp
    ) throws -> (isNew: Bool, replaced: DeviceReplacement) {
        let (new, old) = (device.app.platform.stored(device.token), device.app.platform.stored(old))
        precondition(new != old, "a token does not replace itself")
        let batch = try RegistrationBatch([device], of: device.app)
        return try write("registering a device anew") { connection in
            var moment = now
            var replaced = DeviceReplacement.unknown
            let app = try AppTable.idMade(for: device.app, connection)
            let there = try Self.place(of: new, in: app, connection)
            if let known = try Self.place(of: old, in: app, connection), !known.isRemoved {
                if there == nil {
                    try connection.run(
                        "UPDATE device SET token = ?, token_hash = ? WHERE id = ?", new, DeviceTable.hash(new),
                        known.id)
                    moment = DeviceReplacement.moment(now, after: known.registered)
                    replaced = .moved
                } else if try DeviceTable.remove(old, of: app, connection) {
                    replaced = .removed
                }
            }
            var registrar = try Registrar(connection, at: moment, from: .registration)
            _ = try registrar.register(batch, DeviceTable.keys(of: batch)[...], untilWork: .max)
            _ = try registrar.finish()
            return (isNew: there.map(\.isRemoved) ?? true, replaced)
        }
    }

    private static func place(
        of token: String, in app: Int64, _ connection: SQLiteConnection
    ) throws -> (id: Int64, isRemoved: Bool, registered: Timestamp)? {
        try connection.first(
            "SELECT id, removed_at, registered_at FROM device \(DeviceTable.isToken)", app, token,
            DeviceTable.hash(token)
        ) { ($0.integer(0), !$0.isNull(1), $0.time(2)) }
    }
}
