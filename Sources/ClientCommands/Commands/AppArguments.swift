// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal
import UpgradeRules

/// APP and PLATFORM, as several commands take them.
struct AppArguments: Sendable {
    static let positionals = [
        PositionalSpec("APP", "the app's name in the configuration, usually its bundle id"),
        PositionalSpec("PLATFORM", "ios or android"),
    ]
    static let options: [OptionSpec] = [
        .value("app", "APP", "the app's name in the configuration"),
        .value("platform", "PLATFORM", "ios or android"),
    ]

    /// "com.example.app ios", for the first words of an answer.
    static func name(_ arguments: ParsedArguments) throws(UsageError) -> String {
        "\(try arguments.require("APP")) \(try arguments.require("PLATFORM"))"
    }

    /// The API's path of what belongs to the app on the platform.
    static func path(_ arguments: ParsedArguments, _ part: String) throws(UsageError) -> [String] {
        let app = try arguments.require("APP")
        return ["v1", "apps", app, try platform(arguments.require("PLATFORM")).rawValue, part]
    }

    static func platform(_ text: String) throws(UsageError) -> Platform {
        if let platform = Platform(rawValue: text) { return platform }
        throw UsageError("\"\(text)\" is not a platform; ios or android")
    }

    static func version(_ text: String, option name: String) throws(UsageError) -> Version {
        do {
            return try Version(text)
        } catch {
            throw UsageError("--\(name): \(error)")
        }
    }

    /// The apps and platforms of the daemon's configuration, narrowed by what was given.
    static func known(
        _ client: RelayClient, app: String?, platform: Platform?
    ) async throws -> [(app: String, platform: String)] {
        if let app, let platform { return [(app, platform.rawValue)] }
        let reply = try await client.request("GET", "/v1/apps")
        return reply.items.compactMap { item in
            guard let name = item["app"]?.string, let on = item["platform"]?.string else { return nil }
            guard app == nil || app == name, platform == nil || platform?.rawValue == on else { return nil }
            return (name, on)
        }
    }
}
