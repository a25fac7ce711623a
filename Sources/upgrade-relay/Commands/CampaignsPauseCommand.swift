// SPDX-License-Identifier: Apache-2.0

struct CampaignsPauseCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "pause"],
        purpose: "Stops a running campaign until it is resumed",
        positionals: [CampaignsShowCommand.campaignPositional],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns pause 1f0c2ab93d44"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "campaigns", id, "pause"])
        let reply = try await connection.client(context).request("POST", path)
        let state = CampaignText(reply.tree).state
        context.console.writeLine(
            connection.isJSON ? reply.text : "campaign \(id) is \(state.isEmpty ? "paused" : state)")
        return .done
    }
}
