// SPDX-License-Identifier: Apache-2.0
package import Requirements

/// The table `app`, which numbers the apps.
package enum AppTable {
    /// The app's number, or nil when nothing was ever stored for it.
    package static func id(of app: AppKey, _ connection: some SQLConnection) throws -> Int64? {
        try connection.integer("SELECT id FROM app WHERE name = ? AND platform = ?", app.app, app.platform)
    }

    /// The number of its devices, which the relay keeps: nothing is scanned. In PostgreSQL it is a function of the row.
    package static func devices(of app: AppKey, _ connection: some SQLConnection) throws -> Int64 {
        try connection.integer(
            "SELECT a.devices FROM app AS a WHERE a.name = ? AND a.platform = ?", app.app, app.platform) ?? 0
    }

    /// The app's number, given to it now if it has none. Needs the writer.
    package static func idMade(for app: AppKey, _ connection: some SQLConnection) throws -> Int64 {
        if let id = try id(of: app, connection) { return id }
        let made = try connection.insert(
            "INSERT INTO app (name, platform) VALUES (?, ?) ON CONFLICT (name, platform) DO NOTHING RETURNING id",
            app.app,
            app.platform)
        // Another writer may have been faster.
        return try made != 0 ? made : id(of: app, connection) ?? 0
    }

    /// Every app that anything was ever stored for, ascending by number.
    package static func all(_ connection: some SQLConnection) throws -> [(id: Int64, key: AppKey)] {
        try connection.all("SELECT id, name, platform FROM app ORDER BY id") { row in
            (id: row.integer(), key: row.app())
        }
    }
}
