// SPDX-License-Identifier: Apache-2.0

/// The JSON Schema (draft 2020-12) of one value of the API, as the OpenAPI document shows it.
package struct Schema: Hashable, Sendable {
    /// The keywords, in the order in which they are written.
    package private(set) var keywords: [JSONMember]

    package var json: JSONValue { .object(keywords) }

    package init(_ keywords: JSONValue) { self.keywords = keywords.object ?? [] }

    private init(type: String) { keywords = [JSONMember(name: "type", value: .string(type))] }

    // MARK: Values

    /// Any value.
    package static let anything = Schema([:])
    package static let null = Schema(type: "null")
    package static let text = Schema(type: "string")
    /// A text that is not empty.
    package static let filled = text.with("minLength", 1)
    package static let flag = Schema(type: "boolean")
    /// Any number, whole or not.
    package static let number = Schema(type: "number")
    /// A number from 0 on.
    package static let decimal = number.with("minimum", 0)
    package static let integer = Schema(type: "integer")
    /// A whole number from 0 on.
    package static let count = integer.with("minimum", 0)
    /// A time by RFC 3339, in any zone, as a client may send it.
    package static let anyInstant = text.with("format", .string("date-time"))
    /// A time by RFC 3339, in UTC, as the relay writes it.
    package static let instant = anyInstant.matching("Z$")
    package static let version = ref("VersionText")
    /// A telephone, as a client sends it.
    package static let telephone = text.long(1...64).matching("^[^\\u0000-\\u001F\\u007F-\\u009F]*$")
    /// A push token, as a client sends it.
    package static let token = text.long(1...4096).matching("^[!-~]+$")

    /// A schema among the document's components.
    package static func ref(_ name: String) -> Schema { Schema(["$ref": .string("#/components/schemas/\(name)")]) }

    /// One of these words.
    package static func words(_ words: [String]) -> Schema { text.with("enum", .array(words.map(JSONValue.string))) }

    /// One of the words of a type, in the order of its cases.
    package static func words<Word: CaseIterable & RawRepresentable>(_ type: Word.Type) -> Schema
    where Word.RawValue == String { words(type.allCases.map(\.rawValue)) }

    package static func list(of items: Schema) -> Schema { Schema(type: "array").with("items", items.json) }

    /// An object whose members have names that the document does not list.
    package static func map(of values: Schema) -> Schema {
        Schema(type: "object").with("additionalProperties", values.json)
    }

    /// An object whose members the document does not describe.
    package static let members = Schema(type: "object").with("additionalProperties", .bool(true))

    package static func anyOf(_ schemas: [Schema]) -> Schema { Schema(["anyOf": .array(schemas.map(\.json))]) }

    // MARK: Limits

    package func with(_ keyword: String, _ value: JSONValue) -> Schema {
        var schema = self
        schema.keywords.append(JSONMember(name: keyword, value: value))
        return schema
    }

    /// The schema with the keywords of both.
    package func merging(_ other: Schema) -> Schema {
        other.keywords.reduce(self) { $0.with($1.name, $1.value) }
    }

    package func with(_ keyword: String, _ value: Int64) -> Schema { with(keyword, .integer(value)) }

    /// By a regular expression of ECMAScript.
    package func matching(_ pattern: String) -> Schema { with("pattern", .string(pattern)) }

    /// A text's length in characters.
    package func long(_ lengths: ClosedRange<Int>) -> Schema {
        with("minLength", Int64(lengths.lowerBound)).with("maxLength", Int64(lengths.upperBound))
    }

    /// A number's bounds.
    package func within(_ values: ClosedRange<Int64>) -> Schema {
        with("minimum", values.lowerBound).with("maximum", values.upperBound)
    }

    // MARK: Other forms

    /// The same, or null.
    package var orNull: Schema {
        guard let type = json["type"] else { return .anyOf([self, Schema(type: "null")]) }
        return Schema(
            .object(
                keywords.map { keyword in
                    switch (keyword.name, keyword.value) {
                    case ("type", _): JSONMember(name: "type", value: .array([type, .string("null")]))
                    case ("enum", .array(let words)): JSONMember(name: "enum", value: .array(words + [.null]))
                    default: keyword
                    }
                }))
    }

    /// With a description for readers of the document, behind the first keyword; nil: it has none.
    package func described(_ text: String?) -> Schema {
        guard let text else { return self }
        var schema = self
        schema.keywords.insert(
            JSONMember(name: "description", value: .string(text)), at: min(1, schema.keywords.count))
        return schema
    }
}

// MARK: Objects

extension Schema {
    /// A member of an object's schema.
    package struct Property: Sendable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool

        /// - Parameter isRequired: whether it is always there.
        package init(_ name: String, _ schema: Schema, isRequired: Bool = true) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
        }
    }

    /// An object with these members and no others.
    ///
    /// - Parameter others: the schema of members that are not listed; nil: there are none.
    package static func object(_ text: String? = nil, _ properties: [Property], others: Schema? = nil) -> Schema {
        Schema(type: "object").described(text).having(properties)
            .with("additionalProperties", others?.json ?? .bool(false))
    }

    /// An object's schema, with these members.
    package func having(_ properties: [Property]) -> Schema {
        let schema = with(
            "properties", .object(properties.map { JSONMember(name: $0.name, value: $0.schema.json) }))
        let required = properties.filter(\.isRequired).map { JSONValue.string($0.name) }
        return required.isEmpty ? schema : schema.with("required", .array(required))
    }

    /// A page of a list.
    ///
    /// - Parameter hasSimilar: whether an empty list names other spellings of the telephone that was asked for.
    package static func page(of items: Schema, hasSimilar: Bool = false) -> Schema {
        let next = text.orNull.described("The cursor of the next page; null on the last.")
        let similar = list(of: text).with("minItems", 1).described(
            "Other spellings of the telephone that are known; only where the list is empty and the telephone itself is unknown."
        )
        return object(
            nil,
            [
                Property(Field.items.rawValue, list(of: items)), Property(Field.next.rawValue, next),
            ] + (hasSimilar ? [Property(PersonalField.similar.rawValue, similar, isRequired: false)] : []))
    }
}
