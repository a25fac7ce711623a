// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL
import UpgradeRules

extension PostgresStore {
    package typealias Registrar = BatchRegistrar

    /// The most devices in one transaction of an import, which takes some tenths of a second. Only a caller that
    /// registers one of these devices waits for it. Its rows come in the order of the index over digests, so that with more
    /// of them more share its pages: 5,000 cost the server a fifth more a device, 50,000 save nothing.
    private static let most = 20_000

    @discardableResult
    package func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts {
        try batch.checkTexts()
        var counts = UpsertCounts()
        for start in stride(from: 0, to: batch.count, by: Self.most) {
            let part = try importing(keeps: !isDryRun) { session in
                var registrar = try BatchRegistrar(session, batch.app, at: now, from: .records)
                try registrar.register(batch, start..<min(start + Self.most, batch.count))
                return try registrar.finish()
            }
            counts += part
            stored(part)
        }
        return counts
    }

    // MARK: Hooks of the registry

    package func writeMuch<R: Sendable>(_ doing: String, _ body: (PostgresSession) throws -> R) throws -> R {
        try write(.long, doing, body)
    }

    package func device(_ app: AppKey, token: String, _ session: PostgresSession) throws -> DeviceRecord? {
        try session.first(
            RegistryTable.ofToken, app.app, app.platform, PackedToken.packed(app.platform.stored(token).utf8)
        ) { DeviceRecord.read(&$0) }
    }

    package func listed(token: String, of app: Int64, _ session: PostgresSession) throws -> ListedDevice? {
        try session.first(
            ListedDevice.self, "FROM device WHERE digest = token_digest(?, ?)", app,
            PackedToken.packed(token.utf8)
        )
    }

    /// Locks devices in the order of their digests, as imports do.
    package func lock(tokens: [String], of app: Int64, _ session: PostgresSession) throws -> [String: LockedDevice] {
        let found = try session.run(Self.lockTokens) { values in
            values.add(app)
            values.add(tokens.map { Optional(PackedToken.packed($0.utf8)) })
        }
        var devices: [String: LockedDevice] = [:]
        for row in 0..<found.count {
            devices[tokens[Int(found.integer(row, 0)) - 1]] = LockedDevice(
                id: found.integer(row, 1), telephone: found.optionalText(row, 2), version: found.optionalText(row, 3),
                isRemoved: found.integer(row, 4) == 1, registered: Timestamp(milliseconds: found.integer(row, 5)))
        }
        return devices
    }

    static let lockTokens = PostgresStatement(
        """
        SELECT n.place, d.id, d.telephone, d.version, CASE WHEN d.removed_at IS NULL THEN 0 ELSE 1 END, d.registered_at
        FROM unnest($2) WITH ORDINALITY AS n (token, place) JOIN device AS d ON d.digest = token_digest($1, n.token)
        ORDER BY d.digest FOR UPDATE OF d
        """)

    package func lock(devicesOf telephone: String, _ session: PostgresSession) throws {
        _ = try session.all(
            "SELECT id FROM device WHERE telephone = ? ORDER BY digest FOR UPDATE", telephone
        ) { $0.integer() }
    }

    package func move(_ device: Int64, of app: Int64, to token: String, _ session: PostgresSession) throws -> Bool {
        let (connection, deadline) = (session.connection, session.deadline)
        try connection.execute("SAVEPOINT move", until: deadline)
        do {
            try session.run(
                "UPDATE device SET token = ?3, digest = token_digest(?1, ?3) WHERE app_id = ?1 AND id = ?2", app,
                device, PackedToken.packed(token.utf8))
        } catch let failure as PostgresFailure where failure.state == "23505" {
            try connection.execute("ROLLBACK TO move", until: deadline)
            return false
        }
        try connection.execute("RELEASE move", until: deadline)
        return true
    }

    package func remember(_ telephone: String, of device: Int64, _ app: Int64, _ session: PostgresSession) throws {
        try session.run(
            """
            INSERT INTO former_telephone (telephone, app_id, device_id)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT FROM campaign WHERE app_id = ?2 AND pruned_at IS NULL)
            ON CONFLICT DO NOTHING
            """, telephone, app, device)
    }

    /// Records the devices for `CommitWriter`.
    package func forgetOnItsWay(to devices: [Int64], _ session: PostgresSession) throws {
        for device in devices {
            try session.run(
                """
                INSERT INTO erased_device (device_id, at) VALUES (?, now_ms())
                ON CONFLICT (device_id) DO UPDATE SET at = excluded.at
                """, device)
        }
    }
}

/// The table `device`, away from the hot paths.
enum RegistryTable {
    /// One device by app (?1), platform (?2) and token (?3).
    static let ofToken: SQL = """
        SELECT \(DeviceRecord.columns) FROM device AS d JOIN app AS a ON a.id = d.app_id
        WHERE d.digest = token_digest((SELECT id FROM app WHERE name = ?1 AND platform = ?2), ?3) AND d.removed_at IS NULL
        """

    /// The fields of a device by app (?1) and token (?2) that a login is compared with.
    static let seen: SQL = """
        SELECT \(SeenDevice.columns) FROM device WHERE digest = token_digest(?1, ?2) AND app_id = ?1
        """
}
