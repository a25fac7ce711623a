// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

extension ResourceDescription {
    static let health = ResourceDescription(
        tag: "health", purpose: "Whether the daemon lives and can work, and what it can be asked.",
        operations: [
            Operation(
                "GET", "/healthz", "getHealth", "The process is alive and answers", .nothing,
                answers: [Answer(200, "It is.", .json(.named("Health"), example: #"{"status":"ok"}"#))]),
            Operation(
                "GET", "/readyz", "getReadiness", "Whether the daemon can do its work", .nothing,
                answers: [
                    Answer(200, "It can.", .json(.named("Readiness"), example: #"{"status":"ready","faults":[]}"#)),
                    Answer(
                        503, "It cannot, and why.",
                        .json(
                            .named("Readiness"),
                            example: #"{"status":"notReady","faults":[{"part":"store","reason":"the disk is full"}]}"#
                        )),
                ]),
            Operation(
                "GET", "/metrics", "getMetrics", "What Prometheus scrapes", .nothing,
                answers: [
                    Answer(
                        200, "Text format 0.0.4; up to a second old.",
                        Operation.Content(
                            type: MetricsText.contentType, schema: .string("Prometheus' text format.")))
                ]),
            Operation(
                "GET", "/openapi.json", "getOpenAPI", "This document", .nothing,
                answers: [Answer(200, "OpenAPI 3.1.", .json(.map(of: .anything)))]),
        ],
        schemas: [
            ("Health", .object("The process is alive.", [.init("status", .choice(["ok"]))])),
            (
                "Readiness",
                .object(
                    "Whether the daemon can do its work.",
                    [
                        .init("status", .choice(["ready", "notReady"])),
                        .init("faults", .array(of: .named("ReadinessFault"))),
                    ])
            ),
            (
                "ReadinessFault",
                .object(
                    "One thing that keeps the daemon from its work.",
                    [
                        .init("part", .string("Such as \"store\", \"apns:com.example.app\", \"outage:…\".")),
                        .init("reason", .string()),
                    ])
            ),
        ])

    private typealias Answer = Operation.Answer
}
