// SPDX-License-Identifier: Apache-2.0
import RelayStore
import StoreSQL

/// Apps as numbers.
enum AppTable {
    /// The app's number, or nil when nothing was ever stored for it.
    static func id(of app: AppKey, _ connection: SQLiteConnection) throws -> Int64? {
        try connection.integer("SELECT id FROM app WHERE name = ? AND platform = ?", app.app, app.platform)
    }

    /// The app's number, given to it now if it has none. Needs the writer.
    static func idMade(for app: AppKey, _ connection: SQLiteConnection) throws -> Int64 {
        if let id = try id(of: app, connection) { return id }
        try connection.run("INSERT INTO app (name, platform) VALUES (?, ?)", app.app, app.platform)
        return connection.lastInsertedRow
    }
}
