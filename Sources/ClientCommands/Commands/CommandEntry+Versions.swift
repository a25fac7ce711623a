// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import UpgradeRules
import WireFormat

extension CommandEntry {
    static let versionSet = request(
        ["version", "set"], "Raises the required or the latest version of an app",
        discussion: """
            When the required version rises, a campaign starts that tells every device below it. Versions only rise: a \
            lower one is refused. Here --url is where users get the new version; the daemon's own address goes before \
            the command, or into --api.
            """,
        positionals: AppArguments.positionals, options: BumpArguments.options,
        examples: ["upgrade-relay version set com.example.app ios --required 2.0.0 --latest 2.1.0"],
        urlIsDownload: true,
        request: { try APIRequest("PUT", AppArguments.path($0, "version"), json: BumpArguments.body($0)) },
        text: { arguments, answer in
            let version = answer[.version] ?? .null
            let head =
                "\(try AppArguments.name(arguments)): required \(version.shown(.required, or: "-")), "
                + "latest \(version.shown(.latest, or: "-"))\n"
            let id = answer[.campaign]?.shown(.id) ?? ""
            let news =
                id.isEmpty
                ? "the required version did not rise: nothing is pushed\n"
                : "campaign \(id) started; \"upgrade-relay campaigns watch \(id)\" shows how it goes\n"
            return head + news + answer.warnings
        })

    static let versionShow = client(
        ["version", "show"], "Shows the versions of one app with their history, or those of all apps",
        positionals: [PositionalSpec("APP", "the app's name; without it, all apps", isRequired: false)],
        examples: ["upgrade-relay version show com.example.app"]
    ) { run in
        let client = try run.client()
        guard let app = run.arguments.positional("APP") else {
            let reply = try await client.reply(to: APIRequest("GET", ["v1", "apps"]))
            let table = reply.json.table(["APP", "PLATFORM", "REQUIRED", "LATEST", "UPDATED"], none: "no apps") {
                item in
                [
                    item.shown(.app), item.shown(.platform), item.shown(.required, or: "-"),
                    item.shown(.latest, or: "-"), item.shown(.updatedAt, or: "-"),
                ]
            }
            run.show(reply.text, table)
            return .done
        }
        var found: [JSONMember] = []
        for platform in Platform.allCases.map(\.rawValue) {
            let place = AppArguments.Place(app: app, platform: platform)
            if let reply = try await client.find(APIRequest("GET", place.path("version"))) {
                found.append(JSONMember(name: platform, value: reply.json))
            }
        }
        guard !found.isEmpty else {
            throw CommandFailure(.failed, "no app \"\(app)\"", hint: "\"upgrade-relay version show\" lists all")
        }
        run.show(.object(found), found.map { version($0.value, of: "\(app) \($0.name)") }.joined(separator: "\n"))
        return .done
    }

    private static func version(_ version: JSONValue, of name: String) -> String {
        var fields = [
            ("app", name), ("required", version.shown(.required, or: "-")), ("latest", version.shown(.latest, or: "-")),
            ("download URL", version.shown(.downloadUrl, or: "-")), ("message", version.shown(.message, or: "-")),
            ("updated", version.shown(.updatedAt, or: "-")),
        ]
        if let telephones = version[.telephones]?.array { fields.append(("only to", "\(telephones.count) telephones")) }
        let history = version.list(.history)
        guard !history.isEmpty else { return TextTable.fields(fields) }
        var table = TextTable(["WHEN", "REQUIRED", "LATEST", "WHO", "BY"])
        for change in history {
            table.add([
                change.shown(.updatedAt, or: "-"), change.shown(.required, or: "-"), change.shown(.latest, or: "-"),
                change.shown(.actor), change.shown(.source),
            ])
        }
        return "\(TextTable.fields(fields))\nhistory\n\(table.text)"
    }

    static let plan = request(
        ["plan"], "Shows what a new required version would do, without doing it",
        discussion:
            "Counts who would be pushed and who not, with the reason, and shows one push as a phone would get it.",
        positionals: AppArguments.positionals, options: BumpArguments.options,
        examples: ["upgrade-relay plan com.example.app ios --required 2.0.0"],
        urlIsDownload: true,
        request: { try APIRequest("POST", AppArguments.path($0, "plan"), json: BumpArguments.body($0)) },
        text: { PlanText.text($1) })
}
