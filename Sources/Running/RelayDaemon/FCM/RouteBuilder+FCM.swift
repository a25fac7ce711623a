// SPDX-License-Identifier: Apache-2.0
import Configuration
import CurlTransport
import FanOut
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import Terminal
import UpgradeRules

extension RouteBuilder {
    /// "about 100 per connection" (PROTOCOLS 2.1): where the server's SETTINGS give no limit, more would be answered with
    /// GOAWAY.
    private static let streams = 100

    /// Adds FCM to an app's push services.
    ///
    /// - Throws: `CommandFailure` (78) where the service account's key cannot be read.
    func add(_ fcm: FCMConfiguration, to route: inout AppRoute, _ app: AppConfiguration) throws {
        let (account, project): (GoogleAccount, String)
        do {
            (account, project) = try fcm.account(environment: environment, keys: tokenSources.keys)
        } catch {
            throw CommandFailure(
                .configuration,
                "apps[\"\(app.key.app)\"].\(app.key.platform.rawValue).fcm.serviceAccount: \(error)")
        }
        let egress = try egress(fcm.egress)
        let tokens = tokenSources.fcm.source(of: account, egress: egress, clock: clock)
        var settings = FCMProvider.Settings(
            project: project, isHighPriority: app.push.priority == 10, quotaPerMinute: fcm.quotaPerMinute,
            avoidsQuarterHours: fcm.avoidsQuarterHours)
        if app.key.platform == .ios {
            settings.iPhones = .init(topic: app.apns?.topic ?? app.key.app, priority: app.push.priority)
        }
        settings.packageName = fcm.packageName
        settings.showsNotification = fcm.showsNotification
        settings.analyticsLabel = fcm.analyticsLabel
        settings.isForConstrainedBandwidth = fcm.isForConstrainedBandwidth
        settings.isForRestrictedSatellite = fcm.isForRestrictedSatellite
        var pool = pool(.fcm, fcm.server, egress, connections: fcm.connections)
        pool.connection.maximumStreams = Self.streams
        // FCM has no sandbox: a device that was registered for one is reached in the same way.
        route.add(.fcm, ChannelRoute(FCMProvider(settings: settings, tokens: tokens), pool))
        route.secretsNeedRestart = route.secretsNeedRestart || fcm.serviceAccount.needsRestart
    }
}
