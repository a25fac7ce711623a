// SPDX-License-Identifier: Apache-2.0
import VersionSources
import WireFormat

/// Checks values against JSON Schemas (draft 2020-12), as far as the document uses them. An unknown keyword is a fault itself,
/// so that nothing passes unchecked.
struct SchemaCheck {
    /// The whole document, for its references.
    let root: JSONValue

    /// Every fault with its place; empty when the value is of the schema.
    func faults(_ value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
        if schema == .bool(true) { return [] }
        if schema == .bool(false) { return ["\(place): is not to be there"] }
        guard case .object(let keywords) = schema else { return ["\(place): the schema is no object"] }
        return keywords.flatMap { faults(value, $0.name, $0.value, keywords, at: place) }
    }

    /// The value at a reference of the form "#/a/b".
    func resolve(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(root) { value, name in
            let name = name.replacing("~1", with: "/").replacing("~0", with: "~")
            return value?[String(name)]
        }
    }

    private func faults(
        _ value: JSONValue, _ keyword: String, _ argument: JSONValue, _ keywords: [JSONMember], at place: String
    ) -> [String] {
        switch (keyword, argument) {
        case ("description", .string): return []
        case ("$ref", .string(let reference)):
            guard let schema = resolve(reference) else { return ["\(place): \(reference) leads nowhere"] }
            return faults(value, schema, at: place)
        case ("type", .string(let name)):
            return is_(value, name) ? [] : ["\(place): \(name) is documented; got \(value.sight)"]
        case ("type", .array(let names)):
            let isOne = names.contains { name in
                if case .string(let name) = name { is_(value, name) } else { false }
            }
            return isOne ? [] : ["\(place): another type is documented; got \(value.sight)"]
        case ("enum", .array(let choices)):
            return choices.contains(value) ? [] : ["\(place): not one of the documented values: \(value.sight)"]
        case ("anyOf", .array(let schemas)):
            let all = schemas.map { faults(value, $0, at: place) }
            return all.contains { $0.isEmpty } ? [] : ["\(place): none of the alternatives: \(all)"]
        case ("not", let schema):
            return faults(value, schema, at: place).isEmpty ? ["\(place): is what it must not be"] : []
        case ("properties", .object(let properties)):
            guard case .object(let members) = value else { return [] }
            return members.flatMap { member in
                properties.first { $0.name == member.name }.map {
                    faults(member.value, $0.value, at: "\(place).\(member.name)")
                } ?? []
            }
        case ("required", .array(let names)):
            guard case .object(let members) = value else { return [] }
            return names.compactMap { name in
                guard case .string(let name) = name, !members.contains(where: { $0.name == name }) else { return nil }
                return "\(place).\(name): documented as always there; it is missing"
            }
        case ("additionalProperties", let others):
            return additional(value, others, keywords, at: place)
        case ("propertyNames", let schema):
            guard case .object(let members) = value else { return [] }
            return members.flatMap { faults(.string($0.name), schema, at: "\(place).\($0.name)") }
        case ("minProperties", .number(let text)), ("maxProperties", .number(let text)):
            guard case .object(let members) = value, let limit = Int(text) else { return [] }
            let isWithin = keyword == "minProperties" ? members.count >= limit : members.count <= limit
            return isWithin ? [] : ["\(place): \(keyword) is \(text); it had \(members.count)"]
        case ("items", let schema):
            guard case .array(let elements) = value else { return [] }
            return elements.enumerated().flatMap { faults($0.element, schema, at: "\(place)[\($0.offset)]") }
        case ("minimum", .number(let text)), ("maximum", .number(let text)):
            guard case .number(let held) = value, let held = Double(held), let limit = Double(text) else { return [] }
            let isWithin = keyword == "minimum" ? held >= limit : held <= limit
            return isWithin ? [] : ["\(place): \(keyword) is \(text); got \(held)"]
        case ("minLength", .number(let text)), ("maxLength", .number(let text)):
            guard case .string(let held) = value, let limit = Int(text) else { return [] }
            let length = held.unicodeScalars.count
            let isWithin = keyword == "minLength" ? length >= limit : length <= limit
            return isWithin ? [] : ["\(place): \(keyword) is \(text); it had \(length)"]
        case ("pattern", .string(let pattern)):
            guard case .string(let held) = value else { return [] }
            guard let pattern = try? Regex(pattern) else { return ["\(place): \(pattern) is no regular expression"] }
            // By scalars, as ECMA-262 has it: a letter with its accent may be two.
            let isMatched = held.firstMatch(of: pattern.matchingSemantics(.unicodeScalar)) != nil
            return isMatched ? [] : ["\(place): does not match its pattern; got \(value.sight)"]
        case ("minItems", .number(let text)):
            guard case .array(let elements) = value, let limit = Int(text) else { return [] }
            return elements.count >= limit ? [] : ["\(place): minItems is \(text); it had \(elements.count)"]
        case ("maxItems", .number(let text)):
            guard case .array(let elements) = value, let limit = Int(text) else { return [] }
            return elements.count <= limit ? [] : ["\(place): maxItems is \(text); it had \(elements.count)"]
        case ("format", .string(let format)):
            guard case .string(let text) = value else { return [] }
            return isOfFormat(text, format) ? [] : ["\(place): \(format) is documented; got \(value.sight)"]
        default:
            return ["\(place): the checker does not know \(keyword)"]
        }
    }

    private func additional(
        _ value: JSONValue, _ others: JSONValue, _ keywords: [JSONMember], at place: String
    ) -> [String] {
        guard case .object(let members) = value else { return [] }
        var known: [JSONMember] = []
        if case .object(let listed)? = keywords.first(where: { $0.name == "properties" })?.value { known = listed }
        return members.flatMap { member -> [String] in
            if known.contains(where: { $0.name == member.name }) { return [] }
            let place = "\(place).\(member.name)"
            switch others {
            case .bool(true): return []
            case .bool(false): return ["\(place): is not documented"]
            default: return faults(member.value, others, at: place)
            }
        }
    }

    private func is_(_ value: JSONValue, _ type: String) -> Bool {
        switch (value, type) {
        case (.null, "null"), (.bool, "boolean"), (.string, "string"), (.array, "array"), (.object, "object"),
            (.number, "number"):
            true
        case (.number(let text), "integer"): Double(text).map { $0 == $0.rounded() } ?? false
        default: false
        }
    }

    private func isOfFormat(_ text: String, _ format: String) -> Bool {
        switch format {
        // RFC 3339 section 5.6.
        case "date-time":
            text.wholeMatch(
                of:
                    /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-][0-2]\d:[0-5]\d)/
            ) != nil
        case "uuid": text.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil
        default: false
        }
    }
}

extension JSONValue {
    /// A member of an object; nil where there is none.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    var members: [JSONMember] {
        if case .object(let members) = self { members } else { [] }
    }

    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
