// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// A schema of a database, for commands that find no daemon. Creates nothing in it.
package struct PostgresDatabase: ClosedStore {
    package let place: String
    private let settings: PostgresSettings

    package init(_ settings: PostgresSettings, place: String) {
        self.settings = settings
        self.place = place
    }

    /// Always false: a daemon on another machine may work on it, which does no harm.
    package var isInUse: Bool { false }

    package func status() throws -> StoreStatus { try open { try $0.status() } }

    package func check(begins: (String) -> Bool) throws -> [StoreFault] { try open { try $0.check(begins: begins) } }

    package func copy(to path: String, progress: (BackupProgress) -> Bool) throws {
        throw Self.refusal(settings.schema)
    }

    package func restore(from backup: String, progress: (BackupProgress) -> Bool) throws -> RestoredStore {
        throw StoreError(
            .refused, context: "a store in PostgreSQL is not restored by the relay",
            hint: "pg_restore --clean --if-exists, with the daemon stopped; or the server's own backups")
    }

    static func refusal(_ schema: String) -> StoreError {
        StoreError(
            .refused, context: "a store in PostgreSQL is not backed up by the relay",
            hint:
                "pg_dump --format=custom --schema=\(schema), with the database of store.postgres.url; or the server's own backups"
        )
    }

    private func open<R>(_ body: (PostgresStore) throws -> R) throws -> R {
        var options = PostgresStore.Options()
        options.grows = false
        let store = try PostgresStore(settings, options: options)
        defer { store.close() }
        return try body(store)
    }
}
