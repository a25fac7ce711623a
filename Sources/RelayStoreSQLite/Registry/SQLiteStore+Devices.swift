// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
package import StoreSQL
import Telemetry
import UpgradeRules

extension SQLiteStore {
    @discardableResult
    package func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts {
        try write("registering devices") { connection in
            var registrar = try Registrar(connection, at: now, from: .registration)
            var rest = devices[...]
            while let app = rest.first?.app {
                let batch = try RegistrationBatch(rest.prefix { $0.app == app }, of: app)
                _ = try registrar.register(batch, DeviceTable.keys(of: batch)[...], untilWork: .max)
                rest = rest.dropFirst(batch.count)
            }
            return try registrar.finish()
        }
    }

    /// The work (`Registrar.work`) that is done before it is looked whether somebody else wants to write, and the least of a
    /// transaction: about 2 and 10 ms. Not in devices: one that comes up to all that was required in years costs as much as
    /// hundreds.
    private static let step = 250
    static let least = 1000

    @discardableResult
    package func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts {
        // Before anybody is made to wait.
        try batch.checkTexts()
        let order = DeviceTable.orderByHash(batch)
        var counts = UpsertCounts()
        var place = 0
        while place < order.count {
            let first = place
            let part = try transaction(keeps: !isDryRun) { connection in
                var registrar = try Registrar(connection, at: now, from: .records)
                repeat {
                    let limit = place == first ? Self.least : registrar.work + Self.step
                    place = try registrar.register(batch, order[place...], untilWork: limit)
                    pulse.beat()
                } while place < order.count && !isWriterWanted
                return try registrar.finish()
            }
            counts += part
            stored(part)
        }
        return counts
    }

    /// Thrown out of a transaction, so that it is rolled back.
    private struct DryRun: Error {
        var counts: UpsertCounts
    }

    private func transaction(
        keeps: Bool, _ body: (SQLiteConnection) throws -> UpsertCounts
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

    package func change(_ device: DeviceChange, of app: AppKey, at now: Timestamp) throws -> DeviceRecord? {
        try write("changing a device") { connection in
            guard try DeviceTable.device(app, token: device.token, connection) != nil else { return nil }
            var batch = RegistrationBatch(app: app)
            batch.append(device)
            try batch.checkTexts()
            var registrar = try Registrar(connection, at: now, from: .registration)
            _ = try registrar.register(batch, DeviceTable.keys(of: batch)[...], untilWork: .max)
            _ = try registrar.finish()
            return try DeviceTable.device(app, token: device.token, connection)
        }
    }

    package func device(_ app: AppKey, token: String) throws -> DeviceRecord? {
        try readOnce("looking for a device") { try DeviceTable.device(app, token: token, $0) }
    }

    package func devices(of app: AppKey, telephone: String, limit: Int) throws -> [DeviceRecord] {
        try read("looking for a user's devices") { connection in
            try connection.all(
                DeviceTable.ofUser, app.app, app.platform, telephone, max(limit, 0), row: DeviceRecord.init)
        }
    }

    package func removeDevice(_ app: AppKey, token: String, by actor: Signature) throws -> Bool {
        let token = app.platform.stored(token)
        return try write("removing a device") { connection in
            try judge(actor, .device(app, token: token), connection)
            guard let appID = try AppTable.id(of: app, connection),
                let device = try DeviceTable.device(app, token: token, connection),
                try DeviceTable.remove(token, of: appID, connection)
            else { return false }
            try AuditTable.insert(.removal(of: device, by: actor), connection)
            return true
        }
    }

    package func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("listing devices") { connection in
            guard let app else {
                return try connection.all(DeviceTable.page, after, max(limit, 0), row: DeviceRecord.init)
            }
            guard let appID = try AppTable.id(of: app, connection) else { return [] }
            return try connection.all(DeviceTable.pageOfApp, appID, after, max(limit, 0), row: DeviceRecord.init)
        }
    }
}

