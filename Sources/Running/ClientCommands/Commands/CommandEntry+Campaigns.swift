// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Terminal
import WireFormat

extension CommandEntry {
    static let campaignsList = request(
        "campaigns list",
        request: { arguments in
            let filters = [("app", arguments.value("app")), ("state", arguments.value("state"))]
            return APIRequest("GET", ["v1", "campaigns"], query: try PageOptions.query(arguments) + filters)
        },
        note: { answer in
            // A store that went back to an earlier state stops every campaign, each with this reason.
            let past = answer.list(.items).lazy.compactMap { $0[.reason]?.string }
                .first { $0.hasPrefix(StoreRollback.opening) }
            let notes = [past.map { "\(DisplayWidth.sanitised($0))\n" }, PageOptions.next(answer)].compactMap(\.self)
            return notes.isEmpty ? nil : notes.joined()
        },
        text: { _, answer in
            let columns: [TextTable.Column] = [
                .whole("ID"), "APP", "PLATFORM", "REQUIRED", .state, .right("AUDIENCE").spare(2), .right("SETTLED"),
                .right("ACCEPTED").spare(1), .time("CREATED"),
            ]
            return answer.table(columns, none: "no campaigns") { item in
                let campaign = CampaignText(item)
                return [
                    campaign.id, item.shown(.app), item.shown(.platform), campaign.target, campaign.state,
                    Quantity.count(campaign.audience), Quantity.percent(campaign.settled, of: campaign.audience),
                    Quantity.count(campaign.count(.accepted)), item.shown(.createdAt),
                ]
            }
        })

    static let campaignsShow = request(
        "campaigns show",
        request: { try APIRequest("GET", ["v1", "campaigns", $0.require("ID")]) },
        text: { CampaignText($1).details() })

    static let campaignsWatch = client("campaigns watch") { run in
        let id = try run.arguments.require("ID")
        let display = run.progress(id)
        let client = try run.client()
        let said = Mutex<String?>(nil)
        let last = try await Interruption.during {
            try await CampaignWatch(client: client, id: id).run { campaign in
                guard !run.connection.isJSON else { return run.console.writeLine(campaign.json.text()) }
                let line: String? = said.withLock { said in
                    guard campaign.standing != said else { return nil }
                    said = campaign.standing
                    return said ?? "\(campaign.state): nothing is in the way any more"
                }
                if let line { display.interrupt("\(line)\n") }
                display.update(campaign.progress)
            }
        } farewell: {
            display.finish()
        }
        display.finish(last.progress)
        if !run.connection.isJSON { run.console.write(last.details()) }
        return last.state == CampaignState.completed.rawValue ? .done : .failed
    }

    static let campaignsAdoption = request(
        "campaigns adoption",
        request: { try APIRequest("GET", ["v1", "campaigns", $0.require("ID"), "adoption"]) },
        text: { AdoptionText($1).text })

    static let campaignsPause = campaigns("pause", .pause)
    static let campaignsResume = campaigns("resume", .resume) { run, id, campaign in
        // A campaign that was suspended between two waves resumes with the next one.
        guard campaign[.state]?.string == CampaignState.suspended.rawValue,
            campaign[.wave]?[.endedAt]?.string != nil, campaign[.shown]?["ifWave"]?.integer != nil
        else { return }
        run.console.writeError("note: this begins the next wave, as \"campaigns approve \(id)\" does\n")
        try await confirm(run, .approve, campaign)
    }
    static let campaignsApprove = campaigns("approve", .approve) { run, _, campaign in
        try await confirm(run, .approve, campaign)
    }
    static let campaignsCancel = campaigns("cancel", .cancel) { run, _, campaign in
        try await confirm(run, .cancel, campaign)
    }

    private static func confirm(_ run: ClientRun, _ act: ActKind, _ campaign: JSONValue) async throws {
        let words = ActWords(act, of: campaign, id: try run.arguments.require("ID"))
        try await Confirmation.obtain(run, words) {
            campaign == .null ? "" : CampaignText(campaign).details(hasColour: false)
        }
    }

    static let campaignsRetry = request(
        "campaigns retry",
        changesCampaign: true,
        asks: { try await shown($0).carried(.retry) },
        request: { arguments in
            let states = arguments.list("state").map(JSONValue.string)
            let body: JSONValue = [
                "states": states.isEmpty ? nil : .array(states), "now": arguments.flag("now") ? .bool(true) : nil,
            ]
            return APIRequest(
                "POST", ["v1", "campaigns", try arguments.require("ID"), "retry"], json: body == [:] ? nil : body)
        },
        text: { "campaign \(try $0.require("ID")) is \(CampaignText($1).state)\n" + $1.sentence })

    /// A command that moves a campaign to another state and prints that state. Its name is also the API's.
    ///
    /// - Parameter asks: asks for a confirmation where the act needs one.
    private static func campaigns(
        _ verb: String, _ act: ActKind,
        asks: @escaping @Sendable (ClientRun, _ id: String, _ campaign: JSONValue) async throws -> Void = { _, _, _ in }
    ) -> CommandEntry {
        request(
            "campaigns \(verb)", changesCampaign: true,
            asks: { run in
                let campaign = try await shown(run)
                try await asks(run, try run.arguments.require("ID"), campaign)
                return campaign.carried(act)
            },
            request: { arguments in
                APIRequest(
                    "POST", ["v1", "campaigns", try arguments.require("ID"), verb],
                    json: acting(arguments))
            },
            text: { arguments, answer in
                let campaign = CampaignText(answer)
                let standing = arguments.flag("now") ? nil : campaign.outsideHours.map { ": \($0)" }
                return "campaign \(try arguments.require("ID")) is \(campaign.state)\(standing ?? "")\n"
                    + answer.sentence
            })
    }

    /// Reads the campaign that the command acts on.
    private static func shown(_ run: ClientRun) async throws -> JSONValue {
        let id = try run.arguments.require("ID")
        return try await run.look(APIRequest("GET", ["v1", "campaigns", id]))
    }

    static let notifications = request(
        "notifications",
        request: { arguments in
            try CampaignReference.refusePlace(arguments)
            let page = try PageOptions.query(arguments)
            let query = [
                ("campaign", arguments.value("campaign")), ("state", arguments.value("state")),
            ]
            return APIRequest("GET", ["v1", "notifications"], query: page + query)
        },
        note: PageOptions.next,
        text: { _, answer in
            let columns: [TextTable.Column] = [
                .whole("CAMPAIGN"), .spare("TYPE", 2), "URL", .state, .right("TRIES").spare(1), .time("LAST"),
                "ANSWER", .time("NEXT"),
            ]
            return answer.table(columns, none: "no notifications") { item in
                let attempts = item.list(.attempts)
                let last = attempts.last ?? .null
                return [
                    item.shown(.campaign), item.shown(.type), item.shown(.url), item.shown(.state),
                    "\(attempts.count)", last.shown(.at, or: "-"), last.shown(.error, or: last.shown(.status, or: "-")),
                    item.shown(.nextAttemptAt, or: "-"),
                ]
            }
        })
}
