// SPDX-License-Identifier: Apache-2.0

/// The text of a statement: written in this program's source, or put together from such texts and integers.
///
/// A `String` cannot become a part of it, so that nothing from outside can: the compiler refuses. A value from outside is
/// bound to a parameter.
package struct SQL: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package let text: String

    package init(stringLiteral text: StaticString) {
        self.text = text.description
    }

    package init(stringInterpolation parts: Parts) {
        text = parts.text
    }

    /// For a statement that an operator typed: maintenance and tests, never for text that came over a socket.
    package init(typed text: String) {
        self.text = text
    }

    package static func + (left: SQL, right: SQL) -> SQL { SQL(typed: left.text + right.text) }

    package var description: String { text }

    /// Hashes the length alone: texts are long, and nearly each has a length of its own.
    package func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }

    package struct Parts: StringInterpolationProtocol, Sendable {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Only the compiler calls this, with the source's own text.
        package mutating func appendLiteral(_ text: StaticString) {
            self.text += text.description
        }

        package mutating func appendInterpolation(_ sql: SQL) {
            text += sql.text
        }

        /// - Parameter parts: joined with commas between them.
        package mutating func appendInterpolation(_ parts: [SQL]) {
            text += parts.map(\.text).joined(separator: ", ")
        }

        package mutating func appendInterpolation(_ number: some FixedWidthInteger) {
            text += String(number)
        }
    }
}
