// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Requirements
import UpgradeRules

/// Lists of registered devices, as the API pages through them.
package enum DeviceList {
    /// The left table stays the outer loop. SQLite's planner would otherwise begin with the app and then go through all of
    /// its devices: 146 ms among a million.
    private static func selection(_ dialect: SQLDialect, by index: SQL? = nil) -> SQL {
        """
        SELECT \(DeviceRecord.columns) FROM device AS d \(index.map(dialect.indexed) ?? "") \(dialect.join) app AS a ON a.id = d.app_id
        """
    }

    /// The devices of one app (?1), platform (?2) and user (?3).
    package static func ofUser(_ dialect: SQLDialect) -> SQL {
        """
        \(selection(dialect)) WHERE d.telephone = ?3 AND d.removed_at IS NULL AND a.name = ?1 AND a.platform = ?2
        ORDER BY d.registered_at DESC, d.id DESC LIMIT ?4
        """
    }

    /// A page of one user's (?1) devices behind an id (?2), of every app.
    package static func pageOfUser(_ dialect: SQLDialect) -> SQL {
        """
        \(selection(dialect, by: "device_telephone"))
        WHERE d.telephone = ?1 AND d.removed_at IS NULL AND d.id > ?2 ORDER BY d.id LIMIT ?3
        """
    }

    /// A page of devices behind an id, of every app.
    package static func page(_ dialect: SQLDialect) -> SQL {
        "\(selection(dialect)) WHERE d.id > ? AND d.removed_at IS NULL ORDER BY d.id LIMIT ?"
    }

    /// The same for one app (?1). An app with few devices among many others is quicker by the index of its registered ones.
    package static func pageOfApp(_ dialect: SQLDialect) -> SQL {
        """
        \(selection(dialect, by: "device_live")) WHERE \(behind(dialect)) AND d.removed_at IS NULL
        ORDER BY d.app_id, d.id LIMIT ?3
        """
    }

    /// The devices `d` of an app (?1) behind an id (?2). PostgreSQL reads them from the primary key: the comparison of rows
    /// allows no other index. It stands alone, since with "app_id = ?1" beside it the key is read from the app's first device on.
    package static func behind(_ dialect: SQLDialect) -> SQL {
        dialect == .sqlite
            ? "d.app_id = ?1 AND d.id > ?2" : "(d.app_id, d.id) > (?1, ?2) AND (d.app_id, d.id) <= (?1, \(Int64.max))"
    }
}

extension RegistrySQL {
    package func device(_ app: AppKey, token: String) throws -> DeviceRecord? {
        try readOnce("looking for a device") { try device(app, token: token, $0) }
    }

    package func devices(of app: AppKey, telephone: String, limit: Int) throws -> [DeviceRecord] {
        try readOnce("looking for a user's devices") { connection in
            try connection.all(
                DeviceList.ofUser(connection.dialect), app.app, app.platform, telephone, max(limit, 0)
            ) { DeviceRecord.read(&$0) }
        }
    }

    package func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("listing devices") { connection in
            let dialect = connection.dialect
            guard let app else {
                return try connection.all(DeviceList.page(dialect), after, max(limit, 0)) { DeviceRecord.read(&$0) }
            }
            guard let id = try AppTable.id(of: app, connection) else { return [] }
            return try connection.all(
                DeviceList.pageOfApp(dialect), id, after, max(limit, 0)
            ) { DeviceRecord.read(&$0) }
        }
    }

    package func devices(telephone: String?, token: String?, after: Int64, limit: Int) throws -> [DeviceRecord] {
        try read("looking for a user's devices") { connection in
            guard let token else {
                guard let telephone else { return [] }
                return try connection.all(
                    DeviceList.pageOfUser(connection.dialect), telephone, after, max(limit, 0)
                ) { DeviceRecord.read(&$0) }
            }
            // At most one in each app.
            let found = try AppTable.all(connection).compactMap { try device($0.key, token: token, connection) }
            return found.sorted { $0.id < $1.id }.filter {
                $0.id > after
                    && (telephone == nil || TelephoneRule.matches($0.registration.telephone, telephone))
            }
            .prefix(max(limit, 0)).map(\.self)
        }
    }

    /// The device of a token in each app that has it, removed ones too, ascending by id.
    package func devices(token: String, _ connection: Connection) throws -> [ListedDevice] {
        try AppTable.all(connection).compactMap { app, key in
            try listed(token: key.platform.stored(token), of: app, connection)
        }.sorted { $0.id < $1.id }
    }
}
