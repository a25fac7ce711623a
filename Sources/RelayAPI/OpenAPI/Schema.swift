// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A JSON Schema (draft 2020-12, which OpenAPI 3.1 speaks), keyword by keyword.
struct Schema: Sendable {
    var keywords: [JSONMember]

    private init(_ keywords: [JSONMember]) {
        self.keywords = keywords
    }

    private init(type: String, _ description: String?, _ more: [(String, JSONValue?)] = []) {
        keywords = [JSONMember(name: "type", value: .string(type))]
        if let description { keywords.append(JSONMember(name: "description", value: .string(description))) }
        for (name, value) in more {
            if let value { keywords.append(JSONMember(name: name, value: value)) }
        }
    }

    // MARK: Plain values

    static func string(_ description: String? = nil, format: String? = nil, length: ClosedRange<Int>? = nil) -> Schema {
        Schema(
            type: "string", description,
            [
                ("format", format.map(JSONValue.string)),
                ("minLength", length.map { .number(String($0.lowerBound)) }),
                ("maxLength", length.map { .number(String($0.upperBound)) }),
            ])
    }

    static func integer(_ description: String? = nil, in range: ClosedRange<Int>? = nil) -> Schema {
        Schema(
            type: "integer", description,
            [
                ("minimum", .number(String(range?.lowerBound ?? 0))),
                ("maximum", range.map { .number(String($0.upperBound)) }),
            ])
    }

    static func number(_ description: String? = nil) -> Schema {
        Schema(type: "number", description, [("minimum", .number("0"))])
    }

    static func choice(_ words: [String], _ description: String? = nil) -> Schema {
        Schema(type: "string", description, [("enum", .array(words.map(JSONValue.string)))])
    }

    /// RFC 3339 in UTC with milliseconds.
    static func instant(_ description: String? = nil) -> Schema { string(description, format: "date-time") }

    static let boolean = Schema(type: "boolean", nil)

    static let version = string(
        "Numbers separated by dots; missing ones are 0, so \"2\" equals \"2.0.0\".", length: 1...64)

    /// Whatever another party writes.
    static let anything = Schema([])

    // MARK: Structure

    /// One member of an object.
    struct Property: Sendable {
        var name: String
        var schema: Schema
        var isRequired: Bool

        init(_ name: String, _ schema: Schema, optional: Bool = false) {
            self.name = name
            self.schema = schema
            isRequired = !optional
        }
    }

    /// An object with these members and no others.
    static func object(_ description: String? = nil, _ properties: [Property]) -> Schema {
        Schema(
            type: "object", description,
            [
                (
                    "properties",
                    .object(properties.map { JSONMember(name: $0.name, value: $0.schema.value) })
                ),
                ("required", .array(properties.filter(\.isRequired).map { .string($0.name) })),
                ("additionalProperties", .bool(false)),
            ])
    }

    /// The same object with members beyond those listed, of one kind.
    func allowing(_ others: Schema) -> Schema {
        Schema(
            keywords.map {
                $0.name == "additionalProperties" ? JSONMember(name: $0.name, value: others.value) : $0
            })
    }

    /// An object whose names are not known beforehand.
    static func map(of schema: Schema, _ description: String? = nil) -> Schema {
        Schema(type: "object", description, [("additionalProperties", schema.value)])
    }

    static func array(of schema: Schema, _ description: String? = nil) -> Schema {
        Schema(type: "array", description, [("items", schema.value)])
    }

    /// Another schema by its name in the document.
    static func named(_ name: String) -> Schema {
        Schema([JSONMember(name: "$ref", value: .string("#/components/schemas/\(name)"))])
    }

    /// At least one of these.
    static func either(_ schemas: [Schema]) -> Schema {
        Schema([JSONMember(name: "anyOf", value: .array(schemas.map(\.value)))])
    }

    /// A list as every list is paged.
    static func page(of name: String) -> Schema {
        object([
            Property("items", .array(of: .named(name))),
            Property("next", .string("The cursor of the next page; null on the last.").orNull),
        ])
    }

    private static func object(_ properties: [Property]) -> Schema { object(nil, properties) }

    /// The same, or null.
    var orNull: Schema {
        guard keywords.contains(where: { $0.name == "type" }) else {
            let null = JSONValue.object([JSONMember(name: "type", value: .string("null"))])
            return Schema([JSONMember(name: "anyOf", value: .array([value, null]))])
        }
        return Schema(
            keywords.map { keyword in
                switch (keyword.name, keyword.value) {
                case ("type", let type): JSONMember(name: "type", value: .array([type, .string("null")]))
                case ("enum", .array(let words)): JSONMember(name: "enum", value: .array(words + [.null]))
                default: keyword
                }
            })
    }

    var value: JSONValue { .object(keywords) }
}
