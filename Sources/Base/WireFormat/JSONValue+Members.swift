// SPDX-License-Identifier: Apache-2.0

/// Access to a value by the type that it should have; nil where it has another.
extension JSONValue {
    package subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A whole number, however it is written: 1000 and 1e3.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text) ?? number.flatMap { Int64(exactly: $0) }
    }

    package var number: Double? {
        if case .number(let text) = self { Double(text) } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var object: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Members in the order in which they are written here; those without a value are left out.
    package init(dictionaryLiteral elements: (String, JSONValue?)...) {
        self = .object(elements.compactMap { name, value in value.map { JSONMember(name: name, value: $0) } })
    }
}

extension JSONValue {
    /// As JSON (RFC 8259), in one line or, for people, with each member and element in a line of its own.
    package func bytes(isPretty: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, lineStart: isPretty ? "\n" : "")
        return bytes
    }

    /// - Parameter lineStart: begins each line of this value; empty: it has one line only.
    private func append(to bytes: inout [UInt8], lineStart: String) {
        let inside = lineStart.isEmpty ? "" : lineStart + "  "
        func list<Item>(_ open: String, _ items: [Item], _ close: String, _ append: (inout [UInt8], Item) -> Void) {
            bytes += open.utf8
            for (index, item) in items.enumerated() {
                bytes += (index == 0 ? inside : ",\(inside)").utf8
                append(&bytes, item)
            }
            bytes += (items.isEmpty ? close : lineStart + close).utf8
        }
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += "\(value)".utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): JSONWriter.append(quoted: text, to: &bytes)
        case .array(let elements): list("[", elements, "]") { $1.append(to: &$0, lineStart: inside) }
        case .object(let members):
            list("{", members, "}") { bytes, member in
                JSONWriter.append(quoted: member.name, to: &bytes)
                bytes += (lineStart.isEmpty ? ":" : ": ").utf8
                member.value.append(to: &bytes, lineStart: inside)
            }
        }
    }
}
