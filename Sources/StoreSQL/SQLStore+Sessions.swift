// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

extension SQLStore {
    package func addSession(_ session: BrowserSession, hash: [UInt8]) throws {
        try write("storing a session", lock: .rows) { connection in
            try connection.run("DELETE FROM session WHERE expires_at < ?", session.createdAt)
            try connection.run(
                """
                INSERT INTO session (hash, token, actor, created_at, used_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
                """, hash, session.token, session.actor, session.createdAt, session.usedAt, session.expiresAt)
        }
    }

    package func session(hash: [UInt8]) throws -> LiveSession? {
        try readOnce("looking for a session") { connection in
            try connection.first(
                """
                SELECT s.actor, s.token, s.created_at, s.used_at, s.expires_at,
                    t.name, t.scopes, t.apps, t.created_at, t.revoked_at, t.used_at
                FROM session AS s LEFT JOIN access_token AS t ON t.hash = s.token
                WHERE s.hash = ? AND (s.token IS NULL OR t.hash IS NOT NULL AND t.revoked_at IS NULL)
                """, hash
            ) { row in
                LiveSession(
                    session: BrowserSession(
                        actor: row.text(0), token: row.isNull(1) ? nil : row.blob(1), createdAt: row.time(2),
                        usedAt: row.time(3),
                        expiresAt: row.time(4)),
                    token: row.optionalText(5).map { _ in AccessToken(row, from: 5) })
            }
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
}
