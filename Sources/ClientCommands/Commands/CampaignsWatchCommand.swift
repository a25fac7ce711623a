// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal

struct CampaignsWatchCommand: Command {
    static let spec = CommandSpec(
        path: ["campaigns", "watch"],
        purpose: "Follows a campaign until it ends",
        discussion: """
            On a terminal a bar shows the share settled, the rate and the time left; elsewhere lines tell it now and \
            then. With --json each state is printed as one line. Ends with 0 when the campaign completed, with 1 when it \
            was cancelled or superseded.
            """,
        positionals: [CampaignText.positional],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay campaigns watch 1f0c2ab93d44"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let (console, isJSON) = (context.console, connection.isJSON)
        let display = ProgressDisplay(console, label: id, total: nil, isQuiet: connection.isQuiet || isJSON)
        let watch = CampaignWatch(client: try connection.client(context), id: id)
        let last = try await watch.run { campaign in
            if isJSON {
                if let line = try? RelayClient.text(campaign.tree) { console.writeLine(line) }
            } else {
                display.update(campaign.progress)
            }
        }
        display.finish(last.progress)
        if !isJSON { console.write(last.details) }
        return last.state == CampaignState.completed.rawValue ? .done : .failed
    }
}
