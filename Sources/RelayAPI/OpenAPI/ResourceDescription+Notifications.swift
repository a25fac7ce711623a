// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension ResourceDescription {
    static let notifications = ResourceDescription(
        tag: "notifications", purpose: "Who was told of a campaign's changes, and what came of it.",
        operations: [
            Operation(
                "GET", "/v1/notifications", "listNotifications", "Notifications with their attempts", .scope(.status),
                description: "One for each change of a campaign's state and each configured receiver.",
                parameters: [
                    .query("campaign", .string(), "Only of this campaign."),
                    .query(
                        "state", .choice(NotificationRecord.State.allCases.map(\.rawValue)),
                        "Only those in this state."),
                    .limit(50), .cursor,
                ],
                answers: [
                    Answer(
                        200, "Newest first.",
                        .json(
                            .page(of: "Notification"),
                            example: #"{"items":[{"id":"0f4ad1b2c3d4e5f60718293a4b5c6d7e","#
                                + #""type":"campaign.completed","campaign":"0123456789ab","#
                                + #""url":"https://ci.example.com","state":"pending","#
                                + #""createdAt":"2026-01-31T09:05:08.000Z","nextAttemptAt":"2026-01-31T09:05:13.000Z","#
                                + #""attempts":[{"number":1,"at":"2026-01-31T09:05:08.000Z","milliseconds":12,"#
                                + #""status":500,"error":"HTTP 500"}]}],"next":null}"#))
                ])
        ],
        schemas: [
            (
                "CampaignEvent",
                .object(
                    "A campaign's change of state, as a receiver gets it.",
                    [
                        .init("type", .choice(CampaignState.allCases.map(CampaignEvent.type))),
                        .init("timestamp", .instant("When the state changed: events may come late, and out of order.")),
                        .init("data", .named("Campaign")),
                    ])
            ),
            (
                "Notification",
                .object(
                    "One event for one receiver.",
                    [
                        .init("id", .string("The event's: webhook-id, the same in every attempt.")),
                        .init("type", .string("campaign. and the state.")), .init("campaign", .string("Its id.")),
                        .init(
                            "url",
                            .string(
                                "The receiver's. Its scheme, host and port alone to a token: the rest may be a secret, and is told on the control socket."
                            )),
                        .init(
                            "state",
                            .choice(
                                NotificationRecord.State.allCases.map(\.rawValue),
                                "dropped: the receiver answered 410, was taken out, or fell too far behind.")),
                        .init("createdAt", .instant()), .init("nextAttemptAt", .instant("While it is pending.").orNull),
                        .init("attempts", .array(of: .named("NotificationAttempt"))),
                    ])
            ),
            (
                "NotificationAttempt",
                .object(
                    "One attempt and its answer.",
                    [
                        .init("number", .integer("From 1.")), .init("at", .instant()),
                        .init("milliseconds", .integer("Until the answer.")),
                        .init("status", .integer("HTTP's; null where there was no answer.").orNull),
                        .init("error", .string("Null where it was taken.").orNull),
                    ])
            ),
        ])

    private typealias Answer = Operation.Answer
}
