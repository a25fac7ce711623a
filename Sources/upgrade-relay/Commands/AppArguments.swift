// SPDX-License-Identifier: Apache-2.0
import RelayStore
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

    /// Apps and platforms with a stored version, and those of the configuration where it can be read; narrowed by what was
    /// given.
    static func known(
        _ client: RelayClient, configured: [AppConfiguration], app: String?, platform: Platform?
    ) async throws -> [(app: String, platform: String)] {
        if let app, let platform { return [(app, platform.rawValue)] }
        let reply = try await client.request("GET", "/v1/apps")
        var places: [(app: String, platform: String)] = reply.items.compactMap { item in
            guard let name = item["app"]?.string, let on = item["platform"]?.string else { return nil }
            return (name, on)
        }
        for key in configured.map(\.key) where !places.contains(where: { $0 == (key.app, key.platform.rawValue) }) {
            places.append((key.app, key.platform.rawValue))
        }
        return places.filter { place in
            (app == nil || app == place.app) && (platform == nil || platform?.rawValue == place.platform)
        }
    }
}
