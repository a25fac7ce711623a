// SPDX-License-Identifier: Apache-2.0
import Registry
package import RelayEngine
package import RelayStore
package import Requirements
package import StoreSQL
import Synchronization
import Telemetry
import UpgradeRules

extension SQLiteStore {
    package typealias Registrar = RelayStoreSQLite.Registrar

    /// The work (`Registrar.work`) between two checks whether another caller waits for the writer, and the least work
    /// of a transaction: about 2 and 10 ms. Not counted in devices: one that reaches the requirements of many years
    /// costs as much as hundreds.
    private static let step = 250
    static let least = 1000

    @discardableResult
    package func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts {
        // Before any caller has to wait.
        try batch.checkTexts()
        var walk = ImportWalk(byHash: DeviceTable.orderByHash(batch), least: options.walkedBatch)
        var counts = UpsertCounts()
        while !walk.isOver {
            let part = try importing(keeps: !isDryRun) { connection in
                var registrar = try Registrar(connection, at: now, from: .records)
                var limit = Self.least
                repeat {
                    try registrar.register(batch, &walk, untilWork: limit)
                    limit = registrar.work + Self.step
                    pulse.beat()
                } while !walk.isOver && !isWriterWanted
                return try registrar.finish()
            }
            counts += part
            stored(part)
        }
        return counts
    }

    // MARK: Hooks of the registry

    package func device(_ app: AppKey, token: String, _ connection: SQLiteConnection) throws -> DeviceRecord? {
        let token = app.platform.stored(token)
        return try connection.first(
            DeviceTable.find, app.app, app.platform, token, DeviceTable.hash(token)
        ) { DeviceRecord.read(&$0) }
    }

    package func listed(token: String, of app: Int64, _ connection: SQLiteConnection) throws -> ListedDevice? {
        try connection.first(
            ListedDevice.self, "FROM device \(DeviceTable.isToken)", app, token, DeviceTable.hash(token)
        )
    }

    /// Locks nothing: the one writer has all devices to itself.
    package func lock(
        tokens: [String], of app: Int64, _ connection: SQLiteConnection
    ) throws -> [String: LockedDevice] {
        var devices: [String: LockedDevice] = [:]
        for token in tokens {
            devices[token] = try connection.first(
                LockedDevice.self, "FROM device \(DeviceTable.isToken)", app, token,
                DeviceTable.hash(token)
            )
        }
        return devices
    }

    package func lock(devicesOf telephone: String, _ connection: SQLiteConnection) throws {}

    package func move(
        _ device: Int64, of app: Int64, to token: String, _ connection: SQLiteConnection
    ) throws -> Bool {
        try connection.run(
            "UPDATE device SET token = ?, token_hash = ? WHERE id = ?", token, DeviceTable.hash(token), device)
        return true
    }

    package func remember(
        _ telephone: String, of device: Int64, _ app: Int64, _ connection: SQLiteConnection
    ) throws {
        try DeviceTable.remember(telephone, of: device, app, connection)
    }

    package func forgetOnItsWay(to devices: [Int64], _ connection: SQLiteConnection) throws {
        let now = options.ticks()
        erased.withLock { erased in
            // A push that was on its way longer ago has been recorded.
            erased = erased.filter { now - $0.value < .seconds(3600) }
            for device in devices { erased[device] = now }
        }
    }
}

/// The table `device`, away from the hot paths.
package enum DeviceTable {
    /// One device by app (?1), platform (?2), token (?3) and the token's hash (?4).
    package static let find: SQL = """
        SELECT \(DeviceRecord.columns) FROM device AS d CROSS JOIN app AS a
        WHERE d.token_hash = ?4 AND d.token = ?3 AND d.removed_at IS NULL AND a.id = d.app_id AND a.name = ?1
            AND a.platform = ?2
        """

    /// The environment in which the shards of the app's campaign count a device.
    static let plannedEnvironment = ListedDevice.plannedEnvironment

    /// Gives a device (?2) another environment (?1). The shards of the app's campaign go on counting it in the
    /// environment that it had.
    static let changeEnvironment: SQL = """
        UPDATE device SET environment = ?1, planned_environment = \(plannedEnvironment) WHERE id = ?2 AND environment <> ?1
        """

    /// The condition for a device by app (?1), token (?2) and the token's hash (?3).
    package static let isToken: SQL = "WHERE token_hash = ?3 AND +app_id = ?1 AND token = ?2"

    /// The fields of a registered device that a login is compared with, by the same parameters.
    static let seen: SQL = "SELECT \(SeenDevice.columns) FROM device \(isToken) AND removed_at IS NULL"

    /// The key of the index over tokens: 64 bits of FNV-1a. It is stored, so it must never change. A collision costs a
    /// comparison, no more; only a client with the right to register devices could make one on purpose.
    static func hash(_ token: UnsafeRawBufferPointer) -> Int64 {
        unsafe Int64(bitPattern: FNV1a.hash(token))
    }

    /// The hash of the token of a batch's row.
    @unsafe static func hash(of row: RegistrationBatch.Row, of bytes: UnsafeRawBufferPointer) -> Int64 {
        unsafe hash(UnsafeRawBufferPointer(rebasing: bytes[row.token.range]))
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
                Keyed(
                    hash: unsafe hash(of: batch.rows[row], of: bytes), row: Int32(truncatingIfNeeded: row))
            }
        }
    }

    /// Keeps a telephone that a device is losing, so that the user's pushes are found later. Where the app has no campaign
    /// whose deliveries can be asked for, a search would find nothing, and the telephone is not kept.
    static func remember(_ telephone: String, of device: Int64, _ app: Int64, _ connection: SQLiteConnection) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO former_telephone (telephone, device_id)
            SELECT ?, ? WHERE EXISTS (SELECT 1 FROM campaign WHERE app_id = ? AND pruned_at IS NULL)
            """, telephone, device, app)
    }
}
