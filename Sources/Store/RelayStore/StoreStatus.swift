// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Where a store is and how far it has grown: what `store status` shows.
package struct StoreStatus: Hashable, Sendable {
    /// Where it is, as the operator named it.
    package var path: String
    /// Bytes on the disk, including those not yet moved into the main file.
    package var size: Int64
    /// The schema version that the data has.
    package var schemaVersion: Int
    /// The newest schema version that this release knows.
    package var newestSchemaVersion: Int
    /// Every step that this release knows, in order.
    package var chain: [StoreStep]
    /// The release that made the store; nil when nothing is noted.
    package var firstInstalled: StoreRelease?
    /// The release that worked on it last.
    package var current: StoreRelease?

    package init(
        path: String, size: Int64, schemaVersion: Int, newestSchemaVersion: Int, chain: [StoreStep],
        firstInstalled: StoreRelease?, current: StoreRelease?
    ) {
        self.path = path
        self.size = size
        self.schemaVersion = schemaVersion
        self.newestSchemaVersion = newestSchemaVersion
        self.chain = chain
        self.firstInstalled = firstInstalled
        self.current = current
    }
}

/// One step of the store's growth.
package struct StoreStep: Hashable, Sendable {
    package var version: Int
    package var name: String
    /// nil: not yet; the daemon does it when it starts.
    package var appliedAt: Timestamp?

    package init(version: Int, name: String, appliedAt: Timestamp?) {
        self.version = version
        self.name = name
        self.appliedAt = appliedAt
    }
}

/// A release that has worked on a store.
package struct StoreRelease: Hashable, Sendable {
    /// As `--version` prints it; "unknown" for one from before releases were noted.
    package var release: String
    /// The schema version that it brought the store to.
    package var schemaVersion: Int
    /// When it first opened the store after another release.
    package var openedAt: Timestamp

    package init(release: String, schemaVersion: Int, openedAt: Timestamp) {
        self.release = release
        self.schemaVersion = schemaVersion
        self.openedAt = openedAt
    }
}
