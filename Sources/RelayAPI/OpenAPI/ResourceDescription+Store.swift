// SPDX-License-Identifier: Apache-2.0

extension ResourceDescription {
    static let store = ResourceDescription(
        tag: "store", purpose: "The store itself, over the control socket only.",
        operations: [
            Operation(
                "GET", "/v1/store", "getStore", "How far the store has grown", .operatorOnly,
                answers: [
                    Answer(200, "Path, size, every step, the first and the current release.", .json(.named("Store")))
                ]),
            Operation(
                "GET", "/v1/store/backup", "backUpStore", "A copy of the store as it is now", .operatorOnly,
                description:
                    "Lines of JSON while the copy is made, {\"done\":…,\"total\":…} in bytes or empty; then the line {\"size\":N} and N bytes: a SQLite database. Nobody who writes has to wait for it. \"upgrade-relay store backup FILE\" takes it apart.",
                answers: [
                    Answer(
                        200, "Progress, size and the database.",
                        Operation.Content(type: StoreBackup.contentType, schema: .string("Lines, then bytes.")))
                ],
                conflicts: [409]),
            Operation(
                "GET", "/v1/store/check", "checkStore", "Looks for damage and for counts that do not add up",
                .operatorOnly, description: "An empty line now and then says that it is still at it.",
                answers: [Answer(200, "Each check as it begins, then the faults.", .lines(.named("StoreCheckLine")))],
                conflicts: [409]),
            Operation(
                "POST", "/v1/store/prune", "pruneStore", "Takes away what is older than a time", .operatorOnly,
                description:
                    "Deliveries of campaigns that ended before it, webhook ids, ended alerts, dead devices, notifications. Campaigns stay, with their counts. An empty line now and then says that it is still at it.",
                body: .json(.named("StorePruning"), example: #"{"before":"2026-01-31T18:00:00Z"}"#),
                answers: [Answer(200, "What was taken so far; the last line has isDone.", .lines(.named("PruneLine")))],
                conflicts: [409]),
        ],
        schemas: [
            (
                "StoreCheckLine",
                .object(
                    "A check that begins, or the result.",
                    [
                        .init("begins", .string(), optional: true),
                        .init("faults", .array(of: .named("StoreFault"), "Empty: it is sound."), optional: true),
                        .init(
                            "error", .string("Why it could not be done; the connection is then cut."), optional: true),
                    ])
            ),
            (
                "StoreFault",
                .object("One thing that is wrong.", [.init("check", .string()), .init("detail", .string())])
            ),
            (
                "StorePruning",
                .object("What to prune.", [.init("before", .instant("At least an hour ago."))])
            ),
            (
                "PruneLine",
                .object(
                    "What was taken away.",
                    [
                        .init("isDone", .boolean), .init("campaigns", .integer("Whose deliveries are gone.")),
                        .init("deliveries", .integer()), .init("formerTelephones", .integer()),
                        .init("devices", .integer()), .init("webhooks", .integer()), .init("alerts", .integer()),
                        .init("notifications", .integer()),
                        .init("freed", .integer("Bytes given back to the file system.")),
                        .init("longestPause", .number("The longest that others had to wait, in milliseconds.")),
                    ])
            ),
            (
                "Store",
                .object(
                    "Where the store is and how far it has grown.",
                    [
                        .init("path", .string()), .init("size", .integer("Bytes, the log beside the file included.")),
                        .init("schemaVersion", .integer("What the data has.")),
                        .init("newestSchemaVersion", .integer("What this release knows.")),
                        .init("chain", .array(of: .named("StoreStep"), "Every step that this release knows.")),
                        .init("firstInstalled", .named("StoreRelease").orNull),
                        .init("current", .named("StoreRelease").orNull),
                    ])
            ),
            (
                "StoreStep",
                .object(
                    "One step of the store's growth.",
                    [
                        .init("version", .integer()), .init("name", .string()),
                        .init("appliedAt", .instant("Null: not yet.").orNull),
                    ])
            ),
            (
                "StoreRelease",
                .object(
                    "A release that has worked on the store.",
                    [
                        .init("release", .string("As --version prints it; \"unknown\" from before that was noted.")),
                        .init("schemaVersion", .integer("What it brought the store to.")),
                        .init("openedAt", .instant("When it opened the store first, after another one.")),
                    ])
            ),
        ])

    private typealias Answer = Operation.Answer
}
