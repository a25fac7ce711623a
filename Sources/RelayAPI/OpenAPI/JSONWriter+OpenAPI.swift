// SPDX-License-Identifier: Apache-2.0
import RelayStore
import WireFormat

/// Renders the OpenAPI document (spec.openapis.org/oas/v3.1.1).
extension JSONWriter {
    mutating func document(_ resources: [ResourceDescription]) {
        object { writer in
            writer.member("openapi", "3.1.1")
            writer.name("info")
            writer.object { writer in
                writer.member("title", "Upgrade Relay")
                writer.member("version", "1")
                writer.member(
                    "description",
                    "Version requirements of apps, the pushes that announce them, and what became of each. JSON in "
                        + "camelCase; instants in RFC 3339, UTC. Fields and parameters that are not listed are refused. "
                        + "HEAD is answered wherever GET is.")
                writer.name("license")
                writer.object { writer in
                    writer.member("name", "Apache-2.0")
                    writer.member("identifier", "Apache-2.0")
                }
            }
            writer.name("servers")
            writer.array(["/"]) { writer, url in writer.object { $0.member("url", url) } }
            writer.name("tags")
            writer.array(resources) { writer, resource in
                writer.object { writer in
                    writer.member("name", resource.tag)
                    writer.member("description", resource.purpose)
                }
            }
            writer.name("paths")
            writer.paths(resources)
            writer.name("webhooks")
            writer.object { $0.webhooks() }
            writer.name("components")
            writer.components(resources)
        }
    }

    private mutating func paths(_ resources: [ResourceDescription]) {
        let all = resources.flatMap { resource in resource.operations.map { (tag: resource.tag, operation: $0) } }
        var order: [String] = []
        for entry in all where !order.contains(entry.operation.path) { order.append(entry.operation.path) }
        object { writer in
            for path in order {
                writer.name(path)
                writer.object { writer in
                    for entry in all where entry.operation.path == path {
                        writer.name(entry.operation.method.lowercased())
                        writer.operation(entry.operation, tag: entry.tag)
                    }
                }
            }
        }
    }

    private mutating func operation(_ operation: Operation, tag: String) {
        object { writer in
            writer.member("operationId", operation.id)
            writer.member("tags", strings: [tag])
            writer.member("summary", operation.summary)
            if let description = operation.description { writer.member("description", description) }
            writer.name("security")
            writer.security(operation)
            writer.parameters(operation)
            writer.requestBody(operation)
            writer.name("responses")
            writer.object { writer in
                for answer in operation.answers {
                    writer.name(String(answer.status))
                    writer.object { writer in
                        writer.member("description", answer.description)
                        if let content = answer.content { writer.content(content) }
                    }
                }
                for status in operation.problems {
                    writer.name(String(status))
                    writer.object { $0.member("$ref", "#/components/responses/Problem\(status)") }
                }
                writer.name("default")
                writer.object { $0.member("$ref", "#/components/responses/Problem") }
            }
        }
    }

    private mutating func security(_ operation: Operation) {
        let choices: [(scheme: String, scopes: [String])] =
            switch operation.right {
            case .nothing: []
            case .signature:
                [("standardWebhook", []), ("gitHubSignature", []), ("appleSignature", [])]
                    + (operation.takesToken ? [("gitLabToken", [])] : [])
            case .scope(let scope): [("apiToken", [scope.rawValue]), ("controlSocket", [])]
            case .operatorOnly: [("controlSocket", [])]
            }
        array(choices) { writer, choice in
            writer.object { $0.member(choice.scheme, strings: choice.scopes) }
        }
    }

    mutating func requestBody(_ operation: Operation) {
        guard let body = operation.body else { return }
        name("requestBody")
        object { writer in
            writer.name("required")
            writer.bool(true)
            writer.content(body)
        }
    }

