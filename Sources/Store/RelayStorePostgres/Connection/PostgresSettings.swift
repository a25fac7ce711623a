// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// Where the store is, and how to connect to it.
package struct PostgresSettings: Sendable {
    package let conninfo: Conninfo
    package let schema: String
    package let connections: Int
    let password: [UInt8]?

    /// - Parameters:
    ///   - url: libpq's URL or `key=value` text, without a password.
    ///   - password: its bytes; nil where the server asks for none, or libpq finds it in its own places (PGPASSWORD, .pgpass).
    ///   - schema: the schema of the tables: a lowercase letter or "_", then lowercase letters, digits and "_", at most
    ///     63 characters, not beginning with "pg_". Default "upgrade_relay".
    ///   - connections: how many sessions there are at most, 5 to 64. Default 8.
    ///   - application: the sessions' name in the server's lists. Default "upgrade-relay".
    ///   - environment: this process's environment, where libpq looks for options that the url leaves out. Default empty.
    /// - Throws: `StoreError`, `.failed`, which names the key of the configuration.
    package init(
        url: String, password: [UInt8]? = nil, schema: String = "upgrade_relay", connections: Int = 8,
        application: String = "upgrade-relay", environment: [String: String] = [:], library: PostgresLibrary
    ) throws(StoreError) {
        conninfo = try Conninfo(url, application: application, environment: environment, library: library)
        // libpq takes texts that end at a NUL: it would send only the part before it.
        guard password.map({ !$0.isEmpty && !$0.contains(0) }) ?? true else {
            throw StoreError(
                .failed, context: "store.postgres.password is empty, or has a NUL in it",
                hint: "A file may end in a line end, but must hold nothing else beside the password")
        }
        let isName = schema.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil && !schema.hasPrefix("pg_")
        guard isName else {
            throw StoreError(
                .failed, context: "store.postgres.schema is \"\(schema)\"",
                hint: "Lowercase letters, digits and \"_\", 63 at most, not a digit first, and not \"pg_\"")
        }
        guard (PostgresRole.fewest...64).contains(connections) else {
            throw StoreError(
                .failed, context: "store.postgres.connections is \(connections)", hint: "From 5 to 64; the default is 8"
            )
        }
        (self.password, self.schema, self.connections) = (password, schema, connections)
    }
}
