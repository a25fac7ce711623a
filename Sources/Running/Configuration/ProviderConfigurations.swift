// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The settings of an app for its push services.
struct ProviderConfigurations: Sendable, Equatable {
    private var settings: [ProviderName: any ProviderConfiguration] = [:]

    subscript<Settings: ProviderConfiguration>(_: Settings.Type) -> Settings? {
        get { settings[Settings.provider] as? Settings }
        set { settings[Settings.provider] = newValue }
    }

    subscript(provider: ProviderName) -> (any ProviderConfiguration)? {
        get { settings[provider] }
        set { settings[provider] = newValue }
    }

    static func == (left: ProviderConfigurations, right: ProviderConfigurations) -> Bool {
        left.settings.count == right.settings.count
            && left.settings.allSatisfy { provider, settings in
                right.settings[provider].map { settings.isEqual(to: $0) } ?? false
            }
    }
}

extension ProviderConfiguration {
    fileprivate func isEqual(to other: any ProviderConfiguration) -> Bool { (other as? Self) == self }
}
