// SPDX-License-Identifier: Apache-2.0
import Terminal
import UpgradeRules
import WireFormat

/// APP and PLATFORM, as several commands take them.
enum AppArguments {
    /// An app on one platform, as the API's paths name it.
    struct Place: Sendable {
        var app: String
        var platform: String

        /// The API path of one of its resources, such as `version`.
        func path(_ parts: String...) -> [String] { ["v1", "apps", app, platform] + parts }
    }

    /// The word for all platforms of an app.
    static let all = "all"

    /// Whether PLATFORM is "all".
    static func isAll(_ arguments: ParsedArguments) throws(UsageError) -> Bool {
        try arguments.require("PLATFORM").lowercased() == all
    }

    /// "com.example.app ios", for the first words of an answer.
    static func name(_ arguments: ParsedArguments) throws(UsageError) -> String {
        "\(try arguments.require("APP")) \(try platform(arguments.require("PLATFORM")))"
    }

    /// The app on the platform that the arguments name.
    static func place(_ arguments: ParsedArguments) throws(UsageError) -> Place {
        let app = try arguments.require("APP")
        return Place(app: app, platform: try platform(arguments.require("PLATFORM")))
    }

    /// The API path of a resource of the app on the platform.
    static func path(_ arguments: ParsedArguments, _ part: String) throws(UsageError) -> [String] {
        try place(arguments).path(part)
    }

    /// `--app` and `--platform`, where given.
    static func query(_ run: ClientRun) throws -> [(String, String?)] {
        [("app", run.arguments.value("app")), ("platform", try run.arguments.value("platform").map(platform))]
    }

    /// The known app whose name is nearest to an unknown one; nil where none is near, or the daemon does not answer.
    static func suggestion(for app: String, _ client: RelayClient) async -> String? {
        guard let reply = try? await client.reply(to: APIRequest("GET", ["v1", "apps"])) else { return nil }
        let apps = Set(reply.items.map { $0.shown(.app) }).sorted()
        guard !apps.contains(app) else { return nil }
        return Suggestion.nearest(to: app, among: apps)
    }

    static func platform(_ text: String) throws(UsageError) -> String {
        // Apple and Google write "iOS" and "Android".
        if let platform = Platform(rawValue: text.lowercased()) { return platform.rawValue }
        throw UsageError("\"\(text)\" is not a platform; ios or android")
    }

    /// The apps and platforms of the daemon's configuration, narrowed by the options. If both options are given, the place
    /// they name is returned unchecked.
    static func places(_ run: ClientRun) async throws -> [Place] {
        let app = run.arguments.value("app")
        let platform = try run.arguments.value("platform").map(platform)
        if let app, let platform { return [Place(app: app, platform: platform)] }
        return try await places(run.client(), of: app, on: platform)
    }

    /// The apps and platforms of the daemon's configuration; nil: of any name.
    static func places(_ client: RelayClient, of app: String?, on platform: String? = nil) async throws -> [Place] {
        try await client.reply(to: APIRequest("GET", ["v1", "apps"])).items.compactMap { item in
            guard let name = item[.app]?.string, let on = item[.platform]?.string else { return nil }
            return (app ?? name) == name && (platform ?? on) == on ? Place(app: name, platform: on) : nil
        }
    }
}
