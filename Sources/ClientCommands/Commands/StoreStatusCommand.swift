// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import RelayAPI
import RelayStoreSQLite
import Terminal

struct StoreStatusCommand: Command {
    static let spec = CommandSpec(
        path: ["store", "status"],
        purpose: "Shows where the store is, how far it has grown, and which release made it",
        discussion:
            "Asks the daemon. Where none runs, reads the file that the configuration names and changes nothing.",
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay store status"],
        exitCodes: ConnectionOptions.exitCodes + [.configuration])

    private let connection: ConnectionOptions
    private let configPath: String?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        configPath = arguments.value("config")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply: RelayClient.Reply
        var isRunning = true
        do {
            reply = try await connection.client(context).request("GET", "/v1/store")
        } catch let error as CommandFailure where error.code == .unreachable && connection.address == nil {
            // The socket may only be closed to this user; then the file is as well, and the error says so.
            reply = try readFile(context)
            isRunning = false
        }
        if connection.isJSON {
            context.console.writeLine(reply.text)
        } else {
            show(reply.tree, isRunning: isRunning, context.console)
        }
        return .done
    }

    private func readFile(_ context: CommandContext) throws -> RelayClient.Reply {
        let file = ConfigurationFile.located(option: configPath, environment: context.environment)
        let status = try SQLiteStore.status(ofFile: file.load().store.sqlitePath)
        return try RelayClient.reply(APIAnswer(status: 200, body: StoreDocument.json(of: status)))
    }

    private func show(_ tree: JSONTree, isRunning: Bool, _ console: Console) {
        var fields = [
            ("store", tree.shown("path")), ("size", Quantity.bytes(tree["size"]?.integer ?? 0)),
            ("schema", Self.schema(tree)), ("first installed", Self.release(tree["firstInstalled"])),
            ("current", Self.release(tree["current"])),
        ]
        if !isRunning { fields.append(("daemon", "does not answer; this is from the file")) }
        console.write(TextTable.fields(fields))
        var table = TextTable([.init("VERSION"), .init("STEP"), .init("DONE")])
        for step in tree["chain"]?.array ?? [] {
            let time = step.shown("appliedAt")
            table.add([step.shown("version"), step.shown("name"), time.isEmpty ? "when the daemon starts" : time])
        }
        console.write("\nchain\n\(table.text)")
    }

    private static func schema(_ tree: JSONTree) -> String {
        let (version, newest) = (tree.shown("schemaVersion"), tree.shown("newestSchemaVersion"))
        return "version \(version)" + (version == newest ? "" : ", grows to \(newest) when the daemon starts")
    }

    private static func release(_ value: JSONTree?) -> String {
        guard let value, case .object = value else { return "-" }
        return "release \(value.shown("release")), schema version \(value.shown("schemaVersion")), since "
            + value.shown("openedAt")
    }
}
