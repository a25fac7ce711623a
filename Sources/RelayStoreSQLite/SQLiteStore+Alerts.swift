// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

extension SQLiteStore {
    package func alert(of app: AppKey, at now: Timestamp) throws -> AlertRecord? {
        try readOnce("reading an alert") { connection in
            try connection.first(
                "\(Self.alertSelection) AND app = ? AND platform = ?", .time(now), .text(app.app),
                .text(app.platform.rawValue), row: Self.alert)
        }
    }

    package func alerts(at now: Timestamp) throws -> [AlertRecord] {
        try readOnce("reading the alerts") { connection in
            try connection.all("\(Self.alertSelection) ORDER BY app, platform", .time(now), row: Self.alert)
        }
    }

    package func setAlert(_ alert: AlertRecord) throws {
        try write("storing an alert") { connection in
            try connection.run("DELETE FROM alert WHERE ends_at <= ?", .time(alert.createdAt))
            try connection.run(
                """
                INSERT OR REPLACE INTO alert (app, platform, message, blocking, ends_at, created_at, created_by)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, .text(alert.app.app), .text(alert.app.platform.rawValue), .text(alert.message),
                .integer(alert.isBlocking ? 1 : 0), alert.endsAt.map { .time($0) } ?? .null, .time(alert.createdAt),
                .text(alert.createdBy))
        }
    }

    package func clearAlert(of app: AppKey, at now: Timestamp) throws -> Bool {
        try write("clearing an alert") { connection in
            try connection.run("DELETE FROM alert WHERE ends_at <= ?", .time(now))
            return try connection.run(
                "DELETE FROM alert WHERE app = ? AND platform = ?", .text(app.app), .text(app.platform.rawValue)) > 0
        }
    }

    /// Those that have not ended at ?1.
    private static let alertSelection: SQL = """
        SELECT app, platform, message, blocking, ends_at, created_at, created_by FROM alert
        WHERE coalesce(ends_at > ?1, 1)
        """

    private static func alert(_ row: Statement) -> AlertRecord {
        AlertRecord(
            app: AppKey(app: row.text(0), platform: row.platform(1)), message: row.text(2),
            isBlocking: row.integer(3) == 1, endsAt: row.optionalTime(4), createdAt: row.time(5),
            createdBy: row.text(6))
    }
}
