// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension ResourceDescription {
    static let campaigns = ResourceDescription(
        tag: "campaigns", purpose: "One rise of a required version and all the pushes that announce it.",
        operations: [
            Operation(
                "GET", "/v1/campaigns", "listCampaigns", "Campaigns, newest first", .scope(.status),
                parameters: [.limit(50), .cursor],
                answers: [Answer(200, "One page.", .json(.page(of: "Campaign")))]),
            Operation(
                "GET", "/v1/campaigns/{id}", "getCampaign", "One campaign", .scope(.status),
                answers: [campaignAnswer("As it stands.")]),
            Operation(
                "GET", "/v1/campaigns/{id}/events", "watchCampaign", "A campaign as it moves", .scope(.status),
                description: "Server-sent events: one each second while it moves, and at every change of its state, up "
                    + "to the final one.",
                answers: [
                    Answer(
                        200, "Each event's data is the campaign.",
                        Operation.Content(
                            type: "text/event-stream", schema: .string(), item: .named("Campaign"),
                            example: "event: campaign\ndata: \(campaignExample)\n\n"))
                ]),
            move("pause", "pauseCampaign", "Stops a campaign until it is resumed"),
            move(
                "release", "releaseCampaign",
                "Lets a waiting campaign begin, whatever the store offers, or the next wave of a running one"),
            move(
                "resume", "resumeCampaign",
                "Goes on with a paused or suspended campaign; one that was held before a wave begins that wave"),
            move("cancel", "cancelCampaign", "Ends a campaign; what is pending is not sent"),
        ],
        schemas: [
            ("Campaign", .object("A rise of a required version and its pushes.", properties)),
            ("Wave", .object("A part of a campaign's audience, drawn by token.", waveProperties)),
            (
                "CampaignCounts",
                .object(
                    "Where each device of the audience stands; audience is the sum of the others.",
                    [.init("audience", .integer())]
                        + DeliveryState.allCases.map { .init($0.name, .integer()) })
            ),
            (
                "FilterCounts",
                .object(
                    "Why devices get no push.",
                    FilterReason.allCases.map { .init($0.rawValue, .integer()) })
            ),
        ])

    static let campaignExample =
        #"{"id":"0123456789ab","app":"com.example.app","platform":"ios","required":"2.0.0","latest":"2.1.0","#
        + #""downloadUrl":"https://apps.apple.com/app/id1173193999","message":null,"telephones":null,"#
        + #""state":"running","reason":null,"createdAt":"2026-01-31T09:05:07.250Z","#
        + #""startedAt":"2026-01-31T09:05:07.300Z","finishedAt":null,"expiresAt":"2026-02-07T09:05:07.250Z","#
        + #""waitingUntil":null,"#
        + #""counts":{"audience":10000,"pending":0,"inFlight":0,"accepted":9000,"retrying":0,"rejected":10,"#
        + #""unregistered":90,"expired":0,"filtered":900,"cancelled":0},"filteredBy":{"noTelephone":500,"#
        + #""alreadyCurrent":400,"notInAudience":0,"knownDead":0},"rejectedBy":{"BadDeviceToken":10},"#
        + #""upgraded":1200,"ratePerSecond":812.5,"secondsLeft":0,"rateLimit":1000,"#
        + #""wave":{"number":3,"of":3,"percent":100,"devices":9010,"pending":0,"accepted":8108,"failed":90,"#
        + #""begunAt":"2026-01-31T09:25:09.100Z","endedAt":null,"nextAt":null}}"#

    private static let properties: [Schema.Property] =
        [.init("id", .string("Twelve hex digits; the beginning of each of its apns-ids."))] + appProperties + [
            .init("required", .version), .init("latest", Schema.version.orNull), .init("downloadUrl", .string()),
            .init("message", .string().orNull),
            .init("telephones", .array(of: .string(), "The only users meant; null: everyone.").orNull),
            .init("state", .choice(CampaignState.allCases.map(\.rawValue))),
            .init("reason", .string("Why it is in this state, or what a running one waits for.").orNull),
            .init("createdAt", .instant()), .init("startedAt", .instant().orNull),
            .init("finishedAt", .instant().orNull),
            .init("expiresAt", .instant("When nothing is sent any more.")),
            .init("waitingUntil", .instant("When a waiting campaign is expected to begin.").orNull),
            .init("counts", .named("CampaignCounts")), .init("filteredBy", .named("FilterCounts")),
            .init("rejectedBy", .map(of: .integer(), "By the push service's reason.")),
            .init(
                "upgraded", .integer("Devices of the audience since seen with a version that meets the requirement.")),
            .init("ratePerSecond", .number("Pushes a second of late.")),
            .init(
                "secondsLeft",
                .integer("Until all is sent and every pause between waves is over, or until the next approval.").orNull),
            .init("rateLimit", .number("Pushes a second that the app's pace allows now; null: as many as go.").orNull),
            .init("wave", Schema.named("Wave").orNull),
        ]

    private static let waveProperties: [Schema.Property] = [
        .init("number", .integer("The wave that has begun last, from 1.")), .init("of", .integer("All waves.")),
        .init("percent", .number("Of the audience, in this wave and those before it.")),
        .init("devices", .integer("Of this wave.")), .init("pending", .integer("Without an outcome yet.")),
        .init("accepted", .integer("Pushes that the service took.")),
        .init("failed", .integer("Pushes that it did not take, those to be tried again included.")),
        .init("begunAt", .instant()), .init("endedAt", .instant("When all had an outcome.").orNull),
        .init("nextAt", .instant("When the next wave begins by itself.").orNull),
    ]

    private static func campaignAnswer(_ description: String) -> Operation.Answer {
        Answer(200, description, .json(.named("Campaign"), example: campaignExample))
    }

    private static func move(_ verb: String, _ id: String, _ summary: String) -> Operation {
        Operation(
            "POST", "/v1/campaigns/{id}/\(verb)", id, summary, .scope(.campaigns),
            answers: [campaignAnswer("As it is now.")], conflicts: [409])
    }

    private typealias Answer = Operation.Answer
}
