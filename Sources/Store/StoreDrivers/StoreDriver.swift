// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import RelayStore
import RelayStorePostgres
import RelayStoreSQLite
package import Telemetry

/// The one place that knows the drivers: all other code sees only the `RelayStore` and `ClosedStore` protocols.
package enum StoreDriver {
    /// The longest check of the pages of a store that was not closed well.
    private static let pageCheckTime = Duration.seconds(2)

    /// Opens the configured store for a daemon. A file is the daemon's own; a database may be shared with other relays.
    ///
    /// - Parameters:
    ///   - environment: may hold the configuration's secrets.
    ///   - release: this release's name.
    ///   - log: receives lines about the store as it is opened, and later when its database is gone or back.
    ///   - changes: receives a line for each change of what is required, whichever caller makes it.
    ///   - membership: this relay's membership, where there may be others.
    /// - Throws: `CommandFailure` where its directory cannot be made; `StoreError`.
    package static func open(
        _ configuration: StoreConfiguration, environment: [String: String], release: String, log: Log, changes: Log,
        membership: Membership
    ) throws -> OpenStore {
        switch configuration.database {
        case .sqlite(let path):
            return try open(path, release: release, log: log, changes: changes, membership: membership)
        case .postgres(let postgres):
            let settings = try settings(postgres, environment)
            var options = PostgresStore.Options()
            (options.log, options.changes, options.membership) = (log, changes, membership)
            let store = try PostgresStore(settings, release: release, options: options)
            return OpenStore(
                store: store, pulse: store.pulse, lock: nil, isShared: true,
                note: note(of: configuration.node, schema: postgres.schema, environment))
        }
    }

    /// The path of `OpenStore.note` in the service's own directory, where systemd or an image has made one. It contains
    /// the relay's name, since several relays may share the directory.
    private static func note(of node: String?, schema: String, _ environment: [String: String]) -> String? {
        // "systemd.exec", StateDirectory=: several directories are separated by colons.
        guard let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first, folder.hasPrefix("/") else {
            return nil
        }
        let name = ((node ?? "") + "." + schema).unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || ".-".unicodeScalars.contains(scalar) ? String(scalar) : "_"
        }.joined()
        return "\(folder)/database\(name.hasPrefix(".") ? "" : ".")\(name).seen"
    }

    private static func open(
        _ path: String, release: String, log: Log, changes: Log, membership: Membership
    ) throws -> OpenStore {
        // The store has telephones in it.
        try OwnDirectory.make(for: path, mode: 0o700)
        let lock = try StoreLock(store: path)
        if lock.links > 1 {
            log(
                .warning, "the store's file has several names: use one of them only, its log goes by that name",
                [("path", path), ("names", String(lock.links))])
        }
        var options = SQLiteStore.Options()
        (options.log, options.membership) = (changes, membership)
        let store = try SQLiteStore(path: path, release: release, options: options)
        if !lock.wasClosedWell, !(try store.checkPages(within: pageCheckTime)) {
            log(
                .notice, "the store was not closed well, and is too large to be looked through before it is used",
                [("next", "upgrade-relay store check")])
        }
        return OpenStore(
            store: store, pulse: store.pulse, lock: lock, isShared: false,
            note: SQLiteFile.note(beside: StoreLock.resolved(path)))
    }

    /// The configured store, for commands that find no daemon.
    package static func closed(
        _ configuration: StoreConfiguration, environment: [String: String]
    ) throws -> any ClosedStore {
        switch configuration.database {
        case .sqlite(let path): SQLiteFile(path)
        case .postgres(let postgres):
            PostgresDatabase(try settings(postgres, environment), place: configuration.place)
        }
    }

    /// The fault in the way the configuration names the database, found without connecting to it; nil: none.
    package static func fault(_ configuration: StoreConfiguration, environment: [String: String]) -> StoreError? {
        guard case .postgres(let postgres) = configuration.database else { return nil }
        do {
            _ = try settings(postgres, environment)
            return nil
        } catch {
            return error
        }
    }

    /// The answers of the database's server about itself and about other roles' rights there; none for a file. Connects, and
    /// writes nothing.
    package static func inquire(_ configuration: StoreConfiguration, environment: [String: String]) -> [StoreAnswer] {
        guard case .postgres(let postgres) = configuration.database else { return [] }
        do {
            return PostgresInquiry(try settings(postgres, environment)).run()
        } catch {
            return [StoreAnswer(.failed, error.context, remedy: error.hint)]
        }
    }

    private static func settings(
        _ postgres: PostgresConfiguration, _ environment: [String: String]
    ) throws(StoreError) -> PostgresSettings {
        let password: [UInt8]?
        do throws(FileProbe.Failure) {
            password = try postgres.password?.read(environment: environment)
        } catch {
            throw StoreError(.failed, context: "store.postgres.password: \(error.problem)", hint: error.hint)
        }
        return try PostgresSettings(
            url: postgres.url, password: password, schema: postgres.schema, connections: postgres.connections,
            environment: environment, library: try PostgresLibrary.load())
    }

    /// Moves the contents of an SQLite file into the configured database. The file is brought to this release's schema
    /// first, as a daemon would, and otherwise stays as it is.
    ///
    /// - Parameter progress: called now and then with the rows moved and all rows; false cancels.
    /// - Returns: each table with its number of rows.
    /// - Throws: `StoreError`: `.busy` while a daemon works on the file. After any error the database has nothing of it.
    package static func migrate(
        from path: String, to configuration: StoreConfiguration, environment: [String: String], release: String,
        progress: (Int64, Int64) -> Bool
    ) throws -> [(table: String, rows: Int64)] {
        guard case .postgres(let postgres) = configuration.database else {
            throw StoreError(
                .refused, context: "the configuration keeps the store in SQLite",
                hint: "Name the database to move it to in store.postgres, in the place of store.sqlite")
        }
        // Fails where there is no file: opening the store would create it.
        _ = try SQLiteFile(path).status()
        let lock = try StoreLock(store: path)
        defer { withExtendedLifetime(lock) {} }
        let source = try SQLiteStore(path: path, release: release)
        let target = try PostgresStore(try settings(postgres, environment), release: release)
        defer { target.close() }
        return try SourceCheck.run(on: source, at: path) { check in
            try source.read("reading the whole store") { connection in
                try target.take(
                    all: connection, progress: { check.damage == nil && progress($0, $1) }, verify: check.verify)
            }
        }
    }

    /// A backup.
    package static func closed(_ file: String) -> any ClosedStore { SQLiteFile(file) }
}

/// A daemon's store; it releases its lock when it goes.
package struct OpenStore {
    package let store: any RelayStore
    /// The writer's pulse: for a file it beats with every write, and now and then in the middle of a long one; for a
    /// database it rests.
    package let pulse: Pulse
    /// Whether other relays may work on it at the same time.
    package let isShared: Bool
    /// The file that records how far the store is (`RollbackWatch`); nil: none, since the service has no directory of its own.
    package let note: String?
    private let lock: StoreLock?

    fileprivate init(store: any RelayStore, pulse: Pulse, lock: StoreLock?, isShared: Bool, note: String?) {
        self.store = store
        self.note = note
        self.pulse = pulse
        self.lock = lock
        self.isShared = isShared
    }
}
