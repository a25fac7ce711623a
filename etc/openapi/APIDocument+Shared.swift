// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import WireFormat

/// The parts that all operations have in common.
extension APIDocument {
    // MARK: Fields of an answer's head

    private struct Header {
        let id: String
        let isRequired: Bool?
        let schema: Schema

        init(_ id: String, _ schema: Schema, isRequired: Bool? = true) {
            (self.id, self.schema, self.isRequired) = (id, schema, isRequired)
        }
    }

    private static let headers: [Header] = [
        Header("RequestId", .text.long(1...64).matching("^[A-Za-z0-9._-]+$")),
        Header("ETag", .text.matching("^\"[0-9a-f]+\"$")),
        Header("CacheControl", .words(["no-cache", "private, no-cache", "no-store"])),
        Header("NoStore", .words(["no-store"])),
        Header("NoBuffering", .words(["no"])),
        Header("Challenge", .text.matching("^(Bearer|Webhook-Signature) realm=\"upgrade-relay\"")),
        Header(
            "MissingScope",
            .text.matching("^Bearer realm=\"upgrade-relay\", error=\"insufficient_scope\", scope=\""),
            isRequired: false),
        Header("RetryAfter", .integer.with("minimum", 1), isRequired: false),
        Header("Allow", .text.matching("^[A-Z]+(, [A-Z]+)*$")),
        Header("Vary", .words(["Accept-Encoding"])),
        Header("ContentEncoding", .words(["gzip"]), isRequired: false),
        Header("VaryLanguage", .words(["Accept-Language", "Origin"]), isRequired: nil),
        Header("AllowOrigin", .filled, isRequired: false),
        Header("ExposeHeaders", .words(["ETag, X-Request-Id"]), isRequired: false),
        Header("AllowMethods", .words(["GET, HEAD"]), isRequired: false),
        Header("AllowHeaders", .words(["Accept-Language, If-None-Match, X-Request-Id"]), isRequired: false),
        Header("CORSMaxAge", .integer.with("enum", .array([.integer(7200)])), isRequired: false),
        Header("AcceptCoding", .words(["identity"])),
        Header("VaryOrigin", .words(["Origin"]), isRequired: false),
        Header("SimilarTelephones", .filled.matching("^[+0-9, ]+$"), isRequired: false),
    ]

    static func headers(_ texts: Texts) -> JSONValue {
        .object(
            headers.map { header in
                JSONMember(
                    name: header.id,
                    value: [
                        "description": texts.needed(header.id), "required": header.isRequired.map(JSONValue.bool),
                        "schema": header.schema.json,
                    ])
            })
    }

    /// - Parameters:
    ///   - others: fields beside those that follow from the route. One with a text of its own is described there.
    static func headers(of status: Int, with others: [String], _ route: Route, _ texts: Texts) -> JSONValue {
        var fields = [("X-Request-Id", "RequestId")]
        if route.keeping == .everybody {
            fields += [("ETag", "ETag"), ("Cache-Control", "CacheControl")]
            fields.append(("Vary", route.isForWebViews ? "VaryLanguage" : "Vary"))
            if route.isForWebViews {
                fields += origins
            } else if status == 200 {
                fields.append(("Content-Encoding", "ContentEncoding"))
            }
        } else {
            fields.append(("Cache-Control", "NoStore"))
        }
        let ids = [
            "X-Similar-Telephones": "SimilarTelephones", "X-Accel-Buffering": "NoBuffering", "Vary": "VaryLanguage",
        ]
        let own = others.map { name in
            JSONMember(
                name: name,
                value: ids[name].map(reference)
                    ?? ["description": texts.needed(name), "schema": Schema.text.json])
        }
        return .object(fields.map { JSONMember(name: $0.0, value: reference($0.1)) } + own)
    }

    private static let origins = [
        ("Access-Control-Allow-Origin", "AllowOrigin"), ("Access-Control-Expose-Headers", "ExposeHeaders"),
    ]

    private static func reference(_ header: String) -> JSONValue {
        ["$ref": .string("#/components/headers/\(header)")]
    }

    // MARK: Answers of every route

