// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import WireFormat

/// The one member list of an object of the API, which both writes it as JSON and describes it in the OpenAPI document.
///
/// Objects are written member by member, in the list's order, without an existential or an allocation for a member: lists
/// have thousands of objects. Shapes are constants, and may be read on any thread.
package struct Shape<Object>: Sendable {
    /// Its name among the document's schemas; nil: its schema is inlined where it is used.
    package let name: String?
    /// Its description in the document.
    private let text: String?
    private let members: [ShapeMember<Object>]

    package init(_ name: String, _ text: String?, _ members: [ShapeMember<Object>]) {
        (self.name, self.text, self.members) = (name, text, members)
    }

    /// Members without a common name: those of an inlined object, or members that several objects share.
    package init(_ members: [ShapeMember<Object>]) {
        (name, text, self.members) = (nil, nil, members)
    }

    package var schema: Schema { .object(text, properties, others: members.lazy.compactMap(\.others).first) }

    /// The schema with which the members of other objects refer to this one.
    package var reference: Schema { name.map { .ref($0) } ?? schema }

    /// The names of its members, in their order.
    package var names: [String] { properties.map(\.name) }

    fileprivate var properties: [Schema.Property] { members.flatMap(\.properties) }

    /// The same members for a larger object, `Whole`, that contains an `Object`.
    package func members<Whole>(of part: @escaping @Sendable (Whole) -> Object) -> ShapeMember<Whole> {
        ShapeMember(properties, others: members.lazy.compactMap(\.others).first) { writer, whole, sight in
            write(part(whole), for: sight, to: &writer)
        }
    }

    fileprivate func write(_ object: Object, for sight: Redaction, to writer: inout JSONWriter) {
        for member in members { member.write(&writer, object, sight) }
    }
}

/// A member of an object, or several that belong together: names, schemas, and the code that writes them.
package struct ShapeMember<Object>: Sendable {
    fileprivate let properties: [Schema.Property]
    /// The schema of members whose names the document does not list; nil: there are none.
    fileprivate let others: Schema?
    /// Writes name and value, or nothing where the member is left out.
    fileprivate let write: @Sendable (inout JSONWriter, Object, Redaction) -> Void

    /// - Parameter write: writes name and value, or nothing where the member is left out.
    init(
        _ properties: [Schema.Property], others: Schema? = nil,
        write: @escaping @Sendable (inout JSONWriter, Object, Redaction) -> Void
    ) {
        (self.properties, self.others, self.write) = (properties, others, write)
    }

    /// - Parameter write: writes name and value, or nothing where the member is left out.
    init(
        property: Schema.Property, write: @escaping @Sendable (inout JSONWriter, Object, Redaction) -> Void
    ) {
        self.init([property], write: write)
    }

    /// Members that are listed in a table elsewhere.
    package static func all(_ members: [ShapeMember]) -> ShapeMember {
        ShapeMember(members.flatMap(\.properties)) { writer, object, sight in
            for member in members { member.write(&writer, object, sight) }
        }
    }
}

// MARK: Values

extension ShapeMember {
    /// A member that is always there.
    package static func member<Value: JSONWritable>(
        _ field: Field, _ schema: Schema, _ text: String? = nil, _ value: @escaping @Sendable (Object) -> Value
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, schema.described(text))) { writer, object, _ in
            writer.name(field)
            value(object).write(to: &writer)
        }
    }

    /// A member that is null where there is no value.
    package static func nullable<Value: JSONWritable>(
        _ field: Field, _ schema: Schema, _ text: String? = nil, _ value: @escaping @Sendable (Object) -> Value?
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, schema.orNull.described(text))) { writer, object, _ in
            writer.name(field)
            if let value = value(object) { value.write(to: &writer) } else { writer.null() }
        }
    }

    /// A member that is left out where there is no value.
    package static func optional<Value: JSONWritable>(
        _ field: Field, _ schema: Schema, _ text: String? = nil, _ value: @escaping @Sendable (Object) -> Value?
    ) -> ShapeMember {
        let property = Schema.Property(field.rawValue, schema.described(text), isRequired: false)
        return ShapeMember(property: property) { writer, object, _ in
            guard let value = value(object) else { return }
            writer.name(field)
            value.write(to: &writer)
        }
    }

    /// A member whose value `write` writes.
    package static func written(
        _ field: Field, _ schema: Schema, _ text: String? = nil,
        _ write: @escaping @Sendable (inout JSONWriter, Object) -> Void
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, schema.described(text))) { writer, object, _ in
            writer.name(field)
            write(&writer, object)
        }
    }
}

// MARK: People's data

