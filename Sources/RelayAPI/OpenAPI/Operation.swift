// SPDX-License-Identifier: Apache-2.0

/// One method of one path, as the OpenAPI document tells it.
struct Operation: Sendable {
    struct Parameter: Sendable {
        var name: String
        /// "query" or "header"; those of the path are found in the path itself.
        var place: String
        var isRequired = false
        var schema: Schema
        var description: String

        static func query(_ name: String, _ schema: Schema, _ description: String, required: Bool = false) -> Parameter
        {
            Parameter(name: name, place: "query", isRequired: required, schema: schema, description: description)
        }

        static func header(_ name: String, _ description: String, required: Bool = false) -> Parameter {
            Parameter(
                name: name, place: "header", isRequired: required, schema: .string(), description: description)
        }

        static func limit(_ fallback: Int) -> Parameter {
            .query("limit", .integer(in: 1...1000), "The most items of the answer. Default \(fallback).")
        }

        static let cursor = Parameter.query(
            "cursor", .string(), "Where to go on: \"next\" of the answer before.")
    }

    /// A body, of the request or of an answer.
    struct Content: Sendable {
        var type = "application/json"
        var schema: Schema
        /// What each line or event of a stream holds.
        var item: Schema?
        /// JSON text; for a stream the text as it is.
        var example: String?

        static func json(_ schema: Schema, example: String? = nil) -> Content {
            Content(schema: schema, example: example)
        }

        /// One JSON object in each line.
        static func lines(_ item: Schema, example: String? = nil) -> Content {
            Content(
                type: "application/x-ndjson", schema: .string("One object in each line."), item: item,
                example: example)
        }
    }

    struct Answer: Sendable {
        var status: Int
        var description: String
        /// nil: the answer has no body.
        var content: Content?

        init(_ status: Int, _ description: String, _ content: Content? = nil) {
            self.status = status
            self.description = description
            self.content = content
        }
    }

    var method: String
    /// With names in braces: "/v1/campaigns/{id}".
    var path: String
    /// Unique in the document: what generated clients call it.
    var id: String
    var summary: String
    var description: String?
    var right: Right
    /// Whether GitLab's token in clear will do for the signature.
    var takesToken = false
    var parameters: [Parameter] = []
    var body: Content?
    var answers: [Answer]
    /// Statuses of problems beyond those that follow from the rest.
    var conflicts: [Int] = []

    init(
        _ method: String, _ path: String, _ id: String, _ summary: String, _ right: Right, description: String? = nil,
        takesToken: Bool = false, parameters: [Parameter] = [], body: Content? = nil, answers: [Answer],
        conflicts: [Int] = []
    ) {
        self.method = method
        self.path = path
        self.id = id
        self.summary = summary
        self.description = description
        self.right = right
        self.takesToken = takesToken
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.conflicts = conflicts
    }

    /// The names in the path's braces, in order.
    var pathNames: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }
            .map { String($0.dropFirst().dropLast()) }
    }

    /// The statuses that are answered with a problem, in order.
    var problems: [Int] {
        // A parameter that nobody asked for is refused everywhere.
        // So is a target or a head that is too long.
        var statuses: Set<Int> = [414, 422, 431]
        if !pathNames.isEmpty { statuses.formUnion([400, 404]) }
        if body != nil { statuses.insert(400) }
        if let body, body.item == nil { statuses.insert(413) }
        switch right {
        case .nothing: break
        case .signature: statuses.insert(401)
        case .scope, .operatorOnly: statuses.formUnion([401, 403])
        }
        return statuses.union(conflicts).sorted()
    }
}

/// Everything that the document says of one kind of resource: its operations and the schemas that they share.
struct ResourceDescription: Sendable {
    var tag: String
    var purpose: String
    var operations: [Operation]
    var schemas: [(name: String, schema: Schema)]
}
