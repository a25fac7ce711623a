// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

struct TokensRevokeCommand: Command {
    static let spec = CommandSpec(
        path: ["tokens", "revoke"],
        purpose: "Makes an API token worthless from now on",
        positionals: [PositionalSpec("NAME", "the token's name")],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay tokens revoke app-backend"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let name: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        name = try arguments.require("NAME")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply = try await connection.client(context).request("DELETE", APIPath.make(["v1", "tokens", name]))
        if connection.isJSON {
            let said = try RelayClient.text(.object(["name": .string(name), "revoked": .bool(true)]))
            context.console.writeLine(reply.bytes.isEmpty ? said : reply.text)
        } else {
            context.console.writeLine("token \(name) revoked")
        }
        return .done
    }
}
