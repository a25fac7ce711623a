// SPDX-License-Identifier: Apache-2.0
import APIModel
import RelayStore
import Telemetry
import Terminal
import WireFormat

extension CommandEntry {
    static let tokensCreate = request(
        ["tokens", "create"], "Creates an API token",
        discussion: """
            The token is shown once and stored as a hash only. Rights: status (read everything), versions (raise \
            versions, dry runs), devices (the registry), campaigns (pause, resume, cancel). Only the control socket may \
            make tokens.
            """,
        options: [
            .required("name", "NAME", "what the token is for; it stands in the history of what was done with it"),
            OptionSpec.required("scope", "SCOPE", "a right: \(scopeNames)").repeatable().variadic()
                .choosing(Scope.allCases.map(\.rawValue)),
            OptionSpec.value("app", "APP", "bind it to this app; by default it is for all").repeatable(),
        ],
        examples: [
            "upgrade-relay tokens create --name app-backend --scope devices --scope status",
            "upgrade-relay tokens create --name team-a --scope versions --app com.example.app",
        ],
        request: { arguments in
            let name = try arguments.require("name")
            let scopes = try scopes(arguments).map(JSONValue.string)
            var members = [
                JSONMember(name: "name", value: .string(name)), JSONMember(name: "scopes", value: .array(scopes)),
            ]
            let apps = arguments.values("app").map(JSONValue.string)
            if !apps.isEmpty { members.append(JSONMember(name: "apps", value: .array(apps))) }
            return APIRequest("POST", ["v1", "tokens"], json: .object(members))
        },
        note: { _ in "Keep it now: it is not shown again.\n" },
        text: { "\($1.shown(.token))\n" })

    private static var scopeNames: String { Scope.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func scopes(_ arguments: ParsedArguments) throws(UsageError) -> [String] {
        var scopes: [String] = []
        for text in arguments.values("scope").flatMap({ $0.split(separator: ",").map(String.init) }) {
            guard Scope(rawValue: text) != nil else {
                let nearest = Suggestion.nearest(to: text, among: Scope.allCases.map(\.rawValue))
                throw UsageError("\"\(text)\" is not a scope; \(scopeNames)", suggestion: nearest)
            }
            if !scopes.contains(text) { scopes.append(text) }
        }
        guard !scopes.isEmpty else { throw UsageError("--scope needs a value: \(scopeNames)") }
        return scopes
    }

    static let tokensList = request(
        ["tokens", "list"], "Lists the API tokens: names and rights, never the tokens themselves",
        examples: ["upgrade-relay tokens list"],
        request: { _ in APIRequest("GET", ["v1", "tokens"]) },
        text: { table($1) })

    /// - Parameter name: of the one that is shown; nil: all.
    private static func table(_ answer: JSONValue, of name: String? = nil) -> String {
        var table = TextTable([.whole("NAME"), "SCOPES", "APPS", .time("CREATED"), .time("REVOKED")])
        for token in answer.list(.items) where name == nil || token[.name]?.string == name {
            let scopes = token.list(.scopes).compactMap(\.string).joined(separator: " ")
            let apps = token[.apps]?.array?.compactMap(\.string).joined(separator: " ") ?? "all"
            table.add([
                token.shown(.name), scopes, apps, token.shown(.createdAt, or: "-"), token.shown(.revokedAt, or: "-"),
            ])
        }
        return table.rows.isEmpty ? name.map { "there is no token \($0)\n" } ?? "no tokens\n" : table.text
    }

    static let tokensRevoke = request(
        ["tokens", "revoke"], "Revokes an API token",
        discussion: "Whoever uses it is refused from then on, and it cannot be had back. On a terminal it asks first.",
        positionals: [PositionalSpec("NAME", "the token's name")], options: [Confirmation.option],
        examples: ["upgrade-relay tokens revoke app-backend"],
        asks: { run in
            let name = try run.arguments.require("NAME")
            try await Confirmation.obtain(run, "Revoke the token \(name)?") {
                let tokens = try await run.client().reply(to: APIRequest("GET", ["v1", "tokens"])).json
                return table(tokens, of: name)
            }
        },
        request: { try APIRequest("DELETE", ["v1", "tokens", $0.require("NAME")]) },
        done: { ["name": .string(try $0.require("NAME")), "revoked": .bool(true)] },
        text: { arguments, _ in "token \(try arguments.require("NAME")) revoked\n" })

    static let logLevel = request(
        ["log", "level"], "Shows or changes the level of the daemon's log",
        discussion:
            "The change holds until the configuration is read anew or the daemon starts again; log.level of the "
            + "configuration is what lasts.",
        positionals: [
            PositionalSpec(
                "LEVEL", "debug, info, notice, warning or error; without it, the present one is shown",
                isRequired: false)
        ],
        examples: ["upgrade-relay log level debug", "upgrade-relay log level"],
        request: { arguments in
            guard let name = arguments.positional("LEVEL") else { return APIRequest("GET", ["v1", "log"]) }
            guard let level = LogLevel(name: name) else {
                throw UsageError("LEVEL: \"\(name)\" is not a level; debug, info, notice, warning or error")
            }
            return APIRequest("PUT", ["v1", "log"], json: ["level": .string(level.name)])
        },
        text: { "the log's level is \($1.shown(.level))\n" })
}
