// SPDX-License-Identifier: Apache-2.0

/// The part that all requests of a batch share: header fields and body, with slots for the parts that differ.
///
/// Built once per campaign and provider token, so that a push only copies its few own bytes.
package final class RequestTemplate: Sendable {
    package enum Value: Sendable {
        case constant([UInt8])
        /// The request's own bytes, by slot number.
        case slot(Int)
    }

    package struct Field: Sendable {
        /// Lower case (RFC 9113, 8.2.1); pseudo-fields first, `:method :scheme :authority :path`.
        package let name: [UInt8]
        package let value: Value
        /// Whether the peer may keep the field in its HPACK table; false sends it as "literal never indexed" (RFC 7541, 6.2.3),
        /// which a request's own value needs: it would push other fields out of the table.
        package let isIndexed: Bool

        package init(_ name: String, _ value: Value, isIndexed: Bool) {
            self.name = Array(name.utf8)
            self.value = value
            self.isIndexed = isIndexed
        }

        package init(_ name: String, _ value: String, isIndexed: Bool = true) {
            self.init(name, .constant(Array(value.utf8)), isIndexed: isIndexed)
        }
    }

    package let fields: [Field]
    /// The body, piece by piece; empty for a request without one.
    package let body: [Value]
    /// How many slots a request fills.
    package let slotCount: Int

    package init(fields: [Field], body: [Value], slotCount: Int) {
        self.fields = fields
        self.body = body
        self.slotCount = slotCount
    }
}
