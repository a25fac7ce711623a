// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayAPI
import RelayEngine
import UpgradeRules
import WireFormat

struct AlertsSetCommand: Command {
    static let spec = CommandSpec(
        path: ["alerts", "set"],
        purpose: "Tells every user of an app something at launch",
        discussion: """
            For apps that read the LaunchGate document. An alert is shown once to each user; a blocking one locks the \
            app, for a maintenance window, and must say when that ends: then it vanishes by itself. A new alert takes \
            the place of the old.
            """,
        positionals: AppArguments.positionals,
        options: [
            .value("message", "TEXT", "what the app says"),
            .flag("blocking", "lock the app until the end"),
            .value("until", "TIME", "when the alert vanishes, such as 2026-01-31T18:00:00Z"),
            .value("for", "DURATION", "the same counted from now, such as 2h"),
        ] + ConnectionOptions.specs,
        examples: ["upgrade-relay alerts set com.example.app ios --message 'Back at 6 pm.' --blocking --for 2h"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let app: String
    private let platform: Platform
    private let body: JSONValue

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        app = try arguments.require("APP")
        platform = try AppArguments.platform(arguments.require("PLATFORM"))
        guard let message = arguments.value("message") else { throw UsageError("--message TEXT is missing") }
        let isBlocking = arguments.flag("blocking")
        let end = try Self.end(arguments)
        if isBlocking, end == nil {
            throw UsageError("--blocking locks the app and needs an end: --for DURATION or --until TIME")
        }
        var body: [String: JSONValue] = ["message": .string(message), "blocking": .bool(isBlocking)]
        if let end { body["endsAt"] = .string(end.internetTime) }
        self.body = .object(body)
    }

    private static func end(_ arguments: ParsedArguments) throws(UsageError) -> Timestamp? {
        switch (arguments.value("until"), arguments.value("for")) {
        case (nil, nil): return nil
        case (.some, .some): throw UsageError("--until and --for say the same thing; give one of them")
        case (let text?, nil):
            guard let time = Timestamp(internetTime: text) else {
                throw UsageError("--until: \"\(text)\" is not a time such as 2026-01-31T18:00:00Z")
            }
            return time
        case (nil, let text?):
            guard let duration = DurationText.parse(text), duration > .zero else {
                throw UsageError("--for: \"\(text)\" is not a duration such as 2h or 1h30m")
            }
            return Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) + duration
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "apps", app, platform.rawValue, "alert"])
        let reply = try await connection.client(context).request("PUT", path, json: body)
        if connection.isJSON {
            context.console.writeLine(reply.text)
        } else {
            context.console.writeLine(AlertText.line(reply.tree))
            for warning in WarningText.lines(reply.tree) { context.console.writeLine(warning) }
        }
        return .done
    }
}
