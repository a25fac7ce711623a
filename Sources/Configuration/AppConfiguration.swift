// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import UpgradeRules
package import VersionSources

/// One app on one platform.
package struct AppConfiguration: Sendable, Equatable {
    package var key: AppKey
    /// Where users get the new version; nil: each bump must carry its own. Default none.
    package var downloadURL: String?
    /// What download URLs may begin with beside https, such as "itms-apps". Default nothing else.
    package var downloadSchemes: [String] = []
    /// Which number's rise forces an upgrade. Default manual.
    package var forcePolicy = ForcePolicy.manual
    /// Where versions are looked up. Default nowhere.
    package var sources: [VersionSource.Kind] = []
    /// Where the keys of those that need one are kept: of each store an app has one source.
    package var sourceKeys: [StoreKind: SecretSource] = [:]
    /// With the App Store's lookup as a source: from the release in the store until users are told. Default 24 hours.
    package var hold = AvailabilityGate.Rules().hold
    /// With Google Play as a source: the share of users that a staged rollout must have reached. Default all.
    package var minimumFraction = AvailabilityGate.Rules().minimumFraction
    package var push = PushConfiguration()
    /// How fast pushes go out, and to whom first.
    package var pace = PaceConfiguration()
    /// What becomes of releases that GitHub, GitLab or App Store Connect announce.
    package var webhooks = ReleaseRules()
    /// nil where nothing can be pushed: only the version store and the login check work.
    package var apns: APNsConfiguration?
    /// The same for an Android app.
    package var fcm: FCMConfiguration?
}

/// What a push says and how it travels.
package struct PushConfiguration: Sendable, Equatable {
    /// The `page.type` that the app's code looks for. Default needUpgrade.
    package var type = "needUpgrade"
    /// The text that the phone shows where a bump brings no message.
    package var alert = "A new version is required."
    /// APNs' priority: 10 at once, 5 as the battery allows, 1 never wakes the device. To FCM 10 is high, the others are normal.
    /// Default 10.
    package var priority = 10
    /// From the rise until nothing is sent any more, and how long APNs keeps it for a phone that is off. Default 7 days.
    package var timeToLive = Duration.seconds(7 * 86_400)
    /// A sound's name in the app's bundle, or "default". Default none.
    package var sound: String?
    /// When those who are still behind get the push again, after a campaign's start. Default never.
    package var reminders = ReminderSchedule([])
}

/// How to speak with APNs for one app.
package struct APNsConfiguration: Sendable, Equatable {
    /// The ten characters of the developer team.
    package var teamID: String
    /// The ten characters of the signing key.
    package var keyID: String
    /// The .p8 file that Apple gave.
    package var key: SecretSource
    /// The bundle id. Default: the app's name.
    package var topic: String
    /// Default https://api.push.apple.com.
    package var server = ServerAddress(host: "api.push.apple.com", port: 443)
    /// Default https://api.sandbox.push.apple.com, or `server` where that is one of the owner's own.
    package var sandboxServer = ServerAddress(host: "api.sandbox.push.apple.com", port: 443)
    /// Whether a token that its environment calls bad is tried once in the other one. Default no.
    package var triesOtherEnvironment = false
    /// A PEM file of certificates to trust instead of the system's. Default the system's.
    package var trustedCertificates: String?
    /// An HTTP proxy to CONNECT through: "http://proxy.example:3128". Default none.
    package var proxy: String?
    /// Connections at most, for each lane and server. Default 16.
    package var connections = 16
}

extension AppConfiguration {
    /// Whether a new requirement waits for a store.
    package var isGated: Bool {
        sources.contains { $0.store != nil }
    }

    /// The source with its key.
    func keyed(_ kind: VersionSource.Kind, _ environment: [String: String]) throws -> VersionSource.Kind {
        switch kind {
        case .googlePlay(var source):
            source.account = try sourceKeys[.googlePlay].map { try Self.account($0, environment) }
            return .googlePlay(source)
        case .appStoreConnect(var source):
            source.key.pem = try sourceKeys[.appStoreConnect].map { try $0.read(environment: environment) } ?? []
            return .appStoreConnect(source)
        default: return kind
        }
    }

    /// Why a new requirement first waits; nil: it does not.
    package var waitingReason: String? {
        isGated ? "waiting until its store offers the required version" : nil
    }

    /// What a store must do before a version is let through.
    var gateRules: AvailabilityGate.Rules {
        AvailabilityGate.Rules(hold: hold, minimumFraction: minimumFraction)
    }
}
