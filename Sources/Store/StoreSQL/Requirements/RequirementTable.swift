// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules

/// The tables `requirement`, `requirement_canary` and `requirement_event`.
package enum RequirementTable {
    // MARK: Reading

    /// An app's requirements, in the order in which they were asked for.
    package static func requirements(of app: AppKey, _ connection: some SQLConnection) throws -> Requirements {
        let rows = try connection.all(
            Row.self, "FROM requirement AS r WHERE r.app = ? AND r.platform = ? ORDER BY r.id", app.app, app.platform)
        return Requirements(try rows.compactMap(\.self).map { try named($0, connection) })
    }

    package static func all(_ connection: some SQLConnection) throws -> [(app: AppKey, requirements: Requirements)] {
        let apps = try connection.all("SELECT app, platform FROM version ORDER BY app, platform") {
            $0.app()
        }
        return try apps.map { ($0, try requirements(of: $0, connection)) }
    }

    /// A row without its canary's numbers, which `named` reads.
    enum Row: Selection {
        /// Columns of `requirement` (r).
        static let columns: SQL = """
            r.kind, r.version, r.state, r.id, r.build, r.reach, r.gated, r.changed_by, r.changed_via, r.changed_at, r.released,
                r.download_url, r.message, r.messages, r.canary, r.asked_at, r.in_force_at, r.in_force_by, r.reason, r.stages,
                \(RequirementField.allCases.map { "r.\($0.sql)" })
            """

        /// nil where a column holds a value that the schema does not allow.
        static func read(_ row: inout Columns<some SQLRow>) -> Requirement? {
            guard let kind = Requirement.Kind(rawValue: row.text()), let version = row.version(),
                let state = Requirement.State(rawValue: row.text())
            else {
                row.leave()
                return nil
            }
            var requirement = Requirement(
                id: row.integer(), kind: kind, version: version, build: row.optionalInteger(), state: state,
                reach: Int(row.integer()), isGated: row.bool(),
                changed: Signature(by: row.text(), via: row.text(), at: row.time()))
            requirement.isReleased = row.bool()
            requirement.downloadURL = row.optionalText()
            requirement.message = StoredText.read(row.optionalText(), row.optionalText())
            requirement.canary = row.isNull() ? nil : []
            (requirement.askedAt, requirement.inForceAt) = (row.time(), row.optionalTime())
            (requirement.inForceBy, requirement.reason) = (row.optionalText(), row.optionalText())
            requirement.stages = stages(row.optionalText())
            requirement.terms = row.terms()
            return requirement
        }
    }

    private static func stages(_ text: String?) -> WavePlan? {
        text.flatMap { WavePlan(ends: $0.split(separator: " ").compactMap { Int($0) }) }
    }

    private static func stages(_ plan: WavePlan?) -> String? {
        plan.map { $0.ends.map(String.init).joined(separator: " ") }
    }

    static func named(_ row: Requirement, _ connection: some SQLConnection) throws -> Requirement {
        guard row.canary != nil else { return row }
        var row = row
        row.canary = try telephones(of: row.id, connection)
        return row
    }

    private static func telephones(of requirement: Int64, _ connection: some SQLConnection) throws -> [String] {
        try connection.all(
            "SELECT telephone FROM requirement_canary WHERE requirement_id = ? ORDER BY number", requirement
        ) { $0.text() }
    }

    // MARK: Writing

    /// Writes the differences. Triggers keep the history and the row of `version`: that row names the last event of the
    /// history, which also has the changes that other programs make through `version`, in one order with the relay's
    /// own.
    ///
    /// - Returns: the ids of new rows, by the ids that they had before they were stored.
    package static func write(
        _ new: Requirements, over old: Requirements, of app: AppKey, _ connection: some SQLConnection
    ) throws -> [Int64: Int64] {
        var ids: [Int64: Int64] = [:]
        let before = Dictionary(uniqueKeysWithValues: old.rows.map { ($0.id, $0) })
        // Known rows come first: one that is taken back makes room for one that is asked for in its place.
        for row in new.rows {
            guard let known = before[row.id], !row.isWritten(as: known) else { continue }
            try update(row, connection)
            if !row.hasCanary(of: known) { try name(row.canary ?? [], row.id, connection) }
        }
        for row in new.rows where before[row.id] == nil {
            let id = try insert(row, of: app, connection)
            ids[row.id] = id
            if let canary = row.canary { try name(canary, id, connection) }
        }
        return ids
    }

    private static func update(_ row: Requirement, _ connection: some SQLConnection) throws {
        try connection.run(
            """
            UPDATE requirement SET state = ?, reach = ?, gated = ?, released = ?, build = ?, download_url = ?, message = ?,
                canary = ?, in_force_at = ?, in_force_by = ?, reason = ?, changed_by = ?, changed_via = ?, changed_at = ?,
                stages = ?, messages = ?, \(RequirementField.allCases.map { "\($0.sql) = ?" })
            WHERE id = ?
            """,
            values: [
                row.state, row.reach, row.isGated, row.isReleased, row.build, row.downloadURL, row.message?.text,
                row.canary.map { Int64($0.count) }, row.inForceAt, row.inForceBy, row.reason, row.changed.by,
                row.changed.via, row.changed.at, stages(row.stages), row.message.flatMap(StoredText.written),
            ] + row.terms.parameters + [row.id])
    }

    private static func insert(_ row: Requirement, of app: AppKey, _ connection: some SQLConnection) throws -> Int64 {
        try StoreText.check(keys: app.app)
        return try connection.insert(
            """
            INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
                download_url, message, canary, asked_at, in_force_at, in_force_by, reason, changed_by, changed_via, changed_at, stages,
                messages, \(RequirementField.allCases.map(\.sql)))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                \(RequirementField.allCases.map { _ in "?" })) RETURNING id
            """,
            values: [
                app.app, app.platform, row.kind.rawValue, row.version, row.version.sortKey, row.build, row.state,
                row.reach, row.isGated, row.isReleased, row.downloadURL, row.message?.text,
                row.canary.map { Int64($0.count) }, row.askedAt, row.inForceAt, row.inForceBy, row.reason,
                row.changed.by, row.changed.via, row.changed.at, stages(row.stages),
                row.message.flatMap(StoredText.written),
            ] + row.terms.parameters)
    }

    private static func name(_ telephones: [String], _ id: Int64, _ connection: some SQLConnection) throws {
        try connection.run("DELETE FROM requirement_canary WHERE requirement_id = ?", id)
        for (number, telephone) in telephones.enumerated() {
            try StoreText.check(keys: telephone)
            try connection.run(
                "INSERT INTO requirement_canary (requirement_id, number, telephone) VALUES (?, ?, ?)", id,
                number, telephone)
        }
    }

    // MARK: The history

    /// Everything that happened to an app's requirements, oldest first, as the requirements were after each change.
    package static func history(
        of app: AppKey, _ connection: some SQLConnection
    ) throws -> [(requirements: Requirements, by: Signature)] {
        let all = try requirements(of: app, connection).rows
        let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        let events = try connection.all(
            """
            SELECT e.requirement_id, e.state, e.reach, e.build, e.download_url, e.message, e.messages, e.in_force_at,
                e.in_force_by, e.reason, e.by, e.via, e.at, \(RequirementField.allCases.map { "e.\($0.sql)" })
            FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
            WHERE r.app = ? AND r.platform = ? ORDER BY e.id
            """, app.app, app.platform
        ) { row -> Requirement? in
            guard var requirement = byID[row.integer()], let state = Requirement.State(rawValue: row.text()) else {
                row.leave()
                return nil
            }
            (requirement.state, requirement.reach) = (state, Int(row.integer()))
            requirement.build = row.optionalInteger()
            requirement.downloadURL = row.optionalText()
            requirement.message = StoredText.read(row.optionalText(), row.optionalText())
            (requirement.inForceAt, requirement.inForceBy) = (row.optionalTime(), row.optionalText())
            requirement.reason = row.optionalText()
            requirement.changed = Signature(by: row.text(), via: row.text(), at: row.time())
            requirement.terms = row.terms()
            return requirement
        }
        var now: [Int64: Requirement] = [:]
        var last: Requirement?
        var history: [(requirements: Requirements, by: Signature)] = []
        for case let event? in events {
            now[event.id] = event
            let state = Requirements(now.values.sorted { $0.id < $1.id })
            // One decision may change a floor and the newest version.
            if history.last?.by == event.changed, last?.kind != event.kind { history.removeLast() }
            history.append((state, event.changed))
            last = event
        }
        return history
    }
}
