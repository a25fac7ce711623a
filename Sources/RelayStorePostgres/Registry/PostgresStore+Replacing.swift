// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
import StoreSQL

extension PostgresStore {
    @discardableResult
    package func register(
        _ device: DeviceRegistration, replacing old: String, at now: Timestamp
    ) throws -> (isNew: Bool, replaced: DeviceReplacement) {
        let platform = device.app.platform
        let new = PackedToken.packed(platform.stored(device.token).utf8)
        let old = PackedToken.packed(platform.stored(old).utf8)
        precondition(new != old, "a token does not replace itself")
        let batch = try RegistrationBatch([device], of: device.app)
        return try write(.requests, "registering a device anew") { session in
            var moment = now
            var replaced = DeviceReplacement.unknown
            let app = try AppTable.idMade(for: device.app, session)
            // Both at once, in the order of their digests, in which imports lock them too.
            let found = try session.all(Self.both, app, new, old) { row in
                (id: row.integer(0), isNew: row.integer(1) == 1, isRemoved: !row.isNull(2), registered: row.time(3))
            }
            let there = found.first(where: \.isNew)
            var isNew = there.map(\.isRemoved) ?? true
            if let known = found.first(where: { !$0.isNew }), !known.isRemoved {
                if there == nil, try move(known.id, of: app, to: new, session) {
                    moment = DeviceReplacement.moment(now, after: known.registered)
                    replaced = .moved
                } else {
                    // Somebody else may have registered the new one meanwhile.
                    if there == nil { isNew = false }
                    if try RegistryTable.remove(old, of: app, session) { replaced = .removed }
                }
            }
            var registrar = try BatchRegistrar(session, device.app, at: moment, from: .registration)
            try registrar.register(batch, 0..<1)
            _ = try registrar.finish()
            return (isNew, replaced)
        }
    }

    private static let both: SQL = """
        SELECT id, CASE WHEN digest = token_digest(?1, ?2) THEN 1 ELSE 0 END, removed_at, registered_at FROM device
        WHERE digest IN (token_digest(?1, ?2), token_digest(?1, ?3)) ORDER BY digest FOR UPDATE
        """

    /// - Returns: false where somebody else has registered the token meanwhile.
    private func move(_ device: Int64, of app: Int64, to token: [UInt8], _ session: PostgresSession) throws -> Bool {
        let (connection, deadline) = (session.connection, session.deadline)
        try connection.execute("SAVEPOINT move", until: deadline)
        do {
            try session.run(
                "UPDATE device SET token = ?3, digest = token_digest(?1, ?3) WHERE app_id = ?1 AND id = ?2", app,
                device,
                token)
        } catch let failure as PostgresFailure where failure.state == "23505" {
            try connection.execute("ROLLBACK TO move", until: deadline)
            return false
        }
        try connection.execute("RELEASE move", until: deadline)
        return true
    }
}
