// SPDX-License-Identifier: Apache-2.0
import Terminal

struct CampaignsListCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "list"],
        purpose: "Lists the campaigns, newest first",
        options: PageOptions.specs + ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns list"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let page: PageOptions

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        page = try PageOptions(arguments)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let path = APIPath.make(["v1", "campaigns"], query: page.query)
        let reply = try await connection.client(context).request("GET", path)
        if connection.isJSON {
            context.console.writeLine(reply.text)
            return .done
        }
        var table = TextTable([
            .init("ID"), .init("APP"), .init("PLATFORM"), .init("REQUIRED"), .init("STATE"), .init("AUDIENCE", .right),
            .init("SETTLED", .right), .init("ACCEPTED", .right), .init("CREATED"),
        ])
        for item in reply.items {
            let campaign = CampaignText(item)
            table.add([
                campaign.id, item.shown("app"), item.shown("platform"), item.shown("required"), campaign.state,
                Quantity.count(campaign.audience), Quantity.percent(campaign.settled, of: campaign.audience),
                Quantity.count(campaign.counts.count("accepted")), item.shown("createdAt"),
            ])
        }
        context.console.write(table.rows.isEmpty ? "no campaigns\n" : table.text)
        page.announceNext(reply, context.console)
        return .done
    }
}
