// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules
import WireFormat

extension ResourceDescription {
    static let devices = ResourceDescription(
        tag: "devices", purpose: "The registry of push tokens.",
        operations: [
            Operation(
                "GET", devicesPath, "exportDevices", "Every device of an app, as the import takes it",
                .scope(.devices),
                answers: [Answer(200, "In ascending age.", .lines(.named("DeviceLine"), example: lineExample))]),
            Operation(
                "POST", devicesPath, "importDevices", "Registers many devices", .scope(.devices),
                description: "Streamed: a line that is refused keeps no other line out.",
                body: .lines(.named("DeviceImportLine"), example: importExample),
                answers: [
                    Answer(
                        200, "How many were stored, and which were not.",
                        .json(
                            .named("DeviceImportResult"),
                            example:
                                #"{"stored":2,"refusedCount":1,"refused":[{"line":2,"reason":"token: is missing"}]}"#
                        ))
                ]),
            Operation(
                "GET", devicePath, "getDevice", "One device", .scope(.devices),
                answers: [Answer(200, "As it is registered.", .json(.named("Device"), example: deviceExample))]),
            Operation(
                "PUT", devicePath, "registerDevice", "Registers one device, or replaces what is known of it",
                .scope(.devices),
                body: .json(
                    .named("DeviceRegistration"),
                    example: #"{"telephone":"13800138000","version":"1.9.0","environment":"production"}"#),
                answers: [
                    Answer(200, "It was known.", .json(.named("Device"), example: deviceExample)),
                    Answer(201, "It is new.", .json(.named("Device"))),
                ]),
            Operation(
                "DELETE", devicePath, "removeDevice", "Forgets a device's user and never pushes to it again",
                .scope(.devices), answers: [Answer(204, "Done.")]),
        ],
        schemas: [
            ("DeviceRegistration", .object("A device as its app gives it; what is left out is null.", given)),
            (
                "DeviceImportLine",
                .object(
                    "A line of an import. app and platform may repeat the path's.",
                    [
                        .init("app", Schema.string().orNull, optional: true),
                        .init("platform", Schema.choice(Platform.allCases.map(\.rawValue)).orNull, optional: true),
                        .init("token", .string(length: 1...4096)),
                    ] + given)
            ),
            ("DeviceLine", .object("A line of an export.", known)),
            (
                "Device",
                .object(
                    "A device as the registry keeps it.",
                    known + [
                        .init("registeredAt", .instant()),
                        .init("retiredAt", .instant("When the push service declared the token dead.").orNull),
                    ])
            ),
            (
                "DeviceImportResult",
                .object(
                    "What an import came to.",
                    [
                        .init("stored", .integer()), .init("refusedCount", .integer()),
                        .init("refused", .array(of: .named("RefusedLine"), "The first ten thousand of them.")),
                    ])
            ),
            (
                "RefusedLine",
                .object(
                    "A line that was not stored.",
                    [.init("line", .integer("Counted from 1.")), .init("reason", .string())])
            ),
        ])

    private static let devicesPath = "/v1/apps/{app}/{platform}/devices"
    private static let devicePath = "/v1/apps/{app}/{platform}/devices/{token}"

    private static let environments = Schema.choice(
        PushEnvironment.allCases.map(\.name), "Which of the push service's worlds the token belongs to.")

    private static let given: [Schema.Property] = [
        .init(
            "telephone",
            .string("The logged-in user's, literally; null when nobody is.", length: 1...BodyFields.maximumTelephone)
                .orNull,
            optional: true),
        .init("version", Schema.version.orNull, optional: true),
        .init("environment", environments.orNull, optional: true),
    ]

    private static let known: [Schema.Property] =
        appProperties + [
            .init("token", .string()), .init("telephone", .string().orNull),
            .init("version", Schema.version.orNull), .init("environment", environments),
        ]

    private static let importExample =
        #"{"token":"80012ab4","telephone":"13800138000","version":"1.9.0"}"# + "\n" + #"{"token":"80012ab5"}"# + "\n"

    private static let lineExample =
        #"{"app":"com.example.app","platform":"ios","token":"80012ab4","telephone":"13800138000","version":"1.9.0","#
        + #""environment":"production"}"# + "\n"

    private static let deviceExample =
        #"{"app":"com.example.app","platform":"ios","token":"80012ab4","telephone":"13800138000","version":"1.9.0","#
        + #""environment":"production","registeredAt":"2026-01-31T09:05:07.250Z","retiredAt":null}"#

    private typealias Answer = Operation.Answer
}
