// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Requirements
import Telemetry
import WireFormat

extension SQLStore {
    /// More epochs than relays can have claimed for a campaign since the state to which the store went back.
    private static var epochsLeftOut: Int { 1 << 20 }

    package func mark() throws -> StoreMark {
        try read("asking how far the store is") { connection in try DecisionTable.mark(connection) }
    }

    @discardableResult
    package func lookBack() throws -> StoreMark {
        let memory = membership.memory
        // Read before the query, whose answer therefore includes decisions that other relays make in between.
        let known = memory.known
        let (found, isHeld) = try readOnce("looking whether the store went back") { connection in
            try DecisionTable.compare(known.seen, connection)
        }
        guard isHeld else { throw memory.fell(to: found) }
        if memory.rises(to: found, since: known) {
            log(.notice, "the store is worked on again", [("store", found.text)])
        } else if let fall = memory.fall {
            throw fall.error
        } else {
            memory.note(found)
        }
        return found
    }

    package func accept(_ word: StoreWord, by signature: Signature) throws -> StoreMark {
        let memory = membership.memory
        guard let fall = try fallNow() else {
            throw StoreError(.refused, context: "the store did not go back: there is nothing to accept")
        }
        let accepted = try OperatorHeader.$isAtWork.withValue(true) {
            try write("taking the store on", lock: .rows) { connection in
                let found = try DecisionTable.mark(connection)
                guard word.seen == fall.seen, word.found == found else {
                    throw StoreError(
                        .refused,
                        context:
                            "what was shown is not so any more: this relay saw \(fall.seen.text), and the store holds \(found.text)",
                        hint: "Look again: upgrade-relay store status")
                }
                try connection.run(
                    "INSERT INTO store_word (at, actor, identity, decision, recorded) VALUES (?, ?, ?, ?, ?)",
                    signature.at, signature.by, fall.seen.identity, fall.seen.decision, fall.seen.recorded)
                // Outcomes that a relay has on their way under an earlier lease are not recorded; nor does such a lease
                // prove another fall.
                try connection.run("UPDATE campaign_run SET owner = NULL, epoch = epoch + \(Self.epochsLeftOut)")
                try connection.run("UPDATE store_identity SET identity = \(connection.dialect.randomID)")
                try AuditTable.insert(
                    AuditEntry(
                        .storeAccept, by: signature,
                        from: [.store: .string(fall.seen.text)], to: [.store: .string(found.text)]), connection)
                return found
            }
        }
        // The row that was just written is one decision more.
        let now = try mark()
        _ = memory.rises(to: now)
        log(
            .warning, "the store was taken on as it is, though it went back",
            [("by", signature.by), ("seen", fall.seen.text), ("found", accepted.text)])
        return now
    }
}

/// The tables `decision`, `store_identity` and `store_word`.
package enum DecisionTable {
    /// The last decision: identity, number, sign. SQLite and PostgreSQL read one row of each table.
    package static let newest: SQL = """
        SELECT i.identity, d.number, d.sign FROM store_identity AS i, decision AS d
        WHERE d.number = (SELECT max(number) FROM decision)
        """

    package static func newest(_ connection: some SQLConnection) throws -> StoreMark {
        let found = try connection.first(newest) {
            StoreMark(identity: $0.text(), decision: $0.integer(), sign: $0.text())
        }
        // Another program removed the rows: the store holds nothing that was seen.
        return found ?? StoreMark(identity: "", decision: 0, sign: "")
    }

    static func mark(_ connection: some SQLConnection) throws -> StoreMark {
        var mark = try newest(connection)
        mark.recorded =
            try connection.integer("SELECT CAST(coalesce(sum(commits), 0) AS bigint) FROM campaign_run") ?? 0
        return mark
    }

    /// Whether the store holds a decision that was seen. A decision that was forgotten since counts as held if the
    /// store's identity is still the same.
    package static func holds(_ seen: StoreMark, _ connection: some SQLConnection) throws -> Bool {
        if try connection.exists("SELECT 1 FROM decision WHERE number = ? AND sign = ?", seen.decision, seen.sign) {
            return true
        }
        return try connection.exists(
            """
            SELECT 1 FROM store_identity AS i
            WHERE i.identity = ? AND (SELECT min(number) FROM decision) > ?
            """, seen.identity, seen.decision)
    }

    /// How far the store is, and whether it holds the mark that was seen. It counts as held where an operator has accepted
    /// the store at another relay that had seen as much or more.
    static func compare(_ seen: StoreMark?, _ connection: some SQLConnection) throws -> (StoreMark, isHeld: Bool) {
        let compared = try connection.first(
            """
            SELECT i.identity, d.number, d.sign,
                (SELECT CAST(coalesce(sum(commits), 0) AS bigint) FROM campaign_run),
                (SELECT count(*) FROM decision WHERE number = ?1 AND sign = ?2),
                (SELECT count(*) FROM store_identity WHERE identity = ?3
                    AND (SELECT min(number) FROM decision) > ?1),
                (SELECT count(*) FROM store_word WHERE identity = ?3 AND decision >= ?1 AND recorded >= ?4)
            FROM store_identity AS i, decision AS d WHERE d.number = (SELECT max(number) FROM decision)
            """, seen?.decision ?? 0, seen?.sign ?? "", seen?.identity ?? "", seen?.recorded ?? 0
        ) { row in
            let found = StoreMark(
                identity: row.text(), decision: row.integer(), sign: row.text(), recorded: row.integer())
            let (known, isAccepted) = (row.integer() + row.integer(), row.integer() > 0)
            let isThere = known > 0 && found.recorded >= seen?.recorded ?? 0
            return (found, isHeld: seen == nil || isThere || isAccepted)
        }
        return compared ?? (StoreMark(identity: "", decision: 0, sign: ""), isHeld: seen == nil)
    }
}
