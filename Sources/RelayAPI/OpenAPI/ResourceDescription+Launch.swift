// SPDX-License-Identifier: Apache-2.0
import RelayStore
import VersionSources

extension ResourceDescription {
    static let launch = ResourceDescription(
        tag: "launch", purpose: "What apps ask at login and at launch, and the alerts that they are told.",
        operations: [
            Operation(
                "GET", "/v1/check", "checkVersion", "The login-time answer", .nothing,
                description:
                    "Answered from memory. Where a known token is named, its version is taken note of; nothing "
                    + "else of a device changes here.",
                parameters: [
                    .query("app", .string(), "The app's name in the configuration.", required: true),
                    .query("platform", platforms, "The app's platform.", required: true),
                    .query("version", .version, "The installed version.", required: true),
                    .query("telephone", .string(), "The logged-in user's, for requirements that name users."),
                    .query("token", .string(), "The device's push token."),
                    ifNoneMatch,
                ],
                answers: [
                    Answer(
                        200, "Whether there is a new version, and whether it is required.",
                        .json(
                            .named("CheckAnswer"),
                            example: #"{"body":{"hasNewVersion":"1","needUpgrade":"1","downloadUrl":"#
                                + #""https://apps.apple.com/app/id1173193999","latest":"2.1.0","required":"2.0.0"}}"#)),
                    Answer(304, "The client has this answer already."),
                ],
                conflicts: [404]),
            Operation(
                "GET", "/v1/apps/{app}/launchgate.json", "getLaunchGate", "The LaunchGate and Gandalf document",
                .nothing, parameters: [ifNoneMatch],
                answers: [
                    Answer(
                        200, "What both clients read, in the order that they expect.",
                        .json(
                            .named("LaunchGateDocument"),
                            example:
                                #"{"ios":{"optionalUpdate":{"optionalVersion":"2.1.0","message":"There is more."}},"#
                                + #""android":{"requiredUpdate":{"minimumVersion":"200","message":"Please upgrade."}}}"#
                        )),
                    Answer(304, "The client has this document already."),
                ]),
            Operation(
                "GET", alertPath, "getAlert", "The alert that an app's users are told", .scope(.status),
                answers: [Answer(200, "It has not ended.", .json(.named("Alert"), example: alertExample("")))]),
            Operation(
                "PUT", alertPath, "setAlert", "Sets the alert that an app's users are told", .scope(.versions),
                body: .json(
                    .named("NewAlert"),
                    example: #"{"message":"Back at 6 pm.","blocking":true,"endsAt":"2026-01-31T18:00:00Z"}"#),
                answers: [
                    Answer(
                        200, "It is told from now on.",
                        .json(.named("AlertResult"), example: alertExample(#","warnings":[]"#)))
                ]),
            Operation(
                "DELETE", alertPath, "clearAlert", "Takes the alert away", .scope(.versions),
                answers: [Answer(204, "Done.")]),
        ],
        schemas: [
            (
                "CheckAnswer",
                .object(
                    "The login-time answer; figures are strings.",
                    [
                        .init(
                            "body",
                            .object(
                                nil,
                                [
                                    .init("hasNewVersion", .choice(["0", "1"])),
                                    .init("needUpgrade", .choice(["0", "1"])),
                                    .init("downloadUrl", .string(), optional: true),
                                    .init("latest", .version, optional: true),
                                    .init("required", .version, optional: true),
                                    .init("message", .string(), optional: true),
                                ]))
                    ])
            ),
            (
                "LaunchGateDocument",
                .object(
                    "Each client reads its own section.",
                    [.init("ios", .named("LaunchGateSection")), .init("android", .named("LaunchGateSection"))])
            ),
            (
                "LaunchGateSection",
                .object(
                    "What one client is told; versions of Android are version codes.",
                    [
                        .init("requiredUpdate", update("minimumVersion"), optional: true),
                        .init("optionalUpdate", update("optionalVersion"), optional: true),
                        .init(
                            "alert",
                            .object(nil, [.init("message", .string()), .init("blocking", .boolean)]), optional: true),
                    ])
            ),
            (
                "NewAlert",
                .object(
                    "An alert to be told.",
                    [
                        .init("message", .string(length: 1...BumpBody.maximumMessage)),
                        .init("blocking", Schema.boolean.orNull, optional: true),
                        .init(
                            "endsAt", .string("RFC 3339, in any time zone. Needed where it blocks.").orNull,
                            optional: true),
                    ])
            ),
            ("Alert", .object("What every user of an app is told at launch.", alertProperties)),
            ("AlertResult", .object("An alert that was set.", alertProperties + [warnings])),
            (
                "BuildNumbers",
                .object(
                    "Android's version codes beside the versions.",
                    [.init("latest", buildNumber.orNull), .init("required", buildNumber.orNull)])
            ),
            (
                "NewBuildNumbers",
                .object(
                    "Android's version codes; what is left out stays.",
                    [
                        .init("latest", buildNumber.orNull, optional: true),
                        .init("required", buildNumber.orNull, optional: true),
                    ])
            ),
        ])

    static let warnings = Schema.Property(
        "warnings", .array(of: .string(), "What the published document would do to versions still seen."))

    private static let alertPath = "/v1/apps/{app}/{platform}/alert"
    private static let ifNoneMatch = Operation.Parameter.header("If-None-Match", "The ETag of the answer before.")
    private static let platforms = Schema.choice(["ios", "android"])
    private static let buildNumber = Schema.integer(in: 1...Int(Int32.max))

    private static let alertProperties: [Schema.Property] =
        appProperties + [
            .init("message", .string()), .init("blocking", .boolean), .init("endsAt", .instant().orNull),
            .init("createdAt", .instant()), .init("createdBy", .string()),
        ]

    private static func update(_ version: String) -> Schema {
        .object(nil, [.init(version, .string()), .init("message", .string())])
    }

    private static func alertExample(_ more: String) -> String {
        #"{"app":"com.example.app","platform":"ios","message":"Back at 6 pm.","blocking":true,"#
            + #""endsAt":"2026-01-31T18:00:00.000Z","createdAt":"2026-01-31T09:05:07.250Z","createdBy":"operator"\#(more)}"#
    }

    private typealias Answer = Operation.Answer
}
