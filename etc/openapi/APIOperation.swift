// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import WireFormat

/// The shapes of one route's request and answers. The route itself gives its path, right, parameters and problems; the texts of
/// its tag give descriptions and examples.
struct APIOperation: Sendable {
    /// The name of its method in generated clients.
    let id: String
    /// Method and path, as the route's pattern.
    let pattern: String
    /// The body of its request; nil: none.
    let body: Content?
    /// Whether it may be called without that body.
    let mayBeEmpty: Bool
    /// The fields of its request's head, beside those that follow from the route.
    let headers: [Header]
    /// The parameters of its query that it cannot do without.
    let needs: Set<String>
    let answers: [Answer]
    /// The statuses of problems that do not follow from the route.
    let refusals: [Int]
    /// The security scheme in place of those of the route's right; nil: those.
    let scheme: String?
    /// A security scheme beside those of the route's right.
    let otherScheme: String?

    init(
        _ id: String, _ pattern: String, takes body: Content? = nil, mayBeEmpty: Bool = false, headers: [Header] = [],
        needs: Set<String> = [], gives answers: [Answer], refuses refusals: [Int] = [],
        by scheme: String? = nil, alsoBy otherScheme: String? = nil
    ) {
        (self.id, self.pattern, self.body, self.mayBeEmpty) = (id, pattern, body, mayBeEmpty)
        (self.headers, self.needs, self.answers) = (headers, needs, answers)
        (self.refusals, self.scheme, self.otherScheme) = (refusals, scheme, otherScheme)
    }

    /// A field of a request's head that is a text.
    struct Header: Sendable {
        let name: String
        var isRequired = false
    }

    /// One form of a body.
    enum Content: Sendable {
        case json(Schema)
        case problem(Schema)
        /// NDJSON, with an object of this schema in each line.
        case lines(Schema)
        /// CSV, with a record for each of these, and what else a reader must know.
        case csv(String, note: String? = nil)
        /// Server-sent events, whose data is of this schema; nil: of several.
        case events(of: Schema?)
        /// A body of this media type.
        case other(String, Schema)

        /// One object, by the name of its schema.
        static func object(_ schema: String) -> Content { .json(.ref(schema)) }
    }

    struct Answer: Sendable {
        let status: Int
        let contents: [Content]
        /// Fields of its head beside those that follow from the route.
        let headers: [String]

        init(_ status: Int, _ contents: Content..., with headers: [String] = []) {
            (self.status, self.contents, self.headers) = (status, contents, headers)
        }

        /// One object, by the name of its schema.
        static func ok(_ schema: String) -> Answer { Answer(200, .object(schema)) }
        static func made(_ schema: String) -> Answer { Answer(201, .object(schema)) }
        static func accepted(_ schema: String) -> Answer { Answer(202, .object(schema)) }
        /// A bump that was taken: done, or waiting for a second person.
        static let bumpAccepted = Answer(202, .json(.anyOf([.ref("BumpResult"), .ref("ApprovalAsked")])))
        /// A page of objects.
        static func list(_ schema: String) -> Answer { Answer(200, .json(.page(of: .ref(schema)))) }
        static let nothing = Answer(204)
    }
}
