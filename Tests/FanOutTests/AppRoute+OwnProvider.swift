// SPDX-License-Identifier: Apache-2.0
import FanOut
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A route by the platform's own provider alone, as most tests have one.
extension AppRoute {
    init(
        app: AppKey, provider: any PushProvider, production: PoolConfiguration, sandbox: PoolConfiguration,
        pushType: String, words: PushWords, downloadURL: String?, timeToLive: Duration
    ) {
        self.init(
            app: app,
            channels: [
                .production: ChannelRoute(provider, production), .sandbox: ChannelRoute(provider, sandbox),
            ], pushType: pushType, words: words, downloadURL: downloadURL, timeToLive: timeToLive)
    }

    /// Setting it sets that of the sandbox, too.
    var provider: any PushProvider {
        get { service(.production).provider }
        set {
            channels[.production]?.provider = newValue
            channels[.sandbox]?.provider = newValue
        }
    }

    var sandboxProvider: any PushProvider {
        get { service(.sandbox).provider }
        set { channels[.sandbox]?.provider = newValue }
    }

    var production: PoolConfiguration {
        get { service(.production).pool }
        set { channels[.production]?.pool = newValue }
    }

    var sandbox: PoolConfiguration {
        get { service(.sandbox).pool }
        set { channels[.sandbox]?.pool = newValue }
    }
}
