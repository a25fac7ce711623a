// SPDX-License-Identifier: Apache-2.0

/// A JSON value as it was written: numbers keep their text, objects keep their order.
package indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number's own text: "13800138000" stays as it is, and does not become a Double.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
}

package struct JSONMember: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// The value at a path of names, each of an object; nil where there is none or it is null.
    package func find(_ path: [String]) -> JSONValue? {
        var value = self
        for name in path {
            guard case .object(let members) = value, let member = members.first(where: { $0.name == name }) else {
                return nil
            }
            value = member.value
        }
        return value == .null ? nil : value
    }

    /// The value in the form that its sender is shown: "the number 13800138000". At most about 60 characters.
    package var sight: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): "the number \(Self.shortened(text))"
        case .string(let text): "\"\(Self.shortened(text))\""
        case .array: "an array"
        case .object: "an object"
        }
    }

    package static func shortened(_ text: String) -> String {
        // By scalars: one character may have any number of them.
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: 40, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }
}
