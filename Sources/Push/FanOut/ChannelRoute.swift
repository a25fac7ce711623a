// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import PushProviders
package import RelayEngine
import RelayStore
import Requirements

/// An app's push service for one channel of its devices.
package struct ChannelRoute: Sendable {
    package var provider: any PushProvider
    package var pool: PoolConfiguration

    package init(_ provider: any PushProvider, _ pool: PoolConfiguration) {
        (self.provider, self.pool) = (provider, pool)
    }

    /// Whether the same connections serve both.
    func reaches(as other: ChannelRoute) -> Bool {
        provider.identity == other.provider.identity && pool == other.pool
    }
}

extension AppRoute {
    /// Adds both channels of a provider.
    ///
    /// - Parameter sandbox: default the same as production's.
    package mutating func add(_ provider: ProviderName, _ production: ChannelRoute, sandbox: ChannelRoute? = nil) {
        channels[Channel(provider, on: app.platform)] = production
        channels[Channel(provider, .sandbox, on: app.platform)] = sandbox ?? production
    }
}
