// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import UpgradeRules

extension SQLiteStore {
    @discardableResult
    package func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts {
        try write("registering devices") { connection in
            var registrar = try Registrar(connection, at: now)
            for device in devices { try registrar.register(device) }
            return try registrar.finish()
        }
    }

    package func device(_ app: AppKey, token: String) throws -> DeviceRecord? {
        try readOnce("looking for a device") { connection in
            try connection.first(
                """
                \(DeviceTable.selection)
                WHERE a.name = ? AND a.platform = ? AND d.app_id = a.id AND d.token = ? AND d.removed_at IS NULL
                """, .text(app.app), .text(app.platform.rawValue), .text(DeviceTable.token(token, app.platform)),
                row: DeviceTable.record)
        }
    }

    package func removeDevice(_ app: AppKey, token: String) throws -> Bool {
        try write("removing a device") { connection in
            guard let appID = try AppTable.id(of: app, connection) else { return false }
            let device = try connection.first(
                "SELECT id, telephone FROM device WHERE app_id = ? AND token = ? AND removed_at IS NULL",
                .integer(appID), .text(DeviceTable.token(token, app.platform))
            ) { ($0.integer(0), $0.optionalText(1)) }
            guard let (id, telephone) = device else { return false }
            if let telephone {
                try DeviceTable.remember(telephone, of: id, appID, connection)
            }
            try connection.run(
                """
                UPDATE device SET telephone = NULL,
                    removed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) WHERE id = ?
                """, .integer(id))
            try connection.run("UPDATE app SET devices = max(devices - 1, 0) WHERE id = ?", .integer(appID))
            return true
        }
    }

    package func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("listing devices") { connection in
            guard let app else {
                return try connection.all(
                    """
                    \(DeviceTable.selection)
                    WHERE a.id = d.app_id AND d.id > ? AND d.removed_at IS NULL ORDER BY d.id LIMIT ?
                    """, .integer(after), .integer(max(limit, 0)), row: DeviceTable.record)
            }
            guard let appID = try AppTable.id(of: app, connection) else { return [] }
            return try connection.all(
                """
                \(DeviceTable.selection)
                WHERE a.id = d.app_id AND +d.app_id = ? AND d.id > ? AND d.removed_at IS NULL ORDER BY d.id LIMIT ?
                """, .integer(appID), .integer(after), .integer(max(limit, 0)), row: DeviceTable.record)
        }
    }

    @discardableResult
    package func sawVersion(_ version: Version, app: AppKey, token: String, at now: Timestamp) throws -> Bool {
        let token = DeviceTable.token(token, app.platform)
        // Most logins bring no news, and none must wait for the writer or for the disk then.
        let known = try readOnce("looking for a device") { connection in
            try connection.first(
                """
                SELECT d.version FROM app AS a CROSS JOIN device AS d
                WHERE a.name = ? AND a.platform = ? AND d.app_id = a.id AND d.token = ? AND d.removed_at IS NULL
                """, .text(app.app), .text(app.platform.rawValue), .text(token)
            ) { $0.optionalText(0) }
        }
        guard let known else { return false }
        if known == version.text { return true }
        return try write("storing a device's version") { connection in
            guard let appID = try AppTable.id(of: app, connection) else { return false }
            let device = try connection.first(
                "SELECT id, version FROM device WHERE app_id = ? AND token = ? AND removed_at IS NULL",
                .integer(appID), .text(token)
            ) { ($0.integer(0), $0.version(1)) }
            guard let (id, old) = device else { return false }
            try connection.run("UPDATE device SET version = ? WHERE id = ?", .version(version), .integer(id))
            var upgrades = UpgradeTally()
            try upgrades.saw(version, after: old, device: id, app: appID, connection)
            try upgrades.store(connection)
            return true
        }
    }

    /// Reads in batches, each of its own moment: a dry run over millions must not hold on to one snapshot, for the log
    /// could not be emptied meanwhile (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files").
    package func survey(_ app: AppKey, judge: (DeviceRow, borrowing DeviceRows) -> FilterReason?) throws
        -> AudienceSurvey
    {
        var survey = AudienceSurvey()
        var rows = DeviceRows()
        var after: Int64 = 0
        repeat {
            try readDevices(app, after: after, through: .max, limit: 4096, into: &rows)
            for row in rows.rows {
                survey.audience += 1
                if let reason = judge(row, rows) { survey.filteredBy[reason, default: 0] += 1 }
                after = row.id
            }
        } while !rows.isEmpty
        return survey
    }
}

/// The table `device`, away from the hot paths.
enum DeviceTable {
    static let selection = """
        SELECT d.id, a.name, a.platform, d.token, d.telephone, d.version, d.environment, d.registered_at, d.retired_at
        FROM device AS d JOIN app AS a
        """

    static func record(_ row: Statement) -> DeviceRecord {
        DeviceRecord(
            id: row.integer(0),
            registration: DeviceRegistration(
                app: AppKey(app: row.text(1), platform: row.platform(2)), token: row.text(3),
                telephone: row.optionalText(4), version: row.version(5),
                environment: PushEnvironment(rawValue: UInt8(truncatingIfNeeded: row.integer(6))) ?? .production),
            registeredAt: row.time(7), retiredAt: row.optionalTime(8))
    }

    /// A token as it is stored: on iOS in lower case, for it is hex there.
    static func token(_ token: String, _ platform: Platform) -> String {
        guard platform == .ios, token.utf8.contains(where: isUpperCase) else { return token }
        return String(decoding: token.utf8.map { isUpperCase($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    /// Keeps a telephone that a device is losing, so that the user's pushes are found later. Where the app never had a
    /// campaign there is nothing to find, and the telephone is gone.
    static func remember(_ telephone: String, of device: Int64, _ app: Int64, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO former_telephone (telephone, device_id)
            SELECT ?, ? WHERE EXISTS (SELECT 1 FROM campaign WHERE app_id = ?)
            """, .text(telephone), .integer(device), .integer(app))
    }
}
