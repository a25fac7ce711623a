// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

extension ResourceDescription {
    static let log = ResourceDescription(
        tag: "log", purpose: "How talkative the log is, over the control socket only.",
        operations: [
            Operation(
                "GET", "/v1/log", "getLogLevel", "The log's level", .operatorOnly,
                answers: [Answer(200, "What is written.", .json(.named("LogLevel"), example: #"{"level":"info"}"#))]),
            Operation(
                "PUT", "/v1/log", "setLogLevel", "Changes the log's level", .operatorOnly,
                description: "Holds until the configuration is read anew or the daemon starts again.",
                body: .json(.named("LogLevel"), example: #"{"level":"debug"}"#),
                answers: [Answer(200, "The new level.", .json(.named("LogLevel"), example: #"{"level":"debug"}"#))]),
        ],
        schemas: [
            (
                "LogLevel",
                .object(
                    "The least that a line must matter to be written.",
                    [.init("level", .choice(LogLevel.allCases.map(\.name)))])
            )
        ])

    private typealias Answer = Operation.Answer
}
