// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

extension SQLStore {
    package func addSession(_ session: BrowserSession, hash: [UInt8], most: Int) throws {
        try write("storing a session", lock: .rows) { connection in
            try connection.run("DELETE FROM session WHERE expires_at < ?", session.createdAt)
            try connection.run(
                """
                INSERT INTO session (hash, token, actor, scopes, created_at, used_at, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, hash, session.token, session.actor, session.scopes.map(AccessToken.text(of:)), session.createdAt,
                session.usedAt, session.expiresAt)
            let others: SQL = "SELECT hash FROM session WHERE hash <> ? AND"
            let order: SQL = "ORDER BY created_at DESC, hash"
            // The new session stays, whatever the clocks of other relays are.
            let older =
                if let token = session.token {
                    try connection.all("\(others) token = ? \(order)", hash, token) { $0.blob() }
                } else {
                    try connection.all(
                        "\(others) token IS NULL AND actor = ? \(order)", hash, session.actor
                    ) { $0.blob() }
                }
            for hash in older.dropFirst(most - 1) { try connection.run("DELETE FROM session WHERE hash = ?", hash) }
        }
    }

    package func sessions(at now: Timestamp) throws -> [ListedSession] {
        try readOnce("listing sessions") { connection in
            try connection.all(
                """
                SELECT s.hash, \(LiveSession.columns) \(LiveSession.good) AND s.expires_at > ?
                ORDER BY s.created_at DESC, s.hash
                """, now
            ) { ListedSession(hash: $0.blob(), live: .read(&$0)) }
        }
    }

    package func session(hash: [UInt8]) throws -> LiveSession? {
        try readOnce("looking for a session") { connection in
            try connection.first(LiveSession.self, "\(LiveSession.good) AND s.hash = ?", hash)
        }
    }

    package func noteUse(ofSession hash: [UInt8], at now: Timestamp) throws {
        try write("noting a session's use", lock: .rows) { connection in
            _ = try connection.run("UPDATE session SET used_at = ? WHERE hash = ?", now, hash)
        }
    }

    @discardableResult
    package func endSession(hash: [UInt8]) throws -> Bool {
        try write("ending a session", lock: .rows) { connection in
            try connection.run("DELETE FROM session WHERE hash = ?", hash) > 0
        }
    }

    package func endSession(hash: [UInt8], by actor: Signature) throws -> Bool {
        try write("ending a session", lock: .rows) { connection in
            let known = try connection.first("SELECT actor FROM session WHERE hash = ?", hash) { $0.text() }
            guard let known, try connection.run("DELETE FROM session WHERE hash = ?", hash) > 0 else { return false }
            try AuditTable.insert(AuditEntry(.sessionEnd, by: actor, object: known), connection)
            return true
        }
    }
}

extension LiveSession: Selection {
    fileprivate static let good: SQL = """
        FROM session AS s LEFT JOIN access_token AS t ON t.hash = s.token
        WHERE (s.token IS NULL OR s.scopes IS NOT NULL OR t.hash IS NOT NULL AND t.revoked_at IS NULL)
        """

    package static let columns: SQL =
        "s.actor, s.token, s.scopes, s.created_at, s.used_at, s.expires_at, \(AccessToken.columns(of: "t"))"

    package static func read(_ row: inout Columns<some SQLRow>) -> LiveSession {
        LiveSession(
            session: BrowserSession(
                actor: row.text(), token: row.optionalBlob(), scopes: row.optionalText().map(AccessToken.scopes(in:)),
                createdAt: row.time(), usedAt: row.time(), expiresAt: row.time()),
            token: row.optional(AccessToken.self))
    }
}
