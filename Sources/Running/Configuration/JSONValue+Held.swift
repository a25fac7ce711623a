// SPDX-License-Identifier: Apache-2.0
import Terminal
import VersionSources
import WireFormat

extension JSONValue {
    /// As the owner would name it in a message: `"text"`, `11`, `an object`. A long value is cut, and an address shows neither
    /// a password nor a query.
    var held: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let text): DisplayWidth.truncated(text, to: 60)
        case .string(let text): Self.quoted(Self.shown(text), columns: 60)
        case .array: "a list"
        case .object: "an object"
        }
    }

    static func quoted(_ text: String, columns: Int) -> String {
        "\"\(cut(text, columns: columns))\""
    }

    static func cut(_ text: String, columns: Int) -> String {
        DisplayWidth.truncated(DisplayWidth.sanitised(text), to: columns)
    }

    /// An address without its user and its query; any other text as it is.
    static func shown(_ text: String) -> String {
        text.contains("//") ? ShownAddress.withoutSecrets(text) : text
    }
}
