// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// A body that the API writes and a command reads. Its members are declared once, as the type's properties: the API writes
/// them under the names that `Codable` derives, in the contract's order, and the command reads them by the same.
package protocol APIBody: Sendable {
    func writeMembers(to writer: inout JSONWriter)
}

extension JSONWriter {
    package mutating func body(_ body: some APIBody) {
        object { body.writeMembers(to: &$0) }
    }

    mutating func name(_ key: some CodingKey) {
        name(key.stringValue)
    }

    mutating func member(_ key: some CodingKey, _ value: String?) {
        member(key.stringValue, value)
    }

    mutating func member(_ key: some CodingKey, _ value: Int64?) {
        member(key.stringValue, value)
    }

    mutating func member(_ key: some CodingKey, strings: [String]?) {
        member(key.stringValue, strings: strings)
    }

    mutating func member(_ key: some CodingKey, _ value: Bool) {
        name(key)
        bool(value)
    }
}
