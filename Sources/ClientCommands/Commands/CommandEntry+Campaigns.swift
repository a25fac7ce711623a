// SPDX-License-Identifier: Apache-2.0
import APIModel
import RelayEngine
import RelayStore
import Synchronization
import Terminal
import WireFormat

extension CommandEntry {
    static let campaignsList = request(
        ["campaigns", "list"], "Lists the campaigns, newest first",
        options: [
            .value("app", "APP", "only those of this app"),
            OptionSpec.value("state", "STATE", "only those in this state (\(campaignStates.shown))")
                .choosing(campaignStates.names),
        ] + PageOptions.specs,
        examples: [
            "upgrade-relay campaigns list", "upgrade-relay campaigns list --app com.example.app --state running",
        ],
        request: { arguments in
            let filters = [("app", arguments.value("app")), ("state", try campaignStates.option(arguments))]
            return APIRequest("GET", ["v1", "campaigns"], query: try PageOptions.query(arguments) + filters)
        },
        note: PageOptions.next,
        text: { _, answer in
            let columns: [TextTable.Column] = [
                .whole("ID"), "APP", "PLATFORM", "REQUIRED", .state, .right("AUDIENCE").spare(2), .right("SETTLED"),
                .right("ACCEPTED").spare(1), .time("CREATED"),
            ]
            return answer.table(columns, none: "no campaigns") { item in
                let campaign = CampaignText(item)
                return [
                    campaign.id, item.shown(.app), item.shown(.platform), item.shown(.required), campaign.state,
                    Quantity.count(campaign.audience), Quantity.percent(campaign.settled, of: campaign.audience),
                    Quantity.count(campaign.count(.accepted)), item.shown(.createdAt),
                ]
            }
        })

    private static let campaignStates = NamedChoice("state", CampaignState.allCases.map(\.rawValue))

    static let campaignsShow = request(
        ["campaigns", "show"], "Shows how a campaign stands", positionals: [CampaignText.positional],
        options: CampaignReference.options, examples: ["upgrade-relay campaigns show 1f0c2ab93d44"],
        request: { try APIRequest("GET", ["v1", "campaigns", $0.require("ID")]) },
        text: { CampaignText($1).details() })