extension ShapeMember {
    /// A member that is masked for readers who may not see people's data.
    package static func personal(
        _ field: PersonalField, _ text: String? = nil, _ value: @escaping @Sendable (Object) -> String
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, Schema.text.described(text))) { writer, object, sight in
            writer.member(field, value(object), for: sight)
        }
    }

    /// The same; null where there is no value.
    package static func nullablePersonal(
        _ field: PersonalField, _ text: String? = nil, _ value: @escaping @Sendable (Object) -> String?
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, Schema.text.orNull.described(text))) { writer, object, sight in
            writer.member(field, value(object), for: sight)
        }
    }

    /// A list of such texts, each of them masked.
    package static func personalList(
        _ field: PersonalField, _ text: String? = nil, _ values: @escaping @Sendable (Object) -> [String]
    ) -> ShapeMember {
        let schema = Schema.list(of: .text).described(text)
        return ShapeMember(property: .init(field.rawValue, schema)) { writer, object, sight in
            writer.member(field, values(object), for: sight)
        }
    }

    /// The same; null where there is no value.
    package static func nullablePersonalList(
        _ field: PersonalField, _ text: String? = nil, _ values: @escaping @Sendable (Object) -> [String]?
    ) -> ShapeMember {
        let schema = Schema.list(of: .text).orNull.described(text)
        return ShapeMember(property: .init(field.rawValue, schema)) { writer, object, sight in
            writer.member(field, values(object), for: sight)
        }
    }
}

// MARK: Objects in objects

extension ShapeMember {
    package static func object<Part>(
        _ field: Field, _ shape: Shape<Part>, _ text: String? = nil, _ part: @escaping @Sendable (Object) -> Part
    ) -> ShapeMember {
        ShapeMember(property: .init(field.rawValue, shape.reference.described(text))) { writer, object, sight in
            writer.name(field)
            writer.object(part(object), shape, for: sight)
        }
    }

    /// An object that is null where there is none.
    package static func nullableObject<Part>(
        _ field: Field, _ shape: Shape<Part>, _ text: String? = nil, _ part: @escaping @Sendable (Object) -> Part?
    ) -> ShapeMember {
        let schema = shape.reference.orNull.described(text)
        return ShapeMember(property: .init(field.rawValue, schema)) { writer, object, sight in
            writer.name(field)
            if let part = part(object) { writer.object(part, shape, for: sight) } else { writer.null() }
        }
    }

    package static func list<Items: Sequence & SendableMetatype>(
        _ field: Field, of shape: Shape<Items.Element>, _ text: String? = nil,
        _ items: @escaping @Sendable (Object) -> Items
    ) -> ShapeMember {
        let schema = Schema.list(of: shape.reference).described(text)
        return ShapeMember(property: .init(field.rawValue, schema)) { writer, object, sight in
            writer.array(field, items(object)) { $0.object($1, shape, for: sight) }
        }
    }
}

extension ShapeMember {
    /// A list that is left out where there is none.
    package static func optionalList<Items: Sequence & SendableMetatype>(
        _ field: Field, of shape: Shape<Items.Element>, _ text: String? = nil, atMost limit: Int? = nil,
        _ items: @escaping @Sendable (Object) -> Items?
    ) -> ShapeMember {
        let list = Schema.list(of: shape.reference).described(text)
        let schema = limit.map { list.with("maxItems", Int64($0)) } ?? list
        return ShapeMember(property: .init(field.rawValue, schema, isRequired: false)) { writer, object, sight in
            guard let items = items(object) else { return }
            writer.array(field, items) { $0.object($1, shape, for: sight) }
        }
    }

    /// Members whose names the document does not list, with values of this schema.
    package static func others(
        _ schema: Schema, _ write: @escaping @Sendable (inout JSONWriter, Object) -> Void
    ) -> ShapeMember {
        ShapeMember([], others: schema) { writer, object, _ in write(&writer, object) }
    }

    /// A count whose name comes from a table elsewhere.
    package static func count(
        named name: String, _ text: String? = nil, _ count: @escaping @Sendable (Object) -> Int64
    ) -> ShapeMember {
        ShapeMember(property: .init(name, Schema.count.described(text))) { writer, object, _ in
            writer.name(name)
            writer.integer(count(object))
        }
    }
}

extension JSONWriter {
    /// - Parameter sight: how people's data is shown; masked by default.
    package mutating func object<Object>(_ object: Object, _ shape: Shape<Object>, for sight: Redaction = .masked) {
        self.object { $0.members(of: object, shape, for: sight) }
    }

    /// The members alone, for an object that is open already.
    package mutating func members<Object>(of object: Object, _ shape: Shape<Object>, for sight: Redaction = .masked) {
        shape.write(object, for: sight, to: &self)
    }
}
