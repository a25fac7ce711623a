// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

struct VersionShowCommand: Command {
    static let spec = CommandSpec(
        path: ["version", "show"],
        purpose: "Shows the versions of one app with their history, or those of all apps",
        positionals: [PositionalSpec("APP", "the app's name; without it, all apps", isRequired: false)],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay version show com.example.app"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let app: String?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        app = arguments.positional("APP")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let client = try connection.client(context)
        guard let app else { return try await showAll(client, context.console) }
        var found: [(platform: String, tree: JSONTree)] = []
        for platform in ["ios", "android"] {
            if let reply = try await client.find(APIPath.make(["v1", "apps", app, platform, "version"])) {
                found.append((platform, reply.tree))
            }
        }
        guard !found.isEmpty else {
            throw CommandFailure(.failed, "no app \"\(app)\"", hint: "\"upgrade-relay version show\" lists all")
        }
        if connection.isJSON {
            let object = Dictionary(found.map { ($0.platform, $0.tree) }, uniquingKeysWith: { first, _ in first })
            context.console.writeLine(try RelayClient.text(.object(object)))
            return .done
        }
        for (index, entry) in found.enumerated() {
            if index > 0 { context.console.writeLine("") }
            show(entry.tree, platform: entry.platform, app: app, context.console)
        }
        return .done
    }

    private func showAll(_ client: RelayClient, _ console: Console) async throws -> ExitCode {
        let reply = try await client.request("GET", "/v1/apps")
        if connection.isJSON {
            console.writeLine(reply.text)
            return .done
        }
        let columns: [TextTable.Column] = [
            .init("APP"), .init("PLATFORM"), .init("REQUIRED"), .init("LATEST"), .init("UPDATED"),
        ]
        let table = reply.table(columns, none: "no apps") { item in
            [
                item.shown("app"), item.shown("platform"), item.shownOrDash("required"), item.shownOrDash("latest"),
                item.shownOrDash("updatedAt"),
            ]
        }
        console.write(table)
        return .done
    }

    private func show(_ tree: JSONTree, platform: String, app: String, _ console: Console) {
        var fields = [
            ("app", "\(app) \(platform)"), ("required", tree.shownOrDash("required")),
            ("latest", tree.shownOrDash("latest")), ("download URL", tree.shownOrDash("downloadUrl")),
            ("message", tree.shownOrDash("message")), ("updated", tree.shownOrDash("updatedAt")),
        ]
        if let telephones = tree["telephones"]?.array { fields.append(("only to", "\(telephones.count) telephones")) }
        console.write(TextTable.fields(fields))
        let history = tree["history"]?.array ?? []
        guard !history.isEmpty else { return }
        var table = TextTable([
            .init("WHEN"), .init("REQUIRED"), .init("LATEST"), .init("WHO"), .init("BY"),
        ])
        for change in history {
            table.add([
                change.shownOrDash("updatedAt"), change.shownOrDash("required"), change.shownOrDash("latest"),
                change.shown("actor"), change.shown("source"),
            ])
        }
        console.write("\nhistory\n\(table.text)")
    }
}

extension JSONTree {
    func shownOrDash(_ name: String) -> String {
        let text = shown(name)
        return text.isEmpty ? "-" : text
    }
}
