// SPDX-License-Identifier: Apache-2.0
package import Configuration
import CurlTransport
package import FanOut
package import Notifications
package import RelayAPI
package import RelayEngine
package import RelayStore
package import Requirements
import Signing
import Synchronization
package import Telemetry
import Terminal
import UpgradeRules

/// The configuration in use, with its keys and secrets read; a reload exchanges all of it at once.
package struct ActiveConfiguration: Sendable {
    package var apps: [AppKey: AppConfiguration]
    package var routes: [AppKey: AppRoute]
    var webhookSecrets: [WebhookSecret]
    package var notify: [NotificationTarget]
    var enforce: EnforceRules
    /// The people whom a proxy signs in.
    var identity: ProxyIdentity?
    /// Whether the owner wants plain HTTP: a proxy has TLS.
    let isPlainMeant: Bool
    /// The digest of the settings that relays on one store must have in common.
    let digest: String

    /// The settings of each app that are needed to answer clients.
    package var profiles: [AppKey: AppProfile] {
        apps.mapValues { AppProfile($0) }
    }

    /// The rules for bumps of an app, and for rows that another program writes.
    package func rules(of app: AppKey) -> BumpRules {
        BumpRules(
            platform: app.platform, schemes: apps[app]?.downloadSchemes,
            wantsSecondPerson: apps[app]?.approval != nil)
    }

    /// Reads every key and secret that the configuration names.
    ///
    /// - Parameter store: keeps provider tokens; nil: they are not kept.
    /// - Throws: `CommandFailure` (78) that names the faulty field.
    package init(
        _ configuration: RelayConfiguration, store: (any RelayStore)?, environment: [String: String],
        tokenSources: TokenSources, log: Log, clock: @escaping @Sendable () -> Timestamp
    ) throws {
        let builder = RouteBuilder(
            store: store, environment: environment, tokenSources: tokenSources, log: log, clock: clock)
        let routes = try builder.routes(for: configuration)
        self.routes = Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
        apps = Dictionary(uniqueKeysWithValues: configuration.apps.map { ($0.key, $0) })
        webhookSecrets = try configuration.webhooks.secrets.map {
            var secret = try Self.secret($0.source, "webhooks.secrets", environment)
            secret.apps = $0.apps
            secret.name = $0.source.name
            return secret
        }
        enforce = configuration.enforce
        identity = configuration.listen.identity
        isPlainMeant = configuration.listen.isPlainMeant
        digest = configuration.digest
        notify = try configuration.notify.map { receiver in
            NotificationTarget(
                receiver: NotificationReceiver(url: receiver.url, events: receiver.events),
                secret: try receiver.secret.map { try Self.secret($0, "notify", environment) }, format: receiver.format,
                egress: try builder.egress(receiver.egress))
        }
    }

    private static func secret(
        _ source: SecretSource, _ field: String, _ environment: [String: String]
    ) throws -> WebhookSecret {
        do {
            return try WebhookSecret(source.read(environment: environment))
        } catch {
            throw CommandFailure(.configuration, "\(field): \(error)")
        }
    }

    /// The configuration behind a lock: the API's threads read it, the main thread exchanges it.
    package final class Shared: Sendable {
        private let value: Mutex<ActiveConfiguration>

        package init(_ value: ActiveConfiguration) {
            self.value = Mutex(value)
        }

        package var current: ActiveConfiguration { value.withLock { $0 } }

        package func exchange(for new: ActiveConfiguration) {
            value.withLock { $0 = new }
        }
    }
}

extension AppProfile {
    init(_ app: AppConfiguration) {
        self.init(downloadURL: app.downloadURL, alert: app.push.words.body, downloadSchemes: app.downloadSchemes)
        belowMinimumOS = app.belowMinimumOS
        moments = MomentWords(zone: app.pace.hours?.zone)
        words = app.push.words
    }
}