    mutating func parameters(_ operation: Operation) {
        let names = operation.pathNames
        guard !names.isEmpty || !operation.parameters.isEmpty else { return }
        name("parameters")
        let inPath = names.compactMap { name in OpenAPIDocument.pathParameters.first { $0.name == name } }.map {
            Operation.Parameter(
                name: $0.name, place: "path", isRequired: true, schema: $0.schema, description: $0.description)
        }
        array(inPath + operation.parameters) { writer, parameter in
            writer.object { writer in
                writer.member("name", parameter.name)
                writer.member("in", parameter.place)
                writer.member("description", parameter.description)
                writer.name("required")
                writer.bool(parameter.isRequired)
                writer.name("schema")
                writer.value(parameter.schema.value)
                if let known = OpenAPIDocument.pathParameters.first(where: { $0.name == parameter.name }),
                    parameter.place == "path"
                {
                    writer.member("example", known.example)
                }
            }
        }
    }

    mutating func content(_ content: Operation.Content) {
        name("content")
        object { writer in
            writer.name(content.type)
            writer.object { writer in
                writer.name("schema")
                writer.value(content.schema.value)
                if let item = content.item {
                    // OpenAPI 3.1 has no word for the parts of a stream; 3.2 calls it itemSchema.
                    writer.name("x-itemSchema")
                    writer.value(item.value)
                }
                if let example = content.example {
                    writer.name("example")
                    if content.item == nil { writer.raw(Array(example.utf8)) } else { writer.string(example) }
                }
            }
        }
    }

    // MARK: Components

    private mutating func components(_ resources: [ResourceDescription]) {
        object { writer in
            writer.name("schemas")
            writer.object { writer in
                let shared = [("Problem", OpenAPIDocument.problem), ("FieldFault", OpenAPIDocument.fieldFault)]
                for (name, schema) in resources.flatMap(\.schemas) + shared {
                    writer.name(name)
                    writer.value(schema.value)
                }
            }
            writer.name("responses")
            writer.object { writer in
                for status in Set(resources.flatMap(\.operations).flatMap(\.problems)).sorted() {
                    writer.name("Problem\(status)")
                    writer.problem(Problem.title(status))
                }
                writer.name("Problem")
                writer.problem(
                    "Any other error: 503 with Retry-After while the relay cannot work, 500 where it failed at this.")
            }
            writer.name("securitySchemes")
            writer.securitySchemes()
        }
    }

    private mutating func problem(_ description: String) {
        object { writer in
            writer.member("description", description)
            writer.content(
                Operation.Content(
                    type: "application/problem+json", schema: .named("Problem"),
                    example: OpenAPIDocument.problemExample))
        }
    }

    private mutating func securitySchemes() {
        object { writer in
            writer.scheme(
                "apiToken",
                [
                    ("type", "http"), ("scheme", "bearer"),
                    (
                        "description",
                        "A token made with \"upgrade-relay tokens create\". Its scopes, which stand beside each "
                            + "operation: \(Scope.allCases.map(\.rawValue).joined(separator: ", "))."
                    ),
                ])
            writer.scheme(
                "controlSocket",
                [
                    ("type", "http"), ("scheme", "x-control-socket"),
                    (
                        "description",
                        "Not a header: whoever may open the daemon's unix socket has an operator's rights."
                    ),
                ])
            let headers = [
                (
                    "standardWebhook", "webhook-signature",
                    "Standard Webhooks 1.0: with webhook-id and webhook-timestamp, at most five minutes old."
                ),
                ("gitHubSignature", "X-Hub-Signature-256", "\"sha256=\" and the HMAC-SHA256 of the body in hex."),
                ("appleSignature", "x-apple-signature", "\"hmacsha256=\" and the HMAC-SHA256 of the body in hex."),
                ("gitLabToken", "X-Gitlab-Token", "The secret itself, as GitLab sends it."),
            ]
            for (name, header, description) in headers {
                writer.scheme(
                    name, [("type", "apiKey"), ("in", "header"), ("name", header), ("description", description)])
            }
        }
    }

    private mutating func scheme(_ name: String, _ members: [(String, String)]) {
        self.name(name)
        object { writer in
            for (name, value) in members { writer.member(name, value) }
        }
    }

    /// A JSON value as it is held.
    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let text): raw(Array(text.utf8))
        case .string(let text): string(text)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let members):
            object { writer in
                for member in members {
                    writer.name(member.name)
                    writer.value(member.value)
                }
            }
        }
    }
}
