// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import RelayEngine
import UpgradeRules

/// The daemon's part of FCM.
enum FCMWiring: ProviderWiring {
    static let setupOptions = ["service-account"]

    static func add(to route: inout AppRoute, of app: AppConfiguration, by builder: RouteBuilder) throws {
        if let fcm = app.fcm { try builder.add(fcm, to: &route, app) }
    }

    static func ask(
        _ questions: SetupQuestions, on platform: Platform
    ) throws -> (service: FirstConfiguration.Service, keyFile: String) {
        try questions.refuseOptions(
            ofOthersThan: .fcm, on: platform,
            platform == .ios
                ? "FCM pushes with the service account: one of --key and --service-account"
                : "android pushes with a service account: --service-account")
        return (
            .fcm, try questions.keyPath("service-account", "The JSON file with the service account's key for FCM")
        )
    }
}
