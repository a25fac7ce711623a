// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

extension CommandEntry {
    static let versionSet = client("version set") { run in
        if try AppArguments.isAll(run.arguments) { return try await setOnAll(run) }
        let reply = try await run.send(bump: BumpArguments.body(run.arguments)) { name, plan in
            let version = plan.shown(.required, or: run.arguments.value("latest") ?? "")
            return ActWords(.raise, "\(version) of \(name)", devices: plan[.toPush]?.integer)
        }
        try run.show(
            reply.text, bumped(AppArguments.name(run.arguments), reply.json, hasRisen: reply.status == 202))
        return .done
    }

    /// The text for the answer to a bump of one platform.
    ///
    /// - Parameter hasRisen: whether the API answered with 202.
    static func bumped(_ name: String, _ answer: JSONValue, hasRisen: Bool) -> String {
        if let asked = ApprovalText.asked(answer) { return asked }
        let version = answer[.version] ?? .null
        let head =
            "\(name): required \(version.shown(.required, or: "-")), "
            + "latest \(version.shown(.latest, or: "-"))\n"
        let id = answer[.campaign]?.shown(.id) ?? ""
        let wait = version.shown(.waitingReason)
        let news =
            id.isEmpty
            ? pushesNothing(hasRisen: hasRisen)
            : "campaign \(id) \(wait.isEmpty ? "started" : "waits"); "
                + "\"upgrade-relay campaigns watch \(id)\" shows how it goes\n"
        return head + news + (wait.isEmpty ? "" : waiting(version)) + answer.sentence + answer.warnings
    }

    /// The reason why a bump made no campaign. The API answers a rise with 202.
    private static func pushesNothing(hasRisen: Bool) -> String {
        let names = ProviderName.allCases.map(\.rawValue).joined(separator: ", ")
        return hasRisen
            ? "nothing is pushed: the app has no push service in the configuration (\(names)); the other channels say it\n"
            : "nothing is pushed: the required version did not rise\n"
    }

    static let versionWithdraw = client("version withdraw") { run in
        let client = try run.client()
        let name = try AppArguments.name(run.arguments)
        let now = try await client.reply(to: APIRequest("GET", AppArguments.path(run.arguments, "version"))).json
        guard let required = run.arguments.value("required") ?? now[.required]?.string else {
            throw CommandFailure(.failed, "nothing is required of \(name)")
        }
        let words = ActWords(.withdraw, required, of: name, now)
        try await Confirmation.obtain(run, words) { version(now, of: name) }
        let reason = run.arguments.value("reason").map(JSONValue.string)
        let reply = try await client.reply(
            to: APIRequest(
                "POST", AppArguments.path(run.arguments, "withdraw"),
                json: ["required": .string(required), "reason": reason]
            ).carrying(now.carried(.withdraw)))
        let after = reply.json[.version] ?? .null
        let campaign = reply.json[.campaign]?.shown(.id) ?? ""
        run.show(
            reply.text,
            "\(name): \(reply.json.shown(.withdrawn)) is withdrawn; required \(after.shown(.required, or: "nothing")), "
                + "in force \(after.shown(.inForce, or: "nothing"))\n"
                + (campaign.isEmpty ? "" : "campaign \(campaign) is \(reply.json[.campaign]?.shown(.state) ?? "")\n")
                + reply.json.sentence)
        return .done
    }

    static let versionRelease = request(
        "version release",
        asks: { run in
            let name = try AppArguments.name(run.arguments)
            let path = try AppArguments.path(run.arguments, "version")
            let now = try await run.look(APIRequest("GET", path))
            let what = now[.releasable]?["ifVersion"]?.string ?? "it"
            let words = ActWords(.release, what, of: name, now)
            try await Confirmation.obtain(run, words) { version(now, of: name) }
            return now.carried(.release, in: .releasable)
        },
        request: {
            try APIRequest("POST", AppArguments.path($0, "release"), json: acting($0))
        },
        text: { try released($1, of: AppArguments.name($0)) + $1.sentence })

    /// The body of an act that may begin pushes, or wait for a second person; nil: neither is said.
    static func acting(_ arguments: ParsedArguments) -> JSONValue? {
        let now = arguments.flag("now") ? [JSONMember(name: "now", value: .bool(true))] : []
        let members = now + arguments.alone
        return members.isEmpty ? nil : .object(members)
    }

    /// A release may have begun a wave, or put a version in force that is not the newest: the reply shows which.
    private static func released(_ version: JSONValue, of name: String) -> String {
        let (required, inForce) = (version.shown(.required, or: "-"), version.shown(.inForce, or: "nothing"))
        guard required != inForce else { return "\(name): required \(required) is in force\n" }
        return "\(name): \(required) is released; in force for everybody is \(inForce) until its last step has begun\n"
    }

