// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal
import UpgradeRules

struct AlertsClearCommand: Command {
    static let spec = CommandSpec(
        path: ["alerts", "clear"],
        purpose: "Takes back what the users of an app are told at launch",
        positionals: AppArguments.positionals,
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay alerts clear com.example.app ios"],
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
        let reply = try await connection.client(context).request("DELETE", path)
        if connection.isJSON {
            let said = try RelayClient.text(
                .object(["app": .string(app), "platform": .string(platform.rawValue), "cleared": .bool(true)]))
            context.console.writeLine(reply.bytes.isEmpty ? said : reply.text)
        } else {
            context.console.writeLine("\(app) \(platform.rawValue): the alert is cleared")
        }
        return .done
    }
}
