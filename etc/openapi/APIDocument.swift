// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import WireFormat

/// The OpenAPI 3.1 document: its paths are those of the routes, its schemas those of the shapes, its descriptions and examples the
/// texts. Pure.
struct APIDocument {
    let json: JSONValue
    /// The reasons why it is not whole: an operation without a route, a route without an operation, a text without a place.
    let faults: [String]

    /// As `Sources/C/COpenAPI/openapi.json` has it.
    var bytes: [UInt8] { json.bytes(isPretty: true) + [UInt8(ascii: "\n")] }

    init(_ texts: Texts) {
        let routes = Dictionary(Route.all.map { ($0.pattern, $0) }, uniquingKeysWith: { first, _ in first })
        var faults: [String] = []
        var paths: [JSONMember] = []
        var described: Set<String> = []
        for (tag, operations) in APIOperation.all {
            for operation in operations {
                guard let route = routes[operation.pattern], described.insert(operation.pattern).inserted else {
                    faults.append("\(operation.id) has no route of its own")
                    continue
                }
                let own = texts.part(tag).part("operations").part(operation.id)
                let value = Self.operation(operation, of: route, tag, own, shared: texts.part("shared"))
                let member = JSONMember(name: route.method.lowercased(), value: value)
                if let place = paths.firstIndex(where: { $0.name == route.path }) {
                    paths[place].value = .object((paths[place].value.object ?? []) + [member])
                } else {
                    paths.append(JSONMember(name: route.path, value: .object([member])))
                }
            }
        }
        faults += routes.keys.filter { !described.contains($0) }.sorted().map { "\($0) has no operation" }
        json = [
            "openapi": .string("3.1.1"),
            "info": [
                "title": .string("Upgrade Relay"), "version": .string("1"),
                "description": texts.part("shared").needed("about"),
                "license": ["name": .string("Apache-2.0"), "identifier": .string("Apache-2.0")],
            ],
            "servers": .array([["url": .string("/")]]),
            "tags": .array(
                APIOperation.all.map { tag, _ in
                    ["name": .string(tag), "description": texts.part(tag).needed("about")]
                }),
            "paths": .object(paths),
            "webhooks": Self.webhooks(texts),
            "components": [
                "schemas": Self.schemas,
                "parameters": Self.parameters(texts.part("shared").part("parameters")),
                "headers": Self.headers(texts.part("shared").part("headers")),
                "responses": Self.problems(texts.part("shared").part("answers")),
                "securitySchemes": Self.securitySchemes(texts.part("shared").part("security")),
            ],
        ]
        self.faults = faults + texts.faults
    }

    // MARK: Operations

    private static func operation(
        _ operation: APIOperation, of route: Route, _ tag: String, _ texts: Texts, shared: Texts
    ) -> JSONValue {
        let parameters = Self.parameters(of: operation, route, texts.part("parameters"), shared: shared)
        let body = operation.body.map { content -> JSONValue in
            [
                "required": .bool(!operation.mayBeEmpty),
                "content": .object([media(content, example: texts.needed("body"))]),
            ]
        }
        return [
            "operationId": .string(operation.id), "tags": .array([.string(tag)]), "summary": texts.needed("summary"),
            "description": texts.value("description"), "security": security(operation, route.right),
            "parameters": parameters.isEmpty ? nil : .array(parameters), "requestBody": body,
            "responses": .object(answers(of: operation, route, texts.part("answers"))),
        ]
    }

    /// Any of the alternatives is enough.
    private static func security(_ operation: APIOperation, _ right: Right) -> JSONValue {
        let socket: JSONValue = ["controlSocket": .array([])]
        if let scheme = operation.scheme { return .array([.object([JSONMember(name: scheme, value: .array([]))])]) }
        switch right {
        case .nothing: return .array([])
        case .scope(let scope): return .array([["apiToken": .array([.string(scope.rawValue)])], socket])
        case .operatorOnly: return .array([socket])
        case .signedIn: return .array([["apiToken": .array([])]])
        case .signature:
            let names =
                ["standardWebhook", "gitHubSignature", "appleSignature"] + (operation.otherScheme.map { [$0] } ?? [])
            return .array(names.map { .object([JSONMember(name: $0, value: .array([]))]) })
        }
    }

    private static func answers(of operation: APIOperation, _ route: Route, _ texts: Texts) -> [JSONMember] {
        var answers = operation.answers.map { answer -> (String, JSONValue) in
            let text = texts.neededDescribed(String(answer.status))
            let own = texts.part(String(answer.status))
            let contents = answer.contents.map { content in
                media(content, example: text.example ?? own.part("examples").value(content.mediaType))
            }
            let value: JSONValue = [
                "description": text.description,
                "headers": headers(of: answer.status, with: answer.headers, route, own.part("headers")),
                "content": contents.isEmpty ? nil : .object(contents),
            ]
            return (String(answer.status), value)
        }
        if route.keeping == .everybody {
            let text = texts.needed("304")
            answers.append(
                ("304", ["description": text, "headers": headers(of: 304, with: [], route, Texts([:], at: ""))]))
        }
        for status in Set(route.problems + operation.refusals) {
            answers.append((String(status), ["$ref": .string("#/components/responses/Problem\(status)")]))
        }
        answers.append(("5XX", ["$ref": .string("#/components/responses/Problem5XX")]))
        return answers.sorted { $0.0 < $1.0 }.map { JSONMember(name: $0.0, value: $0.1) }
    }

    private static func media(_ content: APIOperation.Content, example: JSONValue?) -> JSONMember {
        let schema: Schema
        var item: Schema?
        switch content {
        case .json(let value), .problem(let value), .other(_, let value): schema = value
        case .lines(let line):
            schema = .text.described("One object in each line.")
            item = line
        case .csv(let record, let note):
            let note = note.map { "; \($0)" } ?? ""
            schema = .text.described("A header line, then a record for each \(record) (RFC 4180)\(note).")
        case .events(let data):
            schema = .anything.described("Events; the data of each is a line of JSON.")
            item = data
        }
        return JSONMember(
            name: content.mediaType,
            value: ["schema": schema.json, "x-itemSchema": item?.json, "example": example])
    }
}

extension APIOperation.Content {
    fileprivate var mediaType: String {
        switch self {
        case .json: "application/json"
        case .problem: "application/problem+json"
        case .lines: "application/x-ndjson"
        case .csv: "text/csv"
        case .events: "text/event-stream"
        case .other(let type, _): type
        }
    }
}