    static let versionShow = client("version show") { run in
        let client = try run.client()
        guard let app = run.arguments.positional("APP") else {
            let reply = try await client.reply(to: APIRequest("GET", ["v1", "apps"]))
            let columns: [TextTable.Column] = ["APP", "PLATFORM", "REQUIRED", "IN FORCE", "LATEST", .time("UPDATED")]
            let table = reply.json.table(columns, none: "no apps") { item in
                [
                    item.shown(.app), item.shown(.platform), item.shown(.required, or: "-"),
                    item.shown(.inForce, or: "-"), item.shown(.latest, or: "-"), item.shown(.updatedAt, or: "-"),
                ]
            }
            run.show(reply.text, table)
            return .done
        }
        let only = try run.arguments.positional("PLATFORM").map(AppArguments.platform)
        var found: [JSONMember] = []
        for platform in only.map({ [$0] }) ?? Platform.allCases.map(\.rawValue) {
            let place = AppArguments.Place(app: app, platform: platform)
            if let reply = try await client.find(APIRequest("GET", place.path("version"))) {
                found.append(JSONMember(name: platform, value: reply.json))
            }
        }
        guard !found.isEmpty else {
            let name = "no app \"\(app)\"" + (only.map { " for \($0)" } ?? "")
            throw CommandFailure(.failed, name, hint: "\"upgrade-relay version show\" lists all")
        }
        run.show(.object(found), found.map { version($0.value, of: "\(app) \($0.name)") }.joined(separator: "\n"))
        return .done
    }

    static let versionAdoption = request(
        "version adoption",
        request: { APIRequest("GET", try AppArguments.path($0, "adoption")) },
        text: { VersionCourseText($1).text })

    private static func version(_ version: JSONValue, of name: String) -> String {
        var fields = [
            ("app", name), ("required", version.shown(.required, or: "-") + build(version, .required)),
            ("in force", inForce(version)),
            ("latest", version.shown(.latest, or: "-") + build(version, .latest)),
            ("announced", version.shown(.announced, or: "-")),
            ("download URL", version.shown(.downloadUrl, or: "as the configuration says")),
            ("message", version.shown(.message, or: "-")),
        ]
        if case .object(let messages)? = version[.messages] {
            fields += messages.map { ("message (\($0.name))", $0.value.string ?? "-") }
        }
        fields += [
            ("updated", version.shown(.updatedAt, or: "-"))
        ]
        // Terms that end when the version is in force, such as its canary, are then shown in the history alone.
        let isForEverybody = version[.required]?.string != nil && version[.inForce] == version[.required]
        for field in RequirementField.allCases where !isForEverybody || !field.isOverInForce {
            let value = version.shown(of: field)
            if !value.isEmpty { fields.append((field.noun, value)) }
        }
        if !version.shown(.waitingReason).isEmpty {
            let until = version.shown(.waitingUntil)
            fields.append(("waiting", version.shown(.waitingReason) + (until.isEmpty ? "" : " (until \(until))")))
        }
        for approval in version.list(.approvals) {
            fields.append(("second person", "waits for one: \(ApprovalText.details(approval))"))
        }
        for block in version.list(.blocks) { fields.append(("blocked", BlockText.words(block))) }
        if !isForEverybody, let telephones = version[.telephones]?.array {
            fields.append(("canary", Quantity.count(Int64(telephones.count), "phone number")))
        }
        let history = version.list(.history)
        guard !history.isEmpty else { return TextTable.fields(fields) + version.warnings }
        var table = TextTable([.time("WHEN"), "REQUIRED", "LATEST", "WHO", "BY"])
        for change in history {
            table.add([
                change.shown(.updatedAt, or: "-"), change.shown(.required, or: "-"), change.shown(.latest, or: "-"),
                change.shown(.actor), change.shown(.source),
            ])
        }
        var inForce = TextTable([.time("WHEN"), "IN FORCE", "ANNOUNCED", "WHO", "BY", "REASON"])
        for change in version.list(.inForceHistory) {
            inForce.add([
                change.shown(.updatedAt, or: "-"), change.shown(.inForce, or: "-"), change.shown(.announced, or: "-"),
                change.shown(.actor), change.shown(.source), change.shown(.inForceReason, or: "-"),
            ])
        }
        return "\(TextTable.fields(fields))\(version.warnings)\nhistory\n\(table.text)\nin force\n\(inForce.text)"
    }

    /// " (version code 2105)"; "" where none is known.
    private static func build(_ version: JSONValue, _ field: Field) -> String {
        let code = version[.builds]?.shown(field) ?? ""
        return code.isEmpty ? "" : " (version code \(code))"
    }

    /// "1.9.0 since 2026-01-31T09:05:07.250Z (appStore: listed since 09:05)"
    private static func inForce(_ version: JSONValue) -> String {
        let required = version.shown(.inForce)
        guard !required.isEmpty else { return "-" }
        let reason = version.shown(.inForceReason)
        return "\(required) since \(version.shown(.inForceSince, or: "-")) (\(version.shown(.inForceBy, or: "-"))"
            + (reason.isEmpty ? ")" : ": \(reason))")
    }

    /// The reason why a new requirement is not in force yet, and the version in force until then.
    private static func waiting(_ version: JSONValue) -> String {
        let until = version.shown(.waitingUntil)
        return version.shown(.waitingReason) + (until.isEmpty ? "" : " (until \(until))") + "\n"
            + "in force until then: \(version.shown(.inForce, or: "nothing")); "
            + "\"upgrade-relay version release\" puts it in force now\n"
    }

    static let plan = request(
        "plan",
        request: { try APIRequest("POST", AppArguments.path($0, "plan"), json: BumpArguments.body($0)) },
        text: { PlanText.text($1) })
}
