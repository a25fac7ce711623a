// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import Terminal
import UpgradeRules

/// The daemon's part of APNs.
enum APNsWiring: ProviderWiring {
    static let setupOptions = ["key", "key-id", "team-id"]

    static func add(to route: inout AppRoute, of app: AppConfiguration, by builder: RouteBuilder) throws {
        if let apns = app.apns { try builder.add(apns, to: &route, app) }
    }

    static func ask(
        _ questions: SetupQuestions, on platform: Platform
    ) throws -> (service: FirstConfiguration.Service, keyFile: String) {
        let keyFile = try questions.keyPath("key", "The .p8 file with Apple's key for pushes")
        // Apple puts the key's id in the file's name, so a mistyped path would be reported as a missing id.
        if questions.arguments.value("key-id") == nil, !FileProbe.exists(keyFile) {
            throw UsageError("--key: there is no file \(DisplayWidth.sanitised(keyFile))")
        }
        let keyID = try questions.answer("key-id", "The key's id, ten characters", usual: keyID(in: keyFile))
        let teamID = try questions.answer("team-id", "The team's id, ten characters")
        return (.apns(teamID: teamID, keyID: keyID), keyFile)
    }

    /// Apple names the file after the key: AuthKey_ABC123DEFG.p8.
    static func keyID(in path: String) -> String? {
        guard let name = path.split(separator: "/").last, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else {
            return nil
        }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return id.utf8.count == 10 ? String(id) : nil
    }
}
