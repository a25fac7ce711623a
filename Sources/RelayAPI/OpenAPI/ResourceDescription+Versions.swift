// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules
import VersionSources
import WireFormat

extension ResourceDescription {
    static let versions = ResourceDescription(
        tag: "versions", purpose: "Which version of an app is the latest, and which is required.",
        operations: [
            Operation(
                "GET", "/v1/apps", "listApps", "Every configured app with its versions", .scope(.status),
                answers: [
                    Answer(200, "Ordered by app and platform.", .json(.page(of: "Version")))
                ]),
            Operation(
                "GET", versionPath, "getVersion", "An app's versions with their history", .scope(.status),
                parameters: [.query("limit", .integer(in: 1...1000), "The most changes of the history. Default 20.")],
                answers: [
                    Answer(200, "Members are null where nothing was ever stored.", .json(.named("VersionHistory")))
                ]),
            Operation(
                "PUT", versionPath, "bumpVersion", "Raises the latest or the required version", .scope(.versions),
                description: "Versions only rise. A rise of the required version starts a campaign.",
                body: .json(.named("Bump"), example: bumpExample), answers: bumpAnswers, conflicts: [409]),
            Operation(
                "POST", "/v1/apps/{app}/{platform}/plan", "planBump", "A dry run: who would be pushed",
                .scope(.versions), body: .json(.named("Bump"), example: bumpExample),
                answers: [
                    Answer(
                        200, "Nothing was changed or sent.",
                        .json(
                            .named("Plan"),
                            example: #"{"app":"com.example.app","platform":"ios","audience":10000,"toPush":9100,"#
                                + #""filteredBy":{"noTelephone":500,"alreadyCurrent":400,"notInAudience":0,"#
                                + #""knownDead":0},"warnings":[],"samplePayload":{"aps":{"alert":"A new version is required."}},"#
                                + #""samplePayloadSize":49}"#))
                ]),
        ],
        schemas: [
            ("Version", .object("An app's versions as they are stored.", appProperties + storedProperties)),
            (
                "VersionHistory",
                .object(
                    "An app's versions and how they came to be.",
                    appProperties + storedProperties
                        + [.init("history", .array(of: .named("VersionChange"), "Newest first."))])
            ),
            (
                "VersionChange",
                .object(
                    "The versions after one change.",
                    storedProperties + [
                        .init("actor", .string("Who: a token's name, \"operator\", a webhook's tool.")),
                        .init("source", .string("By which way: \"api\", \"cli\", \"webhook\", \"database\".")),
                    ])
            ),
            ("Bump", .object("A wish to raise versions; at least one member besides telephones.", bumpProperties)),
            (
                "BumpResult",
                .object(
                    "What a bump came to.",
                    [.init("version", .named("Version")), .init("campaign", .named("Campaign").orNull), warnings])
            ),
            (
                "Plan",
                .object(
                    "Who would be pushed.",
                    appProperties + [
                        .init("audience", .integer()), .init("toPush", .integer()),
                        .init("filteredBy", .named("FilterCounts")), warnings,
                        .init("samplePayload", .map(of: .anything, "What a phone would get.")),
                        .init("samplePayloadSize", .integer("In bytes; APNs takes 4096.")),
                    ])
            ),
        ])

    // MARK: Shared

    static let versionPath = "/v1/apps/{app}/{platform}/version"

    static let bumpExample =
        #"{"latest":"2.1.0","required":"2.0.0","downloadUrl":"https://apps.apple.com/app/id1173193999","#
        + #""message":"A new version is required."}"#

    static let appProperties: [Schema.Property] = [
        .init("app", .string("The app's name in the configuration.")),
        .init("platform", .choice(Platform.allCases.map(\.rawValue))),
    ]

    static let bumpProperties: [Schema.Property] = [
        .init("latest", Schema.version.orNull, optional: true),
        .init("required", Schema.version.orNull, optional: true),
        .init(
            "downloadUrl", .string("An absolute URL.", length: 1...DownloadURL.maximumLength).orNull, optional: true),
        .init(
            "message", .string("Shown instead of the app's own text.", length: 1...BumpBody.maximumMessage).orNull,
            optional: true),
        .init(
            "telephones",
            .array(
                of: .string(length: 1...BodyFields.maximumTelephone),
                "The only users that a rise is announced to; left out: everyone."
            ).orNull,
            optional: true),
        .init("builds", Schema.named("NewBuildNumbers").orNull, optional: true),
    ]

    static let bumpAnswers: [Operation.Answer] = [
        Answer(200, "The required version did not rise: no campaign.", .json(.named("BumpResult"))),
        Answer(202, "The required version rose.", .json(.named("BumpResult"), example: bumpResultExample)),
    ]

    private static let bumpResultExample =
        #"{"version":{"app":"com.example.app","platform":"ios","latest":"2.1.0","required":"2.0.0","#
        + #""downloadUrl":null,"message":null,"telephones":null,"builds":{"latest":null,"#
        + #""required":null},"updatedAt":"2026-01-31T09:05:07.250Z"},"#
        + #""campaign":\#(campaignExample),"warnings":[]}"#

    private static let storedProperties: [Schema.Property] = [
        .init("latest", Schema.version.orNull), .init("required", Schema.version.orNull),
        .init("downloadUrl", .string().orNull), .init("message", .string().orNull),
        .init("telephones", .array(of: .string(), "The only users meant; null: everyone.").orNull),
        .init("builds", .named("BuildNumbers")),
        .init("updatedAt", .instant().orNull),
    ]

    private typealias Answer = Operation.Answer
}
