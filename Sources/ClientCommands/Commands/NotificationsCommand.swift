// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import Terminal

struct NotificationsCommand: Command {
    static let spec = CommandSpec(
        path: ["notifications"],
        purpose: "Shows who was told of a campaign's changes, and what each attempt came to",
        discussion: "Receivers are named under \"notify\" in the configuration. --json shows every attempt.",
        options: [
            .value("campaign", "ID", "only of this campaign"),
            .value("state", "STATE", "only those in this state (\(names))"),
        ] + PageOptions.specs + ConnectionOptions.specs,
        examples: ["upgrade-relay notifications --state pending"],
        exitCodes: ConnectionOptions.exitCodes)

    private static var names: String { NotificationRecord.State.allCases.map(\.rawValue).joined(separator: ", ") }

    private let connection: ConnectionOptions
    private let path: String
    private let page: PageOptions

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        page = try PageOptions(arguments)
        let state = arguments.value("state")
        if let state, NotificationRecord.State(rawValue: state) == nil {
            let nearest = Suggestion.nearest(to: state, among: NotificationRecord.State.allCases.map(\.rawValue))
            throw UsageError("--state: \"\(state)\" is not a state; \(Self.names)", suggestion: nearest)
        }
        path = APIPath.make(
            ["v1", "notifications"], query: page.query + [("campaign", arguments.value("campaign")), ("state", state)])
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply = try await connection.client(context).request("GET", path)
        if connection.isJSON {
            context.console.writeLine(reply.text)
            return .done
        }
        var table = TextTable([
            .init("CAMPAIGN"), .init("TYPE"), .init("URL"), .init("STATE"), .init("TRIES", .right), .init("LAST"),
            .init("ANSWER"), .init("NEXT"),
        ])
        for item in reply.items {
            let attempts = item["attempts"]?.array ?? []
            let answer = attempts.last.map { $0.shown("error").isEmpty ? $0.shown("status") : $0.shown("error") }
            table.add([
                item.shown("campaign"), item.shown("type"), item.shown("url"), item.shown("state"),
                "\(attempts.count)", attempts.last?.shown("at") ?? "-", answer ?? "-",
                item.shownOrDash("nextAttemptAt"),
            ])
        }
        context.console.write(table.rows.isEmpty ? "no notifications\n" : table.text)
        page.announceNext(reply, context.console)
        return .done
    }
}
