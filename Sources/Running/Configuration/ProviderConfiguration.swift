// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements

/// The settings of an app for one kind of push service: the object with the provider's name, beside `push`.
protocol ProviderConfiguration: Sendable, Equatable {
    static var provider: ProviderName { get }

    /// The fault of an app on this provider's own platform that has no push service; nil: it needs none.
    static var missing: String? { get }

    /// - Parameters:
    ///   - section: the reader of the app's platform, for faults beside the object.
    ///   - app: the settings that were read before, such as `push`; receives words that are set here.
    ///   - egress: the common egress settings.
    init(
        reading reader: ConfigurationReader, in section: ConfigurationReader, of app: inout AppConfiguration,
        _ egress: EgressConfiguration)

    /// Checks the files that it names.
    ///
    /// - Parameter field: its path.
    func check(
        at field: String, of app: AppKey, by checker: ConfigurationCheck, _ report: inout ConfigurationCheck.Report)

    /// For people: its server and the app's name there.
    func shown(for app: AppKey, _ report: ConfigurationCheck.Report) -> String
}

extension ProviderName {
    /// The type of its settings.
    var settings: any ProviderConfiguration.Type {
        switch self {
        case .apns: APNsConfiguration.self
        case .fcm: FCMConfiguration.self
        }
    }
}
