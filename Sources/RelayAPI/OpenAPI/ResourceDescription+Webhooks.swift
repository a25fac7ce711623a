// SPDX-License-Identifier: Apache-2.0

extension ResourceDescription {
    static let webhooks = ResourceDescription(
        tag: "webhooks",
        purpose: "By which others announce versions. A replayed id answers as the first time; a body has at most "
            + "64 KiB.",
        operations: [
            Operation(
                "POST", "/v1/webhooks/version", "receiveVersion", "The version-bump webhook", .signature,
                parameters: standardHeaders,
                body: .json(
                    .named("VersionWebhook"),
                    example: #"{"app":"com.example.app","platform":"ios","required":"2.0.0"}"#),
                answers: bumpAnswers, conflicts: [409]),
            Operation(
                "POST", "/v1/webhooks/github/{app}/{platform}", "receiveGitHubRelease", "GitHub's release event",
                .signature,
                description: "A release that was published, is no draft and whose tag matches the app's pattern raises "
                    + "the latest version; every other event is answered with the reason why it does not.",
                parameters: standardHeaders + [
                    .header("X-GitHub-Event", "\"release\" or \"ping\" do something.", required: true),
                    .header("X-GitHub-Delivery", "The event's id."),
                ],
                body: .json(
                    .map(of: .anything, "As GitHub writes it."),
                    example: #"{"action":"published","release":{"tag_name":"v2.1.0","draft":false,"prerelease":false}}"#
                ),
                answers: releaseAnswers, conflicts: [409]),
            Operation(
                "POST", "/v1/webhooks/gitlab/{app}/{platform}", "receiveGitLabRelease", "GitLab's release event",
                .signature, description: "A release that was created raises the latest version, as with GitHub.",
                takesToken: true,
                parameters: standardHeaders + [
                    .header("Idempotency-Key", "The event's id, with X-Gitlab-Token."),
                    .header("X-Gitlab-Event-UUID", "The event's id where there is no Idempotency-Key."),
                ],
                body: .json(
                    .map(of: .anything, "As GitLab writes it."),
                    example: #"{"object_kind":"release","action":"create","tag":"v2.1.0"}"#),
                answers: releaseAnswers, conflicts: [409]),
            Operation(
                "POST", "/v1/webhooks/app-store-connect/{app}", "receiveAppStoreState",
                "App Store Connect's version states", .signature,
                description: "A version that is ready for distribution makes the relay ask the App Store which one it "
                    + "is, for the event does not say. data.id is the event's id.",
                parameters: standardHeaders,
                body: .json(
                    .map(of: .anything, "As App Store Connect writes it."),
                    example: #"{"data":{"type":"appStoreVersionAppVersionStateUpdated","id":"0b6e","version":1,"#
                        + #""attributes":{"oldValue":"PENDING_APPLE_RELEASE","newValue":"READY_FOR_DISTRIBUTION","#
                        + #""timestamp":"2026-01-31T09:05:07.250Z"}}}"#),
                answers: releaseAnswers, conflicts: [409]),
        ],
        schemas: [
            (
                "VersionWebhook",
                .object("A bump that names its app.", appProperties + bumpProperties)
            ),
            (
                "EventNote",
                .object(
                    "An event that changes nothing.",
                    [
                        .init("status", .choice(["ignored", "pong"])),
                        .init("reason", .string("Why, for the person who looks at the deliveries.")),
                    ])
            ),
        ])

    private static let standardHeaders: [Operation.Parameter] = [
        .header("webhook-id", "The event's id, with Standard Webhooks."),
        .header("webhook-timestamp", "Seconds since 1970, with Standard Webhooks."),
    ]

    private static let releaseAnswers: [Operation.Answer] = [
        Operation.Answer(
            200, "The required version did not rise, or the event changes nothing.",
            .json(
                .either([.named("BumpResult"), .named("EventNote")]),
                example: #"{"status":"ignored","reason":"the release is a draft"}"#)),
        Operation.Answer(202, "The required version rose.", .json(.named("BumpResult"))),
    ]
}
