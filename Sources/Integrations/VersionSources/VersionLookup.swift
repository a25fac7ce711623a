// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// Asks a store which version of an app it offers.
package protocol VersionLookup: Sendable {
    /// Asks now and waits for the answer. This takes seconds, as questions to a store must be spaced.
    ///
    /// Call it from a thread that may block.
    /// - Returns: nil where no store is configured for the app, or where the store does not list it.
    /// - Throws: when the store could not be asked, or gave an answer that cannot be believed.
    func current(of app: AppKey) throws -> StoreListing?
}

/// A store's listing of an app: evidence that a build is available, never by itself a required version.
package struct StoreListing: Hashable, Sendable {
    package var version: Version
    /// The app's page in the store.
    package var trackViewURL: String?
    /// When this version was released; nil where the store does not show it.
    package var releasedAt: Timestamp?
    /// The oldest OS version that it runs on; nil where the store does not show it.
    package var minimumOS: Version?

    package init(
        version: Version, trackViewURL: String? = nil, releasedAt: Timestamp? = nil, minimumOS: Version? = nil
    ) {
        self.version = version
        self.trackViewURL = trackViewURL
        self.releasedAt = releasedAt
        self.minimumOS = minimumOS
    }
}
