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
    /// From when on a version counts as given up by its users.
    package var retirement = RetirementRules()
    /// Where versions are looked up. Default nowhere.
    package var sources: [VersionSource.Kind] = []
    /// The way to each of them.
    package var sourceEgress: [EgressConfiguration] = []
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

extension AppConfiguration {
    /// Whether a new requirement waits for a store.
    package var isGated: Bool {
        sources.contains { $0.store != nil }
    }

    /// The sources with their keys and ways.
    func readySources(_ environment: [String: String]) throws -> [VersionSource.Kind] {
        try sources.indices.map { index in
            let source = try keyed(sources[index], environment)
            return index < sourceEgress.count
                ? source.by(try sourceEgress[index].egress(environment: environment)) : source
        }
    }

    /// The source with its key.
    private func keyed(_ kind: VersionSource.Kind, _ environment: [String: String]) throws -> VersionSource.Kind {
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
