// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
package import Requirements
import UpgradeRules

/// Thrown out of a transaction to roll it back.
private struct DryRun: Error {
    var counts: UpsertCounts
}

extension RegistrySQL {
    /// Runs one transaction of an import.
    ///
    /// - Parameter keeps: whether it is committed.
    package func importing(
        keeps: Bool, _ body: (Connection) throws -> UpsertCounts
    ) throws -> UpsertCounts {
        do {
            return try writeMuch("registering devices") { connection in
                let counts = try body(connection)
                guard keeps else { throw DryRun(counts: counts) }
                return counts
            }
        } catch let end as DryRun {
            return end.counts
        }
    }

    @discardableResult
    package func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts {
        try write("registering devices", lock: .rows) { connection in
            var counts = UpsertCounts()
            var rest = devices[...]
            while let app = rest.first?.app {
                let batch = try RegistrationBatch(rest.prefix { $0.app == app }, of: app)
                counts += try register(batch, at: now, connection)
                rest = rest.dropFirst(batch.count)
            }
            return counts
        }
    }

    private func register(
        _ batch: RegistrationBatch, at now: Timestamp, _ connection: Connection
    ) throws -> UpsertCounts {
        var registrar = try Registrar(connection, batch.app, at: now, from: .registration)
        try registrar.register(batch)
        return try registrar.finish()
    }

    package func change(_ device: DeviceChange, of app: AppKey, at now: Timestamp) throws -> DeviceRecord? {
        try write("changing a device", lock: .rows) { connection in
            guard try self.device(app, token: device.token, connection) != nil else { return nil }
            var batch = RegistrationBatch(app: app)
            batch.append(device)
            try batch.checkTexts()
            _ = try register(batch, at: now, connection)
            return try self.device(app, token: device.token, connection)
        }
    }

    @discardableResult
    package func register(
        _ device: DeviceRegistration, replacing old: String, at now: Timestamp
    ) throws -> (isNew: Bool, replaced: DeviceReplacement) {
        let (new, old) = (device.app.platform.stored(device.token), device.app.platform.stored(old))
        precondition(new != old, "a token does not replace itself")
        let batch = try RegistrationBatch([device], of: device.app)
        return try write("registering a device anew", lock: .rows) { connection in
            var moment = now
            var replaced = DeviceReplacement.unknown
            let app = try AppTable.idMade(for: device.app, connection)
            let found = try lock(tokens: [new, old], of: app, connection)
            let there = found[new]
            var isNew = there?.isRemoved ?? true
            if let known = found[old], !known.isRemoved {
                if there == nil, try move(known.id, of: app, to: new, connection) {
                    moment = DeviceReplacement.moment(now, after: known.registered)
                    replaced = .moved
                } else {
                    // Another connection may have registered the new token since it was looked up.
                    if there == nil { isNew = false }
                    try remove(known, of: app, connection)
                    replaced = .removed
                }
            }
            _ = try register(batch, at: moment, connection)
            return (isNew, replaced)
        }
    }

    // MARK: Removing

    package func removeDevice(_ app: AppKey, token: String, by actor: Signature) throws -> Bool {
        let stored = app.platform.stored(token)
        return try write("removing a device", lock: .rows) { connection in
            try judge(actor, .device(app, token: stored), connection)
            guard let id = try AppTable.id(of: app, connection),
                let device = try device(app, token: token, connection),
                let locked = try lock(tokens: [stored], of: id, connection)[stored], !locked.isRemoved
            else { return false }
            try remove(locked, of: id, connection)
            try AuditTable.insert(.removal(of: device, by: actor), connection)
            return true
        }
    }

    private func remove(_ device: LockedDevice, of app: Int64, _ connection: Connection) throws {
        if let telephone = device.telephone { try remember(telephone, of: device.id, app, connection) }
        var tally = RegistryTally()
        try Self.remove(device.id, of: app, device.version, &tally, connection)
        try tally.store(connection)
    }

    /// Removes a device with its user, and everything that is known of its phone: the token's next phone may be another one.
    ///
    /// - Parameters:
    ///   - version: the device's.
    ///   - tally: the caller stores it.
    static func remove(
        _ device: Int64, of app: Int64, _ version: String?, _ tally: inout RegistryTally, _ connection: Connection
    ) throws {
        try connection.run(
            """
            UPDATE device SET \(DeviceField.forgotten.map { "\($0.sql) = NULL" }), retired_order = NULL,
                removed_at = \(connection.dialect.wallClock)
            WHERE app_id = ? AND id = ?
            """, app, device)
        tally.gained(-1, app: app)
        tally.left(version, app: app)
    }
}
