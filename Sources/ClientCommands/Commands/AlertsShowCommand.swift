// SPDX-License-Identifier: Apache-2.0
import Terminal
import UpgradeRules

struct AlertsShowCommand: Command {
    static let spec = CommandSpec(
        path: ["alerts", "show"],
        purpose: "Shows what the users of an app are told at launch",
        positionals: AppArguments.positionals,
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay alerts show com.example.app ios"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let app: String
    private let platform: Platform

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        app = try arguments.require("APP")
        platform = try AppArguments.platform(arguments.require("PLATFORM"))
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "apps", app, platform.rawValue, "alert"])
        let reply = try await connection.client(context).request("GET", path)
        context.console.writeLine(connection.isJSON ? reply.text : AlertText.line(reply.tree))
        return .done
    }
}
