// SPDX-License-Identifier: Apache-2.0

extension ResourceDescription {
    static let store = ResourceDescription(
        tag: "store", purpose: "The store itself, over the control socket only.",
        operations: [
            Operation(
                "GET", "/v1/store", "getStore", "How far the store has grown", .operatorOnly,
                answers: [
                    Answer(200, "Path, size, every step, the first and the current release.", .json(.named("Store")))
                ])
        ],
        schemas: [
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
