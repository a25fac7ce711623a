// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Terminal

struct DeliveriesCommand: Command {
    static let spec = CommandSpec(
        path: ["deliveries"],
        purpose: "Shows what became of each push",
        discussion:
            "Of one campaign, of one user or of one device; why somebody got none is the reason beside \"filtered\".",
        options: [
            .value("campaign", "ID", "the deliveries of this campaign"),
            .value("state", "STATE", "with --campaign: only those in this state (\(names))"),
            .value("telephone", "NUMBER", "the deliveries to this user, in every campaign unless --campaign is given"),
            .value("device", "TOKEN", "the deliveries to this device in every campaign"),
        ] + PageOptions.specs + ConnectionOptions.specs,
        examples: [
            "upgrade-relay deliveries --campaign 1f0c2ab93d44 --state rejected",
            "upgrade-relay deliveries --telephone 13800138000",
        ],
        exitCodes: ConnectionOptions.exitCodes)

    private static var names: String { DeliveryState.allCases.map(\.name).joined(separator: ", ") }

    private let connection: ConnectionOptions
    private let path: String
    private let page: PageOptions

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        page = try PageOptions(arguments)
        let (state, telephone, device) = (
            arguments.value("state"), arguments.value("telephone"), arguments.value("device")
        )
        if let state, DeliveryState(name: state) == nil {
            let nearest = Suggestion.nearest(to: state, among: DeliveryState.allCases.map(\.name))
            throw UsageError("--state: \"\(state)\" is not a state; \(Self.names)", suggestion: nearest)
        }
        if let campaign = arguments.value("campaign") {
            if device != nil { throw UsageError("--campaign and --device exclude each other") }
            let query = page.query + [("state", state), ("telephone", telephone)]
            path = APIPath.make(["v1", "campaigns", campaign, "deliveries"], query: query)
            return
        }
        if state != nil { throw UsageError("--state goes with --campaign") }
        guard (telephone == nil) != (device == nil) else {
            throw UsageError("one of --campaign, --telephone and --device is needed")
        }
        path = APIPath.make(["v1", "deliveries"], query: page.query + [("telephone", telephone), ("token", device)])
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply = try await connection.client(context).request("GET", path)
        if connection.isJSON {
            context.console.writeLine(reply.text)
            return .done
        }
        var table = TextTable([
            .init("CAMPAIGN"), .init("APP"), .init("PLATFORM"), .init("TOKEN"), .init("TELEPHONE"), .init("STATE"),
            .init("REASON"), .init("TRIES", .right), .init("UPDATED"),
        ])
        for item in reply.items {
            table.add([
                item.shown("campaign"), item.shown("app"), item.shown("platform"), item.shown("token"),
                item.shownOrDash("telephone"), item.shown("state"), item.shownOrDash("reason"), item.shown("attempts"),
                item.shownOrDash("updatedAt"),
            ])
        }
        context.console.write(table.rows.isEmpty ? "no deliveries\n" : table.text)
        page.announceNext(reply, context.console)
        return .done
    }
}
