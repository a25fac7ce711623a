// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import RelayEngine
import UpgradeRules

/// The daemon's part of one kind of push service: it makes routes for `serve`, and asks for the key at `init`.
protocol ProviderWiring {
    /// The options of `init` that are this provider's alone, without hyphens.
    static var setupOptions: [String] { get }

    /// Adds the push service to an app's route, if the app's configuration has it.
    ///
    /// - Throws: `CommandFailure` (78) where a key or a certificate cannot be used.
    static func add(to route: inout AppRoute, of app: AppConfiguration, by builder: RouteBuilder) throws

    /// The service for a first configuration, and the file with its key.
    ///
    /// - Throws: `UsageError`, as `SetupQuestions.answers()`.
    static func ask(
        _ questions: SetupQuestions, on platform: Platform
    ) throws -> (service: FirstConfiguration.Service, keyFile: String)
}

extension ProviderName {
    /// The daemon's part of this provider.
    var wiring: any ProviderWiring.Type {
        switch self {
        case .apns: APNsWiring.self
        case .fcm: FCMWiring.self
        }
    }
}
