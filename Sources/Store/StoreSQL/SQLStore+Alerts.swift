// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func alert(of app: AppKey, at now: Timestamp) throws -> AlertRecord? {
        try readOnce("reading an alert") { connection in
            try AlertRecord.first(of: app, at: now, connection)
        }
    }

    package func alerts(at now: Timestamp) throws -> [AlertRecord] {
        try readOnce("reading the alerts") { connection in
            try connection.all(AlertRecord.self, "\(lastingAlerts) ORDER BY app, platform", now)
        }
    }

    package func setAlert(_ alert: AlertRecord, by actor: Principal) throws {
        try StoreText.check(keys: alert.app.app)
        let signature = Signature(by: actor, at: alert.createdAt)
        try write("storing an alert", lock: .rows) { connection in
            try judge(signature, .alert(alert.app), connection)
            try connection.run("DELETE FROM alert WHERE ends_at <= ?", alert.createdAt)
            let before = try AlertRecord.first(of: alert.app, at: alert.createdAt, connection)
            try connection.run(
                """
                INSERT INTO alert (app, platform, message, blocking, ends_at, created_at, created_by)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (app, platform) DO UPDATE SET message = excluded.message, blocking = excluded.blocking,
                    ends_at = excluded.ends_at, created_at = excluded.created_at, created_by = excluded.created_by
                """, alert.app.app, alert.app.platform, alert.message, alert.isBlocking, alert.endsAt, alert.createdAt,
                alert.createdBy)
            try AuditTable.insert(
                AuditEntry(
                    .alertSet, by: signature, of: alert.app, from: before?.values, to: alert.values), connection)
        }
        decisions.post(.other)
    }

    package func clearAlert(of app: AppKey, by actor: Signature) throws -> Bool {
        let isCleared = try write("clearing an alert", lock: .rows) { connection in
            try judge(actor, .alert(app), connection)
            try connection.run("DELETE FROM alert WHERE ends_at <= ?", actor.at)
            guard let before = try AlertRecord.first(of: app, at: actor.at, connection),
                try connection.run("DELETE FROM alert WHERE app = ? AND platform = ?", app.app, app.platform) > 0
            else { return false }
            try AuditTable.insert(AuditEntry(.alertClear, by: actor, of: app, from: before.values), connection)
            return true
        }
        decisions.post(.other)
        return isCleared
    }
}

/// The alerts that have not ended at ?1.
private let lastingAlerts: SQL = "FROM alert WHERE (ends_at IS NULL OR ends_at > ?1)"

extension AlertRecord: Selection {
    static func first(
        of app: AppKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws -> AlertRecord? {
        try connection.first(
            AlertRecord.self, "\(lastingAlerts) AND app = ? AND platform = ?", now, app.app, app.platform)
    }

    fileprivate var values: AuditValues {
        [
            .message: .string(message), .blocking: .bool(isBlocking),
            .endsAt: endsAt.map { .string($0.internetTime) },
        ]
    }

    package static let columns: SQL = "app, platform, message, blocking, ends_at, created_at, created_by"

    package static func read(_ row: inout Columns<some SQLRow>) -> AlertRecord {
        AlertRecord(
            app: row.app(), message: row.text(), isBlocking: row.bool(), endsAt: row.optionalTime(),
            createdAt: row.time(),
            createdBy: row.text())
    }
}
