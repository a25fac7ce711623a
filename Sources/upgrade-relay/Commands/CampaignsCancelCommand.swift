// SPDX-License-Identifier: Apache-2.0

struct CampaignsCancelCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "cancel"],
        purpose: "Ends a campaign; what was not sent yet is never sent",
        positionals: [CampaignsShowCommand.campaignPositional],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns cancel 1f0c2ab93d44"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "campaigns", id, "cancel"])
        let reply = try await connection.client(context).request("POST", path)
        let state = CampaignText(reply.tree).state
        context.console.writeLine(
            connection.isJSON ? reply.text : "campaign \(id) is \(state.isEmpty ? "cancelled" : state)")
        return .done
    }
}
