// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import UpgradeRules
import WireFormat

/// The OpenAPI 3.1 document.
enum OpenAPIDocument {
    static let resources: [ResourceDescription] = [
        .health, .launch, .versions, .webhooks, .devices, .campaigns, .deliveries, .notifications, .tokens, .store,
        .log,
    ]

    /// Rendered once.
    static let shared = SharedBytes(rendered())

    static func rendered() -> [UInt8] {
        var writer = JSONWriter(reserving: 128 * 1024)
        writer.document(resources)
        return writer.bytes
    }

    /// What the names in paths stand for.
    static let pathParameters: [(name: String, schema: Schema, description: String, example: String)] = [
        ("app", .string(length: 1...255), "The app's name in the configuration.", "com.example.app"),
        ("platform", .choice(Platform.allCases.map(\.rawValue)), "The app's platform.", "ios"),
        ("token", .string(length: 1...4096), "The device's push token; on iOS 2 to 400 hex digits.", "80012ab4"),
        ("id", .string(), "The campaign's id.", "0123456789ab"),
        ("name", .string(length: 1...64), "The API token's name.", "ci"),
    ]

    static let problem = Schema.object(
        "An error (RFC 9457).",
        [
            .init("type", .string("A URI for the kind of problem; about:blank says no more than the status.")),
            .init("title", .string()),
            .init("status", .integer(in: 400...599)),
            .init("detail", .string()),
            .init(
                "request", .string("The request's id, as X-Request-Id and the relay's log have it."), optional: true),
            .init("errors", .array(of: .named("FieldFault"), "The fields at fault."), optional: true),
        ]
    ).allowing(.string("More about this kind of problem: which version would fall, from what."))

    static let fieldFault = Schema.object(
        "One field at fault: what it held, and what would be right.",
        [.init("field", .string()), .init("reason", .string())])

    static let problemExample =
        #"{"type":"about:blank","title":"Unprocessable Content","status":422,"#
        + #""detail":"required: a string is needed, such as \"2.1.0\"; it was the number 2","#
        + #""errors":[{"field":"required","reason":"a string is needed, such as \"2.1.0\"; it was the number 2"}]}"#
}

extension API {
    func openAPI() -> Response {
        Response(status: 200, headers: [("Content-Type", "application/json")], body: .shared(OpenAPIDocument.shared))
    }
}
