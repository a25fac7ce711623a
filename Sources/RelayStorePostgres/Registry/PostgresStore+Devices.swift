// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
import StoreSQL
import UpgradeRules

extension PostgresStore {
    @discardableResult
    package func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts {
        try write(.requests, "registering devices") { session in
            var counts = UpsertCounts()
            var rest = devices[...]
            while let app = rest.first?.app {
                let batch = try RegistrationBatch(rest.prefix { $0.app == app }, of: app)
                var registrar = try BatchRegistrar(session, app, at: now, from: .registration)
                try registrar.register(batch, 0..<batch.count)
                counts += try registrar.finish()
                rest = rest.dropFirst(batch.count)
            }
            return counts
        }
    }

    /// Devices of one transaction of an import: some tenths of a second. Nobody waits for it but who registers one of these.
    private static let most = 5000

    @discardableResult
    package func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts {
        try batch.checkTexts()
        var counts = UpsertCounts()
        for start in stride(from: 0, to: batch.count, by: Self.most) {
            let part = try transaction(keeps: !isDryRun) { session in
                var registrar = try BatchRegistrar(session, batch.app, at: now, from: .records)
                try registrar.register(batch, start..<min(start + Self.most, batch.count))
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
        keeps: Bool, _ body: (PostgresSession) throws -> UpsertCounts
    ) throws -> UpsertCounts {
        do {
            return try write(.long, "registering devices") { session in
                let counts = try body(session)
                guard keeps else { throw DryRun(counts: counts) }
                return counts
            }
        } catch let end as DryRun {
            return end.counts
        }
    }

    package func change(_ device: DeviceChange, of app: AppKey, at now: Timestamp) throws -> DeviceRecord? {
        try write(.requests, "changing a device") { session in
            guard try RegistryTable.device(app, token: device.token, session) != nil else { return nil }
            var batch = RegistrationBatch(app: app)
            batch.append(device)
            try batch.checkTexts()
            var registrar = try BatchRegistrar(session, app, at: now, from: .registration)
            try registrar.register(batch, 0..<1)
            _ = try registrar.finish()
            return try RegistryTable.device(app, token: device.token, session)
        }
    }

    package func device(_ app: AppKey, token: String) throws -> DeviceRecord? {
        try readOnce("looking for a device") { try RegistryTable.device(app, token: token, $0) }
    }

    package func devices(of app: AppKey, telephone: String, limit: Int) throws -> [DeviceRecord] {
        try readOnce("looking for a user's devices") { session in
            try session.all(
                RegistryTable.ofUser, app.app, app.platform, telephone, max(limit, 0), row: DeviceRecord.init)
        }
    }

    package func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("listing devices") { session in
            guard let app else {
                return try session.all(RegistryTable.page, after, max(limit, 0), row: DeviceRecord.init)
            }
            guard let id = try AppTable.id(of: app, session) else { return [] }
            return try session.all(RegistryTable.pageOfApp, id, after, max(limit, 0), row: DeviceRecord.init)
        }
    }

    package func removeDevice(_ app: AppKey, token: String, by actor: Signature) throws -> Bool {
        try write(.requests, "removing a device") { session in
            try judge(actor, .device(app, token: token), session)
            guard let id = try AppTable.id(of: app, session),
                let device = try RegistryTable.device(app, token: token, session),
                try RegistryTable.remove(PackedToken.packed(app.platform.stored(token).utf8), of: id, session)
            else { return false }
            try AuditTable.insert(.removal(of: device, by: actor), session)
            return true
        }
    }
}

/// The table `device`, away from the hot paths.
enum RegistryTable {
    private static let selection: SQL = "\(DeviceRecord.columns) FROM device AS d JOIN app AS a ON a.id = d.app_id"

    /// One device by app (?1), platform (?2) and token (?3).
    static let ofToken: SQL = """
        \(selection)
        WHERE d.digest = token_digest((SELECT id FROM app WHERE name = ?1 AND platform = ?2), ?3) AND d.removed_at IS NULL
        """

    /// Of one app (?1), platform (?2) and user (?3).
    static let ofUser: SQL = """
        \(selection)
        WHERE d.telephone = ?3 AND d.removed_at IS NULL AND a.name = ?1 AND a.platform = ?2
        ORDER BY d.registered_at DESC, d.id DESC LIMIT ?4
        """

    /// A page of one user's (?1) devices behind an id (?2), of every app.
    static let pageOfUser: SQL = """
        \(selection) WHERE d.telephone = ?1 AND d.removed_at IS NULL AND d.id > ?2 ORDER BY d.id LIMIT ?3
        """

    /// A page of devices behind an id, of every app.
    static let page: SQL = "\(selection) WHERE d.id > ? AND d.removed_at IS NULL ORDER BY d.id LIMIT ?"

    static let pageOfApp: SQL = "\(selection) WHERE \(behind) AND d.removed_at IS NULL ORDER BY d.app_id, d.id LIMIT ?3"

    /// The devices `d` of an app (?1) behind an id (?2), from the primary key: rows are compared, so that no other index can be taken, and
    /// that alone, for beside "app_id = ?1" the key is read from the app's first device on.
    static let behind: SQL = "(d.app_id, d.id) > (?1, ?2) AND (d.app_id, d.id) <= (?1, \(Int64.max))"

    /// A device by app (?1) and token (?2).
    static let find: SQL = """
        SELECT d.id, d.telephone, d.version, greatest(d.registered_at, coalesce(d.seen_at, d.registered_at)), d.os_version
        FROM device AS d WHERE d.digest = token_digest(?1, ?2)
        """

    /// The device with a token that is there.
    static func device(_ app: AppKey, token: String, _ session: PostgresSession) throws -> DeviceRecord? {
        try session.first(
            ofToken, app.app, app.platform, PackedToken.packed(app.platform.stored(token).utf8), row: DeviceRecord.init)
    }

    /// Removes the device with a packed token; false where there is none.
    static func remove(_ token: [UInt8], of app: Int64, _ session: PostgresSession) throws -> Bool {
        let device = try session.first(
            "\(find) AND d.app_id = ?1 AND d.removed_at IS NULL FOR UPDATE", app, token
        ) { ($0.integer(0), $0.optionalText(1), $0.optionalText(2)) }
        guard let (device, telephone, version) = device else { return false }
        if let telephone { try remember(telephone, of: device, app, session) }
        var tally = RegistryTally()
        try remove(device, of: app, version, &tally, session)
        try tally.store(session)
        return true
    }

    /// Removes a device with its user, and with what is known of its phone: whoever has the token next may have another. `tally` is to be
    /// stored.
    static func remove(
        _ id: Int64, of app: Int64, _ version: String?, _ tally: inout RegistryTally, _ session: PostgresSession
    ) throws {
        try session.run(
            """
            UPDATE device SET telephone = NULL, os_version = NULL, country = NULL, removed_at = now_ms(), retired_order = NULL
            WHERE app_id = ? AND id = ?
            """, app, id)
        tally.gained(-1, app: app)
        tally.left(version, app: app)
    }

    /// Keeps a telephone that a device is losing, so that the user's pushes are found later. Where the app has no
    /// campaign whose deliveries can be asked for there is nothing to find, and the telephone is gone.
    static func remember(_ telephone: String, of device: Int64, _ app: Int64, _ session: PostgresSession) throws {
        try session.run(
            """
            INSERT INTO former_telephone (telephone, app_id, device_id)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT FROM campaign WHERE app_id = ?2 AND pruned_at IS NULL)
            ON CONFLICT DO NOTHING
            """, telephone, app, device)
    }
}