    /// Problems that web views may read carry the origins' fields: those that are found before the route.
    private static let problems: [(status: String, isForWebViews: Bool, headers: [(String, String)])] = [
        ("400", true, []), ("401", false, [("WWW-Authenticate", "Challenge")]),
        ("403", false, [("WWW-Authenticate", "MissingScope")]), ("404", true, []),
        ("405", false, [("Allow", "Allow")]), ("409", false, []), ("413", false, []), ("414", true, []),
        ("415", false, [("Accept-Encoding", "AcceptCoding")]), ("422", true, []), ("431", true, []),
        ("429", false, [("Retry-After", "RetryAfter")]), ("5XX", true, [("Retry-After", "RetryAfter")]),
    ]

    static func problems(_ texts: Texts) -> JSONValue {
        let always = [("X-Request-Id", "RequestId"), ("Cache-Control", "NoStore")]
        func head(_ fields: [(String, String)]) -> JSONValue {
            .object((always + fields).map { JSONMember(name: $0.0, value: reference($0.1)) })
        }
        let answers = problems.map { problem in
            let text = texts.part("Problem\(problem.status)")
            let media: JSONValue = ["schema": Schema.ref("Problem").json, "example": text.needed("example")]
            return JSONMember(
                name: "Problem\(problem.status)",
                value: [
                    "description": text.needed("description"),
                    "headers": head(
                        problem.headers + (problem.isForWebViews ? origins + [("Vary", "VaryOrigin")] : [])),
                    "content": ["application/problem+json": media],
                ])
        }
        let asked = [
            ("Access-Control-Allow-Methods", "AllowMethods"), ("Access-Control-Allow-Headers", "AllowHeaders"),
            ("Access-Control-Max-Age", "CORSMaxAge"), ("Vary", "VaryOrigin"),
        ]
        let options: JSONValue = [
            "description": texts.needed("Options"), "headers": head([("Allow", "Allow")] + origins + asked),
        ]
        return .object(answers + [JSONMember(name: "Options", value: options)])
    }

    // MARK: Security

    static func securitySchemes(_ texts: Texts) -> JSONValue {
        func http(_ name: String, _ scheme: String) -> JSONMember {
            JSONMember(
                name: name,
                value: ["type": .string("http"), "scheme": .string(scheme), "description": texts.needed(name)])
        }
        func key(_ name: String, in place: String = "header", _ field: String) -> JSONMember {
            JSONMember(
                name: name,
                value: [
                    "type": .string("apiKey"), "in": .string(place), "name": .string(field),
                    "description": texts.needed(name),
                ])
        }
        return .object([
            http("apiToken", "bearer"), http("controlSocket", "x-control-socket"),
            key("standardWebhook", "webhook-signature"), key("gitHubSignature", "X-Hub-Signature-256"),
            key("appleSignature", "x-apple-signature"), key("gitLabToken", "X-Gitlab-Token"),
            key("session", in: "cookie", "upgrade_relay_session"),
        ])
    }

    // MARK: Schemas

    /// Those of the shapes and bodies.
    static let schemas = JSONValue.object(
        Schema.named.map { JSONMember(name: $0.name, value: $0.schema.json) }.sorted { $0.name < $1.name })

    // MARK: Webhooks out

    private static let webhooks = [
        ("campaignChanged", "CampaignEvent"), ("devicesDied", "DeadTokensEvent"), ("versionFell", "VersionEvent"),
        ("approvalChanged", "ApprovalEvent"), ("partChanged", "PartEvent"),
    ]

    static func webhooks(_ texts: Texts) -> JSONValue {
        let common = texts.part("shared").part("webhook")
        let parameters = ["webhook-id", "webhook-timestamp", "webhook-signature"].map { name -> JSONValue in
            [
                "name": .string(name), "in": .string("header"), "description": common.part("parameters").needed(name),
                "required": .bool(true), "schema": Schema.text.json,
            ]
        }
        let answers = ["2XX", "410", "429", "default"].map { status in
            JSONMember(name: status, value: ["description": common.part("answers").needed(status)])
        }
        return .object(
            webhooks.map { id, schema in
                let own = texts.part("notifications").part("webhooks").part(id)
                let post: JSONValue = [
                    "operationId": .string(id), "tags": .array([.string("notifications")]),
                    "summary": own.needed("summary"), "description": own.needed("description"),
                    "security": .array([["standardWebhook": .array([])]]), "parameters": .array(parameters),
                    "requestBody": [
                        "required": .bool(true),
                        "content": [
                            "application/json": ["schema": Schema.ref(schema).json, "example": own.needed("body")]
                        ],
                    ],
                    "responses": .object(answers),
                ]
                return JSONMember(name: id, value: ["post": post])
            })
    }
}