/// The table `device`, away from the hot paths.
package enum DeviceTable {
    /// CROSS JOIN keeps the left table in the outer loop (sqlite.org/optoverview.html, on manual control of query plans).
    /// Left to itself the planner begins with the app and then goes through all of its devices: 146 ms among a million.
    private static let selection: SQL = "\(DeviceRecord.columns) FROM device AS d CROSS JOIN app AS a"

    /// One device by app (?1), platform (?2), token (?3) and the token's hash (?4).
    package static let find: SQL = """
        \(selection)
        WHERE d.token_hash = ?4 AND d.token = ?3 AND d.removed_at IS NULL AND a.id = d.app_id AND a.name = ?1
            AND a.platform = ?2
        """

    /// The device with a token that is there.
    static func device(_ app: AppKey, token: String, _ connection: SQLiteConnection) throws -> DeviceRecord? {
        let token = app.platform.stored(token)
        return try connection.first(find, app.app, app.platform, token, hash(token), row: DeviceRecord.init)
    }

    /// The devices of one app (?1), platform (?2) and user (?3).
    package static let ofUser: SQL = """
        \(selection)
        WHERE d.telephone = ?3 AND d.removed_at IS NULL AND a.id = d.app_id AND a.name = ?1 AND a.platform = ?2
        ORDER BY d.registered_at DESC, d.id DESC LIMIT ?4
        """

    /// A page of one user's (?1) devices behind an id (?2), of every app.
    package static let pageOfUser: SQL = """
        \(DeviceRecord.columns) FROM device AS d INDEXED BY device_telephone CROSS JOIN app AS a
        WHERE d.telephone = ?1 AND d.removed_at IS NULL AND d.id > ?2 AND a.id = d.app_id ORDER BY d.id LIMIT ?3
        """

    /// A page of devices behind an id, of every app.
    package static let page: SQL = """
        \(selection)
        WHERE a.id = d.app_id AND d.id > ? AND d.removed_at IS NULL ORDER BY d.id LIMIT ?
        """

    /// The same of one app. An app with few devices among many of others is quicker by the index of the living.
    package static let pageOfApp: SQL = """
        \(DeviceRecord.columns) FROM device AS d INDEXED BY device_live CROSS JOIN app AS a
        WHERE d.app_id = ? AND d.removed_at IS NULL AND d.id > ? AND a.id = d.app_id ORDER BY d.id LIMIT ?
        """

    /// The environment under which the shards of the app's campaign have a device.
    static let plannedEnvironment = ListedDevice.plannedEnvironment

    /// Devices of an app (?) that are not removed, in id order and from an index alone; and those of them that are of the
    /// sandbox.
    static let live: SQL = "FROM device INDEXED BY device_live WHERE app_id = ? AND removed_at IS NULL"
    static let sandbox: SQL = """
        FROM device INDEXED BY device_sandbox WHERE app_id = ? AND removed_at IS NULL AND \(plannedEnvironment) = 1
        """

    /// Gives a device (?2) another environment (?1). The shards of its app's campaign go on having it where they had it.
    static let changeEnvironment: SQL = """
        UPDATE device SET environment = ?1, planned_environment = \(plannedEnvironment) WHERE id = ?2 AND environment <> ?1
        """

    /// The condition for a device by app (?1), token (?2) and the token's hash (?3).
    package static let isToken: SQL = "WHERE token_hash = ?3 AND +app_id = ?1 AND token = ?2"

    /// The version of a device that is there, by the same.
    static let version: SQL = """
        SELECT version, id, os_version, max(registered_at, coalesce(seen_at, registered_at)) FROM device
        \(isToken) AND removed_at IS NULL
        """

    /// The key of the index over tokens: 64 bits of FNV-1a. It is stored, so it may never change. A collision costs a
    /// comparison, no more; who could make them on purpose has the right to register devices.
    static func hash(_ token: UnsafeRawBufferPointer) -> Int64 {
        unsafe Int64(bitPattern: FNV1a.hash(token))
    }

    static func hash(_ token: String) -> Int64 {
        var token = token
        return token.withUTF8 { unsafe hash(UnsafeRawBufferPointer($0)) }
    }

    /// A row of a batch and its key in the index over tokens.
    struct Keyed {
        var hash: Int64
        var row: Int32
    }

    /// The rows of a batch in the order of the index over tokens, those of the same token in the order in which they came.
    ///
    /// The keys are random: in a registry of a million each of a thousand devices dirties a page of its own, 4 KiB in the log
    /// and 4 KiB in the file for 14 bytes. Tens of thousands in the index's order pass through it once, from page to page.
    static func orderByHash(_ batch: RegistrationBatch) -> [Keyed] {
        keys(of: batch).sorted { $0.hash == $1.hash ? $0.row < $1.row : $0.hash < $1.hash }
    }

    /// The rows of a batch in their own order.
    static func keys(of batch: RegistrationBatch) -> [Keyed] {
        let bytes = batch.bytes
        return unsafe bytes.withUnsafeBytes { bytes in
            batch.rows.indices.map { row in
                let token = batch.rows[row].token
                let hash = unsafe hash(UnsafeRawBufferPointer(rebasing: bytes[token.range]))
                return Keyed(hash: hash, row: Int32(truncatingIfNeeded: row))
            }
        }
    }

    /// Removes the device with a token, as it is stored; false where there is none.
    static func remove(_ token: String, of app: Int64, _ connection: SQLiteConnection) throws -> Bool {
        let device = try connection.first(
            "SELECT id, telephone, version FROM device \(isToken) AND removed_at IS NULL", app, token, hash(token)
        ) { ($0.integer(0), $0.optionalText(1), $0.version(2)) }
        guard let (id, telephone, version) = device else { return false }
        if let telephone { try remember(telephone, of: id, app, connection) }
        var seen = SeenTally()
        try remove(id, of: app, version, &seen, connection)
        try seen.store(connection)
        return true
    }

    /// Removes a device with its user, and with what is known of its phone: whoever has the token next may have another. `seen` is to be
    /// stored.
    static func remove(
        _ id: Int64, of app: Int64, _ version: Version?, _ seen: inout SeenTally, _ connection: SQLiteConnection
    ) throws {
        try connection.run(
            """
            UPDATE device SET telephone = NULL, os_version = NULL, country = NULL, retired_order = NULL,
                removed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) WHERE id = ?
            """, id)
        try connection.run("UPDATE app SET devices = max(devices - 1, 0) WHERE id = ?", app)
        seen.left(version, app: app)
    }

    /// Keeps a telephone that a device is losing, so that the user's pushes are found later. Where the app has no
    /// campaign whose deliveries can be asked for there is nothing to find, and the telephone is gone.
    static func remember(_ telephone: String, of device: Int64, _ app: Int64, _ connection: SQLiteConnection) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO former_telephone (telephone, device_id)
            SELECT ?, ? WHERE EXISTS (SELECT 1 FROM campaign WHERE app_id = ? AND pruned_at IS NULL)
            """, telephone, device, app)
    }
}
