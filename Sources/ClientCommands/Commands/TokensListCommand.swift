// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

struct TokensListCommand: Command {
    static let spec = CommandSpec(
        path: ["tokens", "list"],
        purpose: "Lists the API tokens: names and rights, never the tokens themselves",
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay tokens list"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let reply = try await connection.client(context).request("GET", "/v1/tokens")
        if connection.isJSON {
            context.console.writeLine(reply.text)
            return .done
        }
        var table = TextTable([.init("NAME"), .init("SCOPES"), .init("CREATED"), .init("REVOKED")])
        for token in reply.items {
            let scopes = (token["scopes"]?.array ?? []).compactMap(\.string).joined(separator: " ")
            table.add([
                token.shown("name"), scopes, token.shownOrDash("createdAt"), token.shownOrDash("revokedAt"),
            ])
        }
        context.console.write(table.rows.isEmpty ? "no tokens\n" : table.text)
        return .done
    }
}
