// SPDX-License-Identifier: Apache-2.0

struct CampaignsReleaseCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "release"],
        purpose: "Lets a waiting campaign begin now, whatever the App Store offers",
        positionals: [CampaignsShowCommand.campaignPositional],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns release 1f0c2ab93d44"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "campaigns", id, "release"])
        let reply = try await connection.client(context).request("POST", path)
        let state = CampaignText(reply.tree).state
        context.console.writeLine(
            connection.isJSON ? reply.text : "campaign \(id) is \(state.isEmpty ? "released" : state)")
        return .done
    }
}
