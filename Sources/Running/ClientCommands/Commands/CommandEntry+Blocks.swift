// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

/// The commands that block single versions, and unblock them.
extension CommandEntry {
    static let versionBlock = client("version block") { run in
        let arguments = run.arguments
        let body: JSONValue = [
            "blocked": try versions(arguments),
            "downloadUrl": arguments.value("download-url").map(JSONValue.string),
            "message": try BumpArguments.message(arguments.values("message")),
            "now": arguments.flag("now") ? .bool(true) : nil,
        ]
        let reply = try await run.send(bump: body) { name, plan in
            ActWords(.block, "\(named(arguments)) of \(name)", devices: plan[.toPush]?.integer)
        }
        if let asked = ApprovalText.asked(reply.json) {
            run.show(reply.text, asked)
            return .done
        }
        let campaigns = reply.json.list(.blockCampaigns).map { campaign in
            "campaign \(campaign.shown(.id)) pushes to devices that run \(campaign.shown(.blocked)): it is \(campaign.shown(.state))\n"
        }
        let name = try AppArguments.name(arguments)
        run.show(
            reply.text,
            BlockText.list(reply.json[.version] ?? .null, of: name, among: arguments.values("VERSION"))
                + campaigns.joined() + reply.json.sentence + reply.json.warnings)
        return .done
    }

    static let versionUnblock = request(
        "version unblock",
        asks: { run in
            let name = try AppArguments.name(run.arguments)
            let path = try AppArguments.path(run.arguments, "version")
            let now = try await run.look(APIRequest("GET", path))
            let words = ActWords(.unblock, named(run.arguments), of: name, now)
            try await Confirmation.obtain(run, words) { BlockText.list(now, of: name) }
            let meant = Set(try versions(run.arguments).array ?? [])
            let states = Set(
                now.list(.blocks).filter { meant.contains($0[.version] ?? .null) }.map { $0.shown(.state) })
            let state = states.isEmpty ? nil : JSONValue.string(states.sorted().joined(separator: ", "))
            return now[.shown] == nil
                ? []
                : now.carried(.unblock).filter { $0.name != Shown.Fact.state.rawValue }
                    + [JSONValue.member(.state, state)]
        },
        request: { arguments in
            try APIRequest(
                "POST", AppArguments.path(arguments, "withdraw"),
                json: [
                    "blocked": versions(arguments), "reason": arguments.value("reason").map(JSONValue.string),
                ])
        },
        text: { $1.sentence })

    private static func versions(_ arguments: ParsedArguments) throws -> JSONValue {
        .array(
            try arguments.values("VERSION").map { text in
                do {
                    return .string(try Version(text).text)
                } catch {
                    throw UsageError("\(error)")
                }
            })
    }

    private static func named(_ arguments: ParsedArguments) -> String {
        arguments.values("VERSION").joined(separator: ", ")
    }
}

/// Blocked versions as people read them.
enum BlockText {
    /// - Parameter versions: the versions to list; nil: all.
    static func list(_ version: JSONValue, of name: String, among versions: [String]? = nil) -> String {
        let blocks = version.list(.blocks).filter { versions?.contains($0.shown(.version)) ?? true }
        if blocks.isEmpty { return "\(name): no version is blocked\n" }
        return blocks.map { "\(name): \(words($0))\n" }.joined()
    }

    /// "2.1.5 is blocked since 2026-01-31T09:05:07.250Z".
    static func words(_ block: JSONValue) -> String {
        let version = block.shown(.version)
        switch block.shown(.state) {
        case "inForce": return "\(version) is blocked since \(block.shown(.inForceSince))"
        case "superseded": return "\(version) is blocked, and below what is required anyway"
        default:
            let until = block.shown(.waitingUntil)
            return "\(version) will be blocked: \(block.shown(.waitingReason, or: "it was asked for a moment ago"))"
                + (until.isEmpty ? "" : " (until \(until))")
        }
    }
}
