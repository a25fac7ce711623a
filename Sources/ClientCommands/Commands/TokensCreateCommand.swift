// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import Terminal

struct TokensCreateCommand: Command {
    static let spec = CommandSpec(
        path: ["tokens", "create"],
        purpose: "Makes an API token",
        discussion: """
            The token is shown once and stored as a hash only. Rights: status (read everything), versions (raise \
            versions, dry runs), devices (the registry), campaigns (pause, resume, cancel). Only the control socket may \
            make tokens.
            """,
        options: [
            .required("name", "NAME", "what the token is for; it stands in the history of what was done with it"),
            OptionSpec.required("scope", "SCOPE", "a right: \(names)").repeatable().variadic(),
        ] + ConnectionOptions.specs,
        examples: ["upgrade-relay tokens create --name app-backend --scope devices --scope status"],
        exitCodes: ConnectionOptions.exitCodes)

    private static var names: String { Scope.allCases.map(\.rawValue).joined(separator: ", ") }

    private let connection: ConnectionOptions
    private let name: String
    private let scopes: [String]

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        name = try arguments.require("name")
        var scopes: [String] = []
        for text in arguments.values("scope").flatMap({ $0.split(separator: ",").map(String.init) }) {
            guard Scope(rawValue: text) != nil else {
                let nearest = Suggestion.nearest(to: text, among: Scope.allCases.map(\.rawValue))
                throw UsageError("\"\(text)\" is not a scope; \(Self.names)", suggestion: nearest)
            }
            if !scopes.contains(text) { scopes.append(text) }
        }
        guard !scopes.isEmpty else { throw UsageError("--scope needs a value: \(Self.names)") }
        self.scopes = scopes
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let body = JSONTree.object(["name": .string(name), "scopes": .array(scopes.map(JSONTree.string))])
        let reply = try await connection.client(context).request("POST", "/v1/tokens", json: body)
        if connection.isJSON {
            context.console.writeLine(reply.text)
        } else {
            context.console.writeLine(reply.tree.shown("token"))
            context.console.writeError("Keep it now: it is not shown again.\n")
        }
        return .done
    }
}
