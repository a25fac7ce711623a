// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func addToken(_ token: AccessToken, hash: [UInt8], by actor: Principal) throws {
        try StoreText.check(keys: token.name)
        try write("storing an API token", lock: .rows) { connection in
            guard try !connection.exists("SELECT 1 FROM access_token WHERE name = ?", token.name) else {
                throw StoreError(
                    .nameTaken, context: "an API token named \"\(token.name)\" exists, or did and was revoked",
                    hint: "Choose another name: a name is used once, so that the history stays clear")
            }
            try connection.run(
                """
                INSERT INTO access_token (name, hash, scopes, apps, created_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)
                """, token.name, hash, AccessToken.text(of: token.scopes),
                token.apps?.sorted().joined(separator: "\n"), token.createdAt, token.revokedAt)
            try AuditTable.insert(
                AuditEntry(
                    .tokenCreate, by: Signature(by: actor, at: token.createdAt), object: token.name, to: token.values),
                connection)
        }
    }

    package func token(hash: [UInt8]) throws -> AccessToken? {
        try readOnce("looking for an API token") { connection in
            try connection.first(
                AccessToken.self, "FROM access_token WHERE hash = ? AND revoked_at IS NULL", hash)
        }
    }

    package func tokens() throws -> [AccessToken] {
        try readOnce("listing API tokens") { connection in
            try connection.all(AccessToken.self, "FROM access_token ORDER BY name")
        }
    }

    package func revokeToken(name: String, by actor: Signature) throws -> Bool {
        try write("revoking an API token", lock: .rows) { connection in
            try judge(actor, .accessToken(name), connection)
            let revoked = try connection.all(
                """
                UPDATE access_token SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL
                RETURNING \(AccessToken.columns)
                """, actor.at, name
            ) { AccessToken.read(&$0) }
            guard let token = revoked.first else { return false }
            try AuditTable.insert(
                AuditEntry(.tokenRevoke, by: actor, object: name, from: token.values), connection)
            return true
        }
    }

    package func noteUse(ofToken hash: [UInt8], at now: Timestamp) throws {
        try write("noting an API token's use", lock: .rows) { connection in
            _ = try connection.run("UPDATE access_token SET used_at = ? WHERE hash = ?", now, hash)
        }
    }

    package func providerToken(key: String) throws -> ProviderToken? {
        try readOnce("reading a provider token") { connection in
            try connection.first(ProviderToken.self, ProviderToken.ofKey, key)
        }
    }

    package func mintProviderToken(
        _ token: ProviderToken, key: String, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken {
        try StoreText.check(keys: key)
        return try write("storing a provider token", lock: .rows) { connection in
            // Inserts first, since a row that does not exist cannot be locked: of two callers that find none, one waits here
            // for the other.
            let isFirst =
                try connection.run(
                    """
                    INSERT INTO provider_token (key, token, issued_at) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING
                    """, key, token.text, token.issuedAt) > 0
            guard !isFirst, var kept = try ProviderToken.locked(key, connection) else { return token.unpaused }
            guard ProviderTokenMachine.mayReplace(kept, by: token, replacing: known, at: now) else { return kept }
            try connection.run(
                "UPDATE provider_token SET token = ?, issued_at = ? WHERE key = ?", token.text, token.issuedAt, key)
            (kept.text, kept.issuedAt) = (token.text, token.issuedAt)
            return kept
        }
    }

    package func pauseProviderToken(
        key: String, until end: Timestamp, by server: String?, at now: Timestamp
    ) throws -> Bool {
        try write("storing a provider token's pause", lock: .rows) { connection in
            guard var kept = try ProviderToken.locked(key, connection) else { return false }
            if kept.pause(until: end, by: server, at: now) {
                try connection.run(
                    "UPDATE provider_token SET paused_until = ?, paused_by = ? WHERE key = ?", kept.pausedUntil,
                    kept.pausedBy, key)
            }
            return true
        }
    }
}

extension ProviderToken: Selection {
    package static let columns: SQL = "token, issued_at, paused_until, paused_by"
    fileprivate static let ofKey: SQL = "FROM provider_token WHERE key = ?"

    package static func read(_ row: inout Columns<some SQLRow>) -> ProviderToken {
        ProviderToken(
            text: row.text(), issuedAt: row.time(), pausedUntil: row.optionalTime(), pausedBy: row.optionalText())
    }

    /// The stored token of a key, locked until the transaction ends: what is written depends on it.
    fileprivate static func locked(_ key: String, _ connection: some SQLConnection) throws -> ProviderToken? {
        try connection.first(ProviderToken.self, "\(ofKey) \(connection.dialect.forUpdate)", key)
    }
}

extension AccessToken: Selection {
    fileprivate var values: AuditValues {
        [
            .scopes: .array(scopes.map(\.rawValue).sorted().map { .string($0) }),
            .apps: (apps?.sorted()).map { .array($0.map { .string($0) }) },
        ]
    }

    /// A set of scopes as a column keeps it.
    static func text(of scopes: Set<Scope>) -> String { scopes.map(\.rawValue).sorted().joined(separator: " ") }

    /// Scopes that only a later release knows are left out.
    static func scopes(in text: String) -> Set<Scope> {
        Set(text.split(separator: " ").compactMap { Scope(rawValue: String($0)) })
    }

    package static let columns: SQL = Self.columns(of: "access_token")

    static func columns(of table: SQL) -> SQL {
        """
        \(table).name, \(table).scopes, \(table).apps, \(table).created_at, \(table).revoked_at, \(table).used_at
        """
    }

    package static func read(_ row: inout Columns<some SQLRow>) -> AccessToken {
        var token = AccessToken(
            name: row.text(),
            scopes: AccessToken.scopes(in: row.text()),
            apps: row.optionalText().map { Set($0.split(separator: "\n").map(String.init)) },
            createdAt: row.time(), revokedAt: row.optionalTime())
        token.usedAt = row.optionalTime()
        return token
    }
}
