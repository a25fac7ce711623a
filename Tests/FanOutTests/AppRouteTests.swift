// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FanOut
import HTTP2
import PushProviders
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// A reload keeps the connections of a route that reaches the same services, and no others.
@Suite struct AppRouteTests {
    private func route(_ providers: [ProviderName]) -> AppRoute {
        let pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "push.example.com"))
        var route = AppRoute(
            app: AppKey(app: "com.example.app", platform: .ios), channels: [:], pushType: "needUpgrade",
            words: PushWords("Upgrade"), downloadURL: nil, timeToLive: .seconds(60))
        for provider in providers { route.add(provider, ChannelRoute(MissingProvider(provider), pool)) }
        return route
    }

    @Test func `Another push service is not reached, though there are as many`() {
        #expect(route([.apns]).reaches(as: route([.apns])))
        #expect(!route([.apns]).reaches(as: route([.fcm])))
        #expect(!route([.apns]).reaches(as: route([.apns, .fcm])))
    }
}
