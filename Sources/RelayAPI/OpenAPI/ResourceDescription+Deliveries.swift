// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension ResourceDescription {
    static let deliveries = ResourceDescription(
        tag: "deliveries", purpose: "The ledger: what became of each push.",
        operations: [
            Operation(
                "GET", "/v1/campaigns/{id}/deliveries", "listCampaignDeliveries", "The deliveries of one campaign",
                .scope(.status),
                parameters: [
                    .query("state", .choice(DeliveryState.allCases.map(\.name)), "Only those in this state."),
                    .query("telephone", .string(), "Only those to this user."),
                    .limit(100), .cursor,
                ],
                answers: [Answer(200, "One page.", .json(.page(of: "Delivery")))]),
            Operation(
                "GET", "/v1/deliveries", "listDeliveries", "Every campaign of one user or one device",
                .scope(.status), description: "Exactly one of telephone and token is needed.",
                parameters: [
                    .query("telephone", .string(), "The user."), .query("token", .string(), "The device."),
                    .limit(100), .cursor,
                ],
                answers: [
                    Answer(
                        200, "Newest campaign first.",
                        .json(
                            .page(of: "Delivery"),
                            example: #"{"items":[{"campaign":"0123456789ab","app":"com.example.app","#
                                + #""platform":"ios","token":"80012ab4","telephone":"13800138000","#
                                + #""state":"accepted","reason":null,"#
                                + #""apnsId":"01234567-89ab-8000-8000-00000000002a","attempts":1,"#
                                + #""nextAttemptAt":null,"updatedAt":"2026-01-31T09:05:08.000Z"}],"next":null}"#))
                ]),
        ],
        schemas: [
            (
                "Delivery",
                .object(
                    "What became of one push.",
                    [.init("campaign", .string("The campaign's id."))] + appProperties + [
                        .init("token", .string()), .init("telephone", .string("That the push carried.").orNull),
                        .init("state", .choice(DeliveryState.allCases.map(\.name))),
                        .init("reason", .string("The push service's, or why it was filtered.").orNull),
                        .init("apnsId", .string(format: "uuid")), .init("attempts", .integer()),
                        .init("nextAttemptAt", .instant("While it is retrying.").orNull),
                        .init("updatedAt", .instant()),
                    ])
            )
        ])

    private typealias Answer = Operation.Answer
}
