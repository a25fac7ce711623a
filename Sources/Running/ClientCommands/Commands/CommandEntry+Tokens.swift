// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Telemetry
import Terminal
import WireFormat

extension CommandEntry {
    static let tokensCreate = request(
        "tokens create",
        request: { arguments in
            let name = try arguments.require("name")
            var scopes: [JSONValue] = []
            for scope in arguments.list("scope").map(JSONValue.string) where !scopes.contains(scope) {
                scopes.append(scope)
            }
            let apps = arguments.values("app").map(JSONValue.string)
            return APIRequest(
                "POST", ["v1", "tokens"],
                json: ["name": .string(name), "scopes": .array(scopes), "apps": apps.isEmpty ? nil : .array(apps)])
        },
        note: { _ in "Keep it now: it is not shown again.\n" },
        text: { "\($1.shown(.secret))\n" })

    static let tokensList = request(
        "tokens list",
        request: { _ in APIRequest("GET", ["v1", "tokens"]) },
        text: { table($1) })

    /// - Parameter name: the token to show; nil: all.
    private static func table(_ answer: JSONValue, of name: String? = nil) -> String {
        var table = TextTable([.whole("NAME"), "SCOPES", "APPS", .time("CREATED"), .time("LAST USE"), .time("REVOKED")])
        for token in answer.list(.items) where name == nil || token[.name]?.string == name {
            let scopes = token.list(.scopes).compactMap(\.string).joined(separator: " ")
            let apps = token[.apps]?.array?.compactMap(\.string).joined(separator: " ") ?? "all"
            table.add([
                token.shown(.name), scopes, apps, token.shown(.createdAt, or: "-"), token.shown(.usedAt, or: "-"),
                token.shown(.revokedAt, or: "-"),
            ])
        }
        return table.rows.isEmpty ? name.map { "there is no token \($0)\n" } ?? "no tokens\n" : table.text
    }

    static let tokensRevoke = request(
        "tokens revoke",
        asks: { run in
            let name = try run.arguments.require("NAME")
            let tokens = try await run.client().reply(to: APIRequest("GET", ["v1", "tokens"])).json
            try await Confirmation.obtain(run, ActWords(.revokeToken, "the token \(name)")) {
                table(tokens, of: name)
            }
            let token = tokens.list(.items).first { $0[.name]?.string == name }
            let state = token.map { JSONValue.string($0[.revokedAt]?.string == nil ? "active" : "revoked") }
            return [JSONValue.member(.state, state)]
        },
        request: { try APIRequest("DELETE", ["v1", "tokens", $0.require("NAME")]) },
        done: { ["name": .string(try $0.require("NAME")), "revoked": .bool(true)] },
        text: { arguments, _ in ActWords(.revokeToken, "the token \(try arguments.require("NAME"))").lines })

    static let logLevel = request(
        "log level",
        request: { arguments in
            guard let name = arguments.positional("LEVEL") else { return APIRequest("GET", ["v1", "log"]) }
            guard let level = LogLevel(name: name) else {
                throw UsageError("LEVEL: \"\(name)\" is not a level; debug, info, notice, warning or error")
            }
            return APIRequest("PUT", ["v1", "log"], json: ["level": .string(level.name)])
        },
        text: { "the log's level is \($1.shown(.level))\n" })
}
