// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The table `approval`.
package enum ApprovalTable {
    static func approval(_ id: Int64, _ connection: some SQLConnection) throws -> Approval? {
        try connection.first(Row.self, "FROM approval WHERE id = ?", id) ?? nil
    }

    static func open(
        _ act: Approval.Act, of app: AppKey, _ connection: some SQLConnection
    ) throws -> Approval? {
        try connection.first(
            Row.self, "FROM approval WHERE app = ? AND platform = ? AND act = ? AND state = 'open'", app.app,
            app.platform, act.rawValue) ?? nil
    }

    /// The last request of this kind that a person has closed, or that waits.
    static func last(
        _ act: Approval.Act, of app: AppKey, _ connection: some SQLConnection
    ) throws -> Approval? {
        try connection.first(
            Row.self,
            """
            FROM approval WHERE app = ? AND platform = ? AND act = ? AND state NOT IN ('expired', 'superseded')
            ORDER BY id DESC LIMIT 1
            """, app.app, app.platform, act.rawValue) ?? nil
    }

    static func insert(_ approval: Approval, _ connection: some SQLConnection) throws -> Approval {
        let wish = approval.wish
        var stored = approval
        stored.id = try connection.insert(
            """
            INSERT INTO approval (app, platform, act, version, kind, campaign, body, telephones, urgent, devices,
                all_devices, shown, asked_by, asked_kind, asked_via, asked_from, asked_at, until, state, closed_by,
                closed_at, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """, approval.app.app, approval.app.platform, wish.act.rawValue, wish.version, wish.kind?.rawValue,
            wish.campaign, wish.body, wish.telephones.map(text), wish.isUrgent, approval.reach.devices,
            approval.reach.all, text(approval.shown), approval.asked.name, approval.asked.kind.rawValue,
            approval.asked.via, approval.asked.address, approval.askedAt, approval.until, approval.state.rawValue,
            approval.closedBy, approval.closedAt, approval.reason)
        return stored
    }

    /// Closes an open request, and forgets the phone numbers in it.
    static func close(
        _ approval: Approval, _ state: Approval.State, by name: String?, reason: String? = nil, at now: Timestamp,
        _ connection: some SQLConnection
    ) throws -> Approval {
        var closed = approval
        (closed.state, closed.closedBy, closed.closedAt, closed.reason) = (state, name, now, reason)
        closed.wish.telephones = nil
        try connection.run(
            """
            UPDATE approval SET state = ?, closed_by = ?, closed_at = ?, reason = ?, telephones = NULL WHERE id = ?
            """, state.rawValue, name, now, reason, approval.id)
        return closed
    }

    /// Makes room for a newer request, or for an act that was done in another way.
    static func supersede(
        _ act: Approval.Act, of app: AppKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        guard let open = try open(act, of: app, connection) else { return }
        let state = open.state(at: now) == .open ? Approval.State.superseded : .expired
        _ = try close(open, state, by: nil, at: now, connection)
    }

    /// Takes an erased user out of the requests that wait.
    static func erase(_ telephone: String, of app: AppKey, _ connection: some SQLConnection) throws {
        for act in [Approval.Act.raise, .block] {
            guard let open = try open(act, of: app, connection), let telephones = open.wish.telephones else { continue }
            let left = telephones.filter { !$0.utf8.elementsEqual(telephone.utf8) }
            guard left.count < telephones.count else { continue }
            try connection.run("UPDATE approval SET telephones = ? WHERE id = ?", text(left), open.id)
        }
    }

    /// The condition for requests that were over before a time, by an act or by their end.
    package static let isOver: SQL = "coalesce(closed_at, until) < ?"

    /// The most requests that one transaction forgets.
    static let mostForgotten = 1000

    /// Deletes requests that were over before a time.
    ///
    /// - Returns: how many.
    static func forget(before time: Timestamp, _ connection: some SQLConnection) throws -> Int {
        guard try connection.exists("SELECT 1 FROM approval WHERE \(isOver)", time) else { return 0 }
        try AuditTable.allowForgetting(before: time, connection)
        return try connection.run(
            "DELETE FROM approval WHERE id IN (SELECT id FROM approval WHERE \(isOver) LIMIT ?)", time, mostForgotten)
    }

    private static func text(_ telephones: [String]) -> String {
        String(decoding: JSONValue.array(telephones.map(JSONValue.string)).bytes(), as: UTF8.self)
    }

    private static func text(_ shown: Shown) -> String {
        let members = Shown.Fact.allCases.compactMap { fact in
            shown.facts[fact].map { value in
                let json: JSONValue =
                    switch value {
                    case .nothing: .null
                    case .text(let text): .string(text)
                    case .number(let number): .integer(number)
                    }
                return JSONMember(name: fact.rawValue, value: json)
            }
        }
        return String(decoding: JSONValue.object(members).bytes(), as: UTF8.self)
    }

    fileprivate static func shown(_ text: String) -> Shown {
        var shown = Shown()
        for member in (try? JSONReader.read(Array(text.utf8)))?.object ?? [] {
            guard let fact = Shown.Fact(rawValue: member.name) else { continue }
            shown.facts[fact] =
                member.value.string.map { .text($0) } ?? member.value.integer.map { .number($0) } ?? .nothing
        }
        return shown
    }

    fileprivate static func telephones(_ text: String) -> [String] {
        ((try? JSONReader.read(Array(text.utf8)))?.array ?? []).compactMap(\.string)
    }
}

extension ApprovalTable {
    enum Row: Selection {
        static let columns: SQL = """
            act, version, state, kind, campaign, body, telephones, urgent, id, app, platform, devices, all_devices, shown,
                asked_by, asked_kind, asked_via, asked_from, asked_at, until, closed_by, closed_at, reason
            """

        /// nil where a column holds a value that the schema does not allow.
        static func read(_ row: inout Columns<some SQLRow>) -> Approval? {
            guard let act = Approval.Act(rawValue: row.text()), let version = row.version(),
                let state = Approval.State(rawValue: row.text())
            else {
                row.leave()
                return nil
            }
            var wish = Approval.Wish(act, version)
            wish.kind = row.optionalText().flatMap(Requirement.Kind.init(rawValue:))
            (wish.campaign, wish.body) = (row.optionalText(), row.optionalText())
            wish.telephones = row.optionalText().map(ApprovalTable.telephones)
            wish.isUrgent = row.bool()
            let (id, app) = (row.integer(), row.app())
            let reach = ApprovalReach(devices: row.integer(), of: row.integer())
            let shown = ApprovalTable.shown(row.text())
            let asked = Principal(
                row.text(), Principal.Kind(rawValue: row.text()) ?? .relay, via: row.text(), from: row.optionalText())
            var approval = Approval(
                id: id, app, wish, reach, shown: shown, by: asked, at: row.time(), until: row.time())
            approval.state = state
            (approval.closedBy, approval.closedAt, approval.reason) = (
                row.optionalText(), row.optionalTime(), row.optionalText()
            )
            return approval
        }
    }
}
