// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import UpgradeRules

extension SQLStore {
    package func audit(_ filter: AuditFilter, before: Int64?, limit: Int) throws -> [AuditEntry] {
        try readOnce("listing the audit log") { connection in
            let (condition, values) = AuditTable.condition(filter, before: before)
            return try connection.all(
                AuditEntry.self, "FROM audit WHERE \(condition) ORDER BY id DESC LIMIT ?",
                values: values + [max(limit, 0)])
        }
    }

    package func note(_ entry: AuditEntry) throws {
        try write("writing to the audit log", lock: .rows) { connection in try AuditTable.insert(entry, connection) }
    }

    @discardableResult
    package func forgetAudit(before time: Timestamp) throws -> Int64 {
        var forgotten: Int64 = 0
        while true {
            let some = try write("deleting old audit rows", lock: .rows) { connection in
                try AuditTable.forget(before: time, connection)
            }
            forgotten += Int64(some)
            if some < AuditTable.mostForgotten { return forgotten }
        }
    }
}

/// The tables `audit` and `audit_horizon`.
package enum AuditTable {
    /// A filter that is not set adds nothing to the condition, so that each filter can use its index.
    package static func condition(
        _ filter: AuditFilter, before: Int64?
    ) -> (condition: SQL, values: [(any SQLValue)?]) {
        var condition: SQL = "id < ?"
        var values: [(any SQLValue)?] = [before ?? .max]
        func add(_ more: SQL, _ value: (any SQLValue)?) {
            guard let value else { return }
            condition = condition + " AND " + more
            values.append(value)
        }
        add("campaign = ?", filter.campaign)
        add("app = ?", filter.app)
        add("platform = ?", filter.platform)
        if let actor = filter.actor {
            condition = condition + " AND " + isActor
            values += Array(repeating: actor, count: 5)
        }
        add("action = ?", filter.action)
        add("at >= ?", filter.since)
        if let apps = filter.apps?.sorted() {
            var list: SQL = "NULL"
            for app in apps {
                list = list + ", ?"
                values.append(app)
            }
            condition = condition + " AND app IN (\(list))"
        }
        return (condition, values)
    }

    /// The condition for an actor by name, which is bound five times. Finds the name with or without the user's number,
    /// and as either of two ("root (uid 0) for ada (uid 1000)").
    private static let isActor: SQL = """
        (substr(actor || ' (', 1, length(CAST(? AS TEXT)) + 2) = CAST(? AS TEXT) || ' ('
         OR substr(actor, 1, length(CAST(? AS TEXT)) + 5) = CAST(? AS TEXT) || ' for '
         OR replace(actor || ' (', ' for ' || CAST(? AS TEXT) || ' (', '') <> actor || ' (')
        """

    /// - Parameter requirement: the requirement whose campaign the entry is about, where that has one.
    package static func insert(
        _ entry: AuditEntry, campaignOf requirement: Int64? = nil, _ connection: some SQLConnection
    ) throws {
        let campaign = try requirement.flatMap { id in
            try connection.first("SELECT public_id FROM campaign WHERE requirement_id = ?", id) { $0.text() }
        }
        try connection.run(
            """
            INSERT INTO audit (at, actor, actor_kind, via, address, action, app, platform, campaign, object, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, entry.at, entry.actor.name, entry.actor.kind.rawValue, entry.actor.via, entry.actor.address,
            entry.action, entry.app?.app, entry.app?.platform, entry.campaign ?? campaign, entry.object, entry.before,
            entry.after)
    }

    /// The most entries that one transaction forgets, so that no other writer waits for long.
    static let mostForgotten = 1000

    static func forget(before time: Timestamp, _ connection: some SQLConnection) throws -> Int {
        let isThere = try connection.exists("SELECT 1 FROM audit WHERE at < ?", time)
        guard isThere else { return 0 }
        try allowForgetting(before: time, connection)
        return try connection.run(
            "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)", time,
            mostForgotten)
    }
}

extension AuditTable {
    /// Lets entries, and requests for a second person, be deleted that are older than this, and no others.
    static func allowForgetting(before time: Timestamp, _ connection: some SQLConnection) throws {
        try connection.run(
            "INSERT INTO audit_horizon (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at", time)
    }
}

extension AuditEntry: Selection {
    package static let columns: SQL =
        "at, actor, actor_kind, via, address, action, id, app, platform, campaign, object, before, after"

    package static func read(_ row: inout Columns<some SQLRow>) -> AuditEntry {
        var entry = AuditEntry(
            at: row.time(),
            actor: Principal(
                row.text(), Principal.Kind(rawValue: row.text()) ?? .relay, via: row.text(), from: row.optionalText()),
            action: row.text())
        entry.id = row.integer()
        let (app, platform) = (row.optionalText(), row.platform())
        entry.app = app.map { AppKey(app: $0, platform: platform) }
        (entry.campaign, entry.object) = (row.optionalText(), row.optionalText())
        (entry.before, entry.after) = (row.optionalText(), row.optionalText())
        return entry
    }
}
