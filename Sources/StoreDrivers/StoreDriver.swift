// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import RelayStore
import RelayStoreSQLite
package import Telemetry

/// The one place that knows which drivers there are: everybody else sees what a store can do.
package enum StoreDriver {
    /// How long the pages of a store are looked through that was not closed well, at most.
    private static let pageCheckTime = Duration.seconds(2)

    /// Opens the store that the configuration names, for a daemon: no second one may have it.
    ///
    /// - Parameters:
    ///   - release: what this release calls itself.
    ///   - log: gets what is to be said of the store as it is opened.
    ///   - changes: gets a line for each change of what is required, from whoever asks for it.
    /// - Throws: `CommandFailure` where its directory cannot be made; `StoreError`.
    package static func open(
        _ configuration: StoreConfiguration, release: String, log: Log, changes: Log
    ) throws -> OpenStore {
        let path = configuration.sqlitePath
        // Telephones are in it.
        try OwnDirectory.make(for: path, mode: 0o700)
        let lock = try StoreLock(store: path)
        if lock.links > 1 {
            log(
                .warning, "the store's file has several names: use one of them only, its log goes by that name",
                [("path", path), ("names", String(lock.links))])
        }
        var options = SQLiteStore.Options()
        options.log = changes
        let store = try SQLiteStore(path: path, release: release, options: options)
        if !lock.wasClosedWell, !(try store.checkPages(within: pageCheckTime)) {
            log(
                .notice, "the store was not closed well, and is too large to be looked through before it is used",
                [("next", "upgrade-relay store check")])
        }
        return OpenStore(store: store, pulse: store.pulse, lock: lock)
    }

    /// The store that the configuration names, for commands that find no daemon.
    package static func closed(_ configuration: StoreConfiguration) -> any ClosedStore {
        SQLiteFile(configuration.sqlitePath)
    }

    /// A backup.
    package static func closed(_ file: String) -> any ClosedStore { SQLiteFile(file) }
}

/// A daemon's store; it gives its place free when it goes.
package struct OpenStore {
    package let store: any RelayStore
    /// Of whoever writes: beats with every write, and now and then in the middle of a long one.
    package let pulse: Pulse
    private let lock: StoreLock

    fileprivate init(store: any RelayStore, pulse: Pulse, lock: StoreLock) {
        self.store = store
        self.pulse = pulse
        self.lock = lock
    }
}
