// SPDX-License-Identifier: Apache-2.0
package import RelayAPI
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules
package import VersionSources

/// One app on one platform.
package struct AppConfiguration: Sendable, Equatable {
    package var key: AppKey
    /// The address of the new version for users; nil: each bump must carry its own. Default none.
    package var downloadURL: String?
    /// The schemes that download URLs may have beside https, such as "itms-apps". Default none.
    package var downloadSchemes: [String] = []
    /// The numbers whose rise forces an upgrade. Default manual.
    package var forcePolicy = ForcePolicy.manual
    /// The treatment of a phone whose system is too old for the required version. Default allow.
    package var belowMinimumOS = BelowMinimumOS.allow
    /// The rule by which acts that reach many devices wait for a second person. Default none.
    package var approval: ApprovalRule?
    /// The rules by which a version counts as given up by its users.
    package var retirement = RetirementRules()
    /// The sources of versions. Default none.
    package var sources: [VersionSource.Kind] = []
    /// The egress settings of each source, in the order of `sources`.
    package var sourceEgress: [EgressConfiguration] = []
    /// The places of the sources' keys; an app has at most one source of each store.
    package var sourceKeys: [StoreKind: SecretSource] = [:]
    /// The conditions that the app's store must meet before it counts as offering a version. Default a day after the release that
    /// the App Store's lookup shows, and all of a staged rollout on Google Play.
    package var gateRules = AvailabilityGate.Rules()
    package var push = PushConfiguration()
    /// How fast pushes are sent, and to whom first.
    package var pace = PaceConfiguration()
    /// The handling of releases that GitHub, GitLab or App Store Connect announce.
    package var webhooks = ReleaseRules()
    /// Where there are none, no push can be sent: only the version store and the login check work.
    var providers = ProviderConfigurations()
}

extension AppConfiguration {
    /// The path of an app on one platform within the configuration.
    package static func field(_ app: AppKey) -> String { "apps[\"\(app.app)\"].\(app.platform.rawValue)" }

    /// The sources with their keys and egress settings.
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
}