    static let campaignsWatch = client(
        ["campaigns", "watch"], "Follows a campaign until it ends",
        discussion: """
            On a terminal a bar shows the share settled, the rate and the time left; elsewhere lines tell it now and \
            then. A line of its own says why it does not move and when it will, each time that this changes. With --json each state is printed as one line. Ends with 0 when the campaign completed, with 1 when it \
            was cancelled or superseded.
            """,
        positionals: [CampaignText.positional], options: CampaignReference.options,
        examples: ["upgrade-relay campaigns watch 1f0c2ab93d44"]
    ) { run in
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

    static let campaignsAdoption = client(
        ["campaigns", "adoption"], "Shows how many devices upgraded, over time",
        discussion: """
            How many devices of the audience were since seen with a version that meets the requirement, and what had \
            reached them before: an accepted push, an answer at login that they must upgrade, or both. A campaign is \
            followed until the next one starts, for 90 days at most; of many points 24 are shown, and all with --json.
            """,
        positionals: [CampaignText.positional], options: CampaignReference.options,
        examples: ["upgrade-relay campaigns adoption 1f0c2ab93d44"]
    ) { run in
        let path = ["v1", "campaigns", try run.arguments.require("ID"), "adoption"]
        let reply = try await run.client().reply(to: APIRequest("GET", path))
        run.show(reply.text, AdoptionText(reply.json).text)
        return .done
    }

    static let campaignsPause = campaigns("pause", "Stops a running campaign until it is resumed")
    static let campaignsResume = campaigns(
        "resume", "Lets a paused or suspended campaign go on, or the next wave begin that was held",
        discussion: """
            Of a campaign that is running it ends what its push services wait for (a quota, an outage, a pause that the key was \
            asked for): a few pushes find out at once how they are.
            """)
    static let campaignsRelease = campaigns(
        "release", "Lets a waiting campaign or the next wave begin now, or sends to everybody after the canary",
        discussion: "What has been pushed cannot be called back. On a terminal it asks first.",
        options: [Confirmation.option],
        asks: { run in
            let id = try run.arguments.require("ID")
            try await Confirmation.obtain(run, "Release campaign \(id)?") { try await details(run, id) }
        })
    static let campaignsCancel = client(
        ["campaigns", "cancel"], "Ends a campaign; what was not sent yet is never sent",
        discussion:
            "What is in force for everybody stays so: \"upgrade-relay version withdraw\" takes that back. What waits, or is in "
            + "force for a canary or some waves alone, is taken back with its campaign. On a terminal it asks first.",
        positionals: [CampaignText.positional], options: [Confirmation.option] + CampaignReference.options,
        examples: ["upgrade-relay campaigns cancel 1f0c2ab93d44"], changesCampaign: true
    ) { run in
        let client = try run.client()
        let id = try run.arguments.require("ID")
        try await Confirmation.obtain(run, "Cancel campaign \(id)?") { try await details(run, id) }
        let reply = try await client.reply(to: APIRequest("POST", ["v1", "campaigns", id, "cancel"]))
        run.show(reply.text, "campaign \(id) is \(CampaignText(reply.json).state)\n")
        return .done
    }

    static let campaignsRetry = request(
        ["campaigns", "retry"], "Sends what was rejected, cancelled or expired again",
        discussion: """
            Opens a campaign again that was cancelled or is completed, under the same id, with the same push ids and with the \
            whole time to live. Devices that have upgraded since, or were removed, get nothing. A superseded campaign is not \
            sent again: that of the newer requirement reaches the same devices.
            """,
        positionals: [CampaignText.positional],
        options: [
            OptionSpec.value(
                "state", "STATES", "only devices in these states, separated by commas (\(retriedStates.shown))"
            ).choosing(retriedStates.names)
        ] + CampaignReference.options,
        examples: [
            "upgrade-relay campaigns retry 1f0c2ab93d44",
            "upgrade-relay campaigns retry 1f0c2ab93d44 --state rejected,expired",
        ],
        changesCampaign: true,
        request: { arguments in
            let states = try retriedStates.list(arguments)
            return APIRequest(
                "POST", ["v1", "campaigns", try arguments.require("ID"), "retry"],
                json: states.map { ["states": .array($0.map { .string($0) })] })
        },
        text: { "campaign \(try $0.require("ID")) is \(CampaignText($1).state)\n" })

    private static let retriedStates = NamedChoice("state", CampaignRound.retried.map(\.name))

    /// What moves a campaign from one state to another, named as the API names it; says in which state it is now.
    private static func campaigns(
        _ verb: String, _ purpose: String, discussion: String = "", options: [OptionSpec] = [],
        asks: @escaping @Sendable (ClientRun) async throws -> Void = { _ in }
    ) -> CommandEntry {
        request(
            ["campaigns", verb], purpose, discussion: discussion, positionals: [CampaignText.positional],
            options: options + CampaignReference.options,
            examples: ["upgrade-relay campaigns \(verb) 1f0c2ab93d44"], changesCampaign: true, asks: asks,
            request: { try APIRequest("POST", ["v1", "campaigns", $0.require("ID"), verb]) },
            text: { "campaign \(try $0.require("ID")) is \(CampaignText($1).state)\n" })
    }

    /// The campaign that a person is asked about.
    private static func details(_ run: ClientRun, _ id: String) async throws -> String {
        let reply = try await run.client().reply(to: APIRequest("GET", ["v1", "campaigns", id]))
        return CampaignText(reply.json).details(hasColour: false)
    }

    static let notifications = request(
        ["notifications"], "Lists the outgoing webhooks about campaigns, and what each attempt came to",
        discussion: "Receivers are named under \"notify\" in the configuration. --json shows every attempt.",
        options: [
            .value("campaign", "ID", "only of this campaign"),
            OptionSpec.value("state", "STATE", "only those in this state (\(notificationStates.shown))")
                .choosing(notificationStates.names),
        ] + CampaignReference.options + PageOptions.specs,
        examples: ["upgrade-relay notifications --state pending"],
        request: { arguments in
            try CampaignReference.refusePlace(arguments)
            let page = try PageOptions.query(arguments)
            let query = try [
                ("campaign", arguments.value("campaign")), ("state", notificationStates.option(arguments)),
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

    private static let notificationStates = NamedChoice("state", NotificationRecord.State.allCases.map(\.rawValue))
}
