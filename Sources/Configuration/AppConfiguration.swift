// SPDX-License-Identifier: Apache-2.0
package import RelayAPI
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
    /// What becomes of a phone whose system is too old for what is required. Default allow.
    package var belowMinimumOS = BelowMinimumOS.allow
    /// Where versions are looked up. Default nowhere.
    package var sources: [VersionSource.Kind] = []
    /// Where the keys of those that need one are kept: of each store an app has one source.
    package var sourceKeys: [StoreKind: SecretSource] = [:]
    /// What its store must do before a version is let through. Default a day after the lookup shows it, and all of a staged rollout.
    package var gateRules = AvailabilityGate.Rules()
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
}
