// SPDX-License-Identifier: Apache-2.0
import Terminal

struct CampaignsShowCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "show"],
        purpose: "Shows how a campaign stands",
        positionals: [campaignPositional],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns show 1f0c2ab93d44"],
        exitCodes: ConnectionOptions.exitCodes)

    static let campaignPositional = PositionalSpec("ID", "the campaign's id, as \"campaigns list\" shows it")

    private let connection: ConnectionOptions
    private let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply = try await connection.client(context).request("GET", APIPath.make(["v1", "campaigns", id]))
        context.console.write(connection.isJSON ? reply.text + "\n" : CampaignText(reply.tree).details)
        return .done
    }
}
