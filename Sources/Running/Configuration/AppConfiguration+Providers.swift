// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import UpgradeRules

extension AppConfiguration {
    /// The settings for each of its push services, the platform's own first.
    private var services: [any ProviderConfiguration] {
        ProviderName.all(on: key.platform).compactMap { providers[$0] }
    }

    /// Its push services, for people.
    ///
    /// - Parameter report: of this configuration's files.
    package func shownServices(_ report: ConfigurationCheck.Report) -> [String] {
        services.map { $0.shown(for: key, report) }
    }

    mutating func readProviders(_ section: ConfigurationReader, _ egress: EgressConfiguration) {
        let all = ProviderName.all(on: key.platform)
        // The platform's own is the last: the others decide whether it may be left out.
        for provider in all.reversed() {
            guard let reader = section.optionalObject(provider.rawValue) else { continue }
            let settings = provider.settings.init(reading: reader, in: section, of: &self, egress)
            providers[provider] = settings
        }
        let own = all[0].rawValue
        if let missing = all[0].settings.missing, section.raw(own) == nil, !section.isNull(own),
            all.dropFirst().allSatisfy({ section.raw($0.rawValue) == nil })
        {
            section.fault(own, missing)
        }
        for stranger in ProviderName.allCases where !all.contains(stranger) && section.raw(stranger.rawValue) != nil {
            let platforms = Platform.allCases.filter { ProviderName.all(on: $0).contains(stranger) }.map(\.rawValue)
            let app = key.platform == .ios ? "an iOS app" : "an Android app"
            section.fault(
                stranger.rawValue,
                "is for \(ConfigurationReader.alternatives(platforms)); \(app) is pushed to by "
                    + ConfigurationReader.alternatives(all.map(\.rawValue)))
        }
    }

    func checkProviders(by checker: ConfigurationCheck, _ report: inout ConfigurationCheck.Report) {
        // In the order of reading.
        for settings in services.reversed() {
            settings.check(
                at: "\(Self.field(key)).\(type(of: settings).provider.rawValue)", of: key, by: checker, &report)
        }
    }
}
