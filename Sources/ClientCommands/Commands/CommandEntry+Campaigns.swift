// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayEngine
import RelayStore
import Terminal

extension CommandEntry {
    static let campaignsList = request(
        ["campaigns", "list"], "Lists the campaigns, newest first", options: PageOptions.specs,
        examples: ["upgrade-relay campaigns list"],
        request: { try APIRequest("GET", ["v1", "campaigns"], query: PageOptions.query($0)) },
        note: PageOptions.next,
        text: { _, reply in
            let columns: [TextTable.Column] = [
                .init("ID"), .init("APP"), .init("PLATFORM"), .init("REQUIRED"), .init("STATE"),
                .init("AUDIENCE", .right), .init("SETTLED", .right), .init("ACCEPTED", .right), .init("CREATED"),
            ]
            return reply.table(columns, none: "no campaigns") { item in
                let campaign = CampaignText(item)
                return [
                    campaign.id, item.shown("app"), item.shown("platform"), item.shown("required"), campaign.state,
                    Quantity.count(campaign.audience), Quantity.percent(campaign.settled, of: campaign.audience),
                    Quantity.count(campaign.counts.count("accepted")), item.shown("createdAt"),
                ]
            }
        })

    static let campaignsShow = request(
        ["campaigns", "show"], "Shows how a campaign stands", positionals: [CampaignText.positional],
        examples: ["upgrade-relay campaigns show 1f0c2ab93d44"],
        request: { try APIRequest("GET", ["v1", "campaigns", $0.require("ID")]) },
        text: { CampaignText($1.tree).details })

    static let campaignsPause = campaigns("pause", "Stops a running campaign until it is resumed")
    static let campaignsResume = campaigns(
        "resume", "Lets a paused or suspended campaign go on, or the next wave begin that was held")
    static let campaignsRelease = campaigns(
        "release", "Lets a waiting campaign, or the next wave of a running one, begin now")
    static let campaignsCancel = campaigns("cancel", "Ends a campaign; what was not sent yet is never sent")

    /// What moves a campaign from one state to another, named as the API names it; says in which state it is now.
    private static func campaigns(_ verb: String, _ purpose: String) -> CommandEntry {
        request(
            ["campaigns", verb], purpose, positionals: [CampaignText.positional],
            examples: ["upgrade-relay campaigns \(verb) 1f0c2ab93d44"],
            request: { try APIRequest("POST", ["v1", "campaigns", $0.require("ID"), verb]) },
            text: { "campaign \(try $0.require("ID")) is \(CampaignText($1.tree).state)\n" })
    }

    static let deliveries = request(
        ["deliveries"], "Shows what became of each push",
        discussion:
            "Of one campaign, of one user or of one device; why somebody got none is the reason beside \"filtered\".",
        options: [
            .value("campaign", "ID", "the deliveries of this campaign"),
            .value("state", "STATE", "with --campaign: only those in this state (\(deliveryStates.shown))"),
            .value("telephone", "NUMBER", "the deliveries to this user, in every campaign unless --campaign is given"),
            .value("device", "TOKEN", "the deliveries to this device in every campaign"),
        ] + PageOptions.specs,
        examples: [
            "upgrade-relay deliveries --campaign 1f0c2ab93d44 --state rejected",
            "upgrade-relay deliveries --telephone 13800138000",
        ],
        request: deliveriesRequest,
        note: PageOptions.next,
        text: { _, reply in
            let columns: [TextTable.Column] = [
                .init("CAMPAIGN"), .init("APP"), .init("PLATFORM"), .init("TOKEN"), .init("TELEPHONE"), .init("STATE"),
                .init("REASON"), .init("TRIES", .right), .init("UPDATED"),
            ]
            return reply.table(columns, none: "no deliveries") { item in
                [
                    item.shown("campaign"), item.shown("app"), item.shown("platform"), item.shown("token"),
                    item.shownOrDash("telephone"), item.shown("state"), item.shownOrDash("reason"),
                    item.shown("attempts"), item.shownOrDash("updatedAt"),
                ]
            }
        })

    private static let deliveryStates = NamedChoice("state", DeliveryState.allCases.map(\.name))

    @Sendable private static func deliveriesRequest(_ arguments: ParsedArguments) throws -> APIRequest {
        let page = try PageOptions.query(arguments)
        let state = try deliveryStates.option(arguments)
        let (telephone, device) = (arguments.value("telephone"), arguments.value("device"))
        if let campaign = arguments.value("campaign") {
            if device != nil { throw UsageError("--campaign and --device exclude each other") }
            let query = page + [("state", state), ("telephone", telephone)]
            return try APIRequest("GET", ["v1", "campaigns", campaign, "deliveries"], query: query)
        }
        if state != nil { throw UsageError("--state goes with --campaign") }
        guard (telephone == nil) != (device == nil) else {
            throw UsageError("one of --campaign, --telephone and --device is needed")
        }
        return try APIRequest(
            "GET", ["v1", "deliveries"], query: page + [("telephone", telephone), ("token", device)])
    }

    static let notifications = request(
        ["notifications"], "Shows who was told of a campaign's changes, and what each attempt came to",
        discussion: "Receivers are named under \"notify\" in the configuration. --json shows every attempt.",
        options: [
            .value("campaign", "ID", "only of this campaign"),
            .value("state", "STATE", "only those in this state (\(notificationStates.shown))"),
        ] + PageOptions.specs,
        examples: ["upgrade-relay notifications --state pending"],
        request: { arguments in
            let page = try PageOptions.query(arguments)
            let query = try [
                ("campaign", arguments.value("campaign")), ("state", notificationStates.option(arguments)),
            ]
            return try APIRequest("GET", ["v1", "notifications"], query: page + query)
        },
        note: PageOptions.next,
        text: { _, reply in
            let columns: [TextTable.Column] = [
                .init("CAMPAIGN"), .init("TYPE"), .init("URL"), .init("STATE"), .init("TRIES", .right), .init("LAST"),
                .init("ANSWER"), .init("NEXT"),
            ]
            return reply.table(columns, none: "no notifications") { item in
                let attempts = item["attempts"]?.array ?? []
                let answer = attempts.last.map { $0.shown("error").isEmpty ? $0.shown("status") : $0.shown("error") }
                return [
                    item.shown("campaign"), item.shown("type"), item.shown("url"), item.shown("state"),
                    "\(attempts.count)", attempts.last?.shown("at") ?? "-", answer ?? "-",
                    item.shownOrDash("nextAttemptAt"),
                ]
            }
        })

    private static let notificationStates = NamedChoice("state", NotificationRecord.State.allCases.map(\.rawValue))
}
