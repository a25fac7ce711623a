// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import RelayStore
import RelayStorePostgres
import RelayStoreSQLite
package import Telemetry

/// The one place that knows which drivers there are: everybody else sees what a store can do.
package enum StoreDriver {
    /// How long the pages of a store are looked through that was not closed well, at most.
    private static let pageCheckTime = Duration.seconds(2)

    /// Opens the store that the configuration names, for a daemon. A file is its own; a database it may share with others.
    ///
    /// - Parameters:
    ///   - environment: what the configuration's secrets may be in.
    ///   - release: what this release calls itself.
    ///   - log: gets what is to be said of the store as it is opened.
    ///   - changes: gets a line for each change of what is required, from whoever asks for it.
    ///   - membership: says what this relay may do, where there may be others.
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

    /// The service's own directory, where systemd or an image has made one: the relay's name, for several may share it.
    private static func note(of node: String?, schema: String, _ environment: [String: String]) -> String? {
        // "systemd.exec", StateDirectory=: several are separated by colons.
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
        // Telephones are in it.
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

    /// The store that the configuration names, for commands that find no daemon.
    package static func closed(
        _ configuration: StoreConfiguration, environment: [String: String]
    ) throws -> any ClosedStore {
        switch configuration.database {
        case .sqlite(let path): SQLiteFile(path)
        case .postgres(let postgres):
            PostgresDatabase(try settings(postgres, environment), place: configuration.place)
        }
    }

    /// What is wrong with how the configuration names the database, found out without connecting to it; nil: nothing.
    package static func fault(_ configuration: StoreConfiguration, environment: [String: String]) -> StoreError? {
        guard case .postgres(let postgres) = configuration.database else { return nil }
        do {
            _ = try settings(postgres, environment)
            return nil
        } catch {
            return error
        }
    }

    /// What the database's server says of itself and of what others may do there; nothing for a file. Connects, and writes nothing.
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

    /// Moves what an SQLite file has into the database that the configuration names. The file is brought to this release's schema first,
    /// as a daemon would, and otherwise stays as it is.
    ///
    /// - Parameter progress: called now and then with rows that were moved, and all that there are; false gives up.
    /// - Returns: each table with its rows.
    /// - Throws: `StoreError`: `.busy` while a daemon works on the file; then, as always, the database has nothing of it.
    package static func migrate(
        from path: String, to configuration: StoreConfiguration, environment: [String: String], release: String,
        progress: (Int64, Int64) -> Bool
    ) throws -> [(table: String, rows: Int64)] {
        guard case .postgres(let postgres) = configuration.database else {
            throw StoreError(
                .refused, context: "the configuration keeps the store in SQLite",
                hint: "Name the database to move it to in store.postgres, in the place of store.sqlite")
        }
        // A file that is not there would be made.
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

/// A daemon's store; it gives its place free when it goes.
package struct OpenStore {
    package let store: any RelayStore
    /// Of whoever writes: beats with every write, and now and then in the middle of a long one.
    package let pulse: Pulse
    /// Whether other relays may work on it at a time.
    package let isShared: Bool
    /// Where it is kept how far the store is (`PastWatch`); nil: nowhere, for the service has no directory of its own.
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
