// SPDX-License-Identifier: Apache-2.0
import StoreSQL
import Synchronization

/// A statement that each connection prepares at its first use. Made once, as a `static let`: it is known by its number, so
/// that running it compares and hashes no text.
struct PostgresStatement: Sendable {
    private static let count = Atomic(0)

    let number: Int
    let text: String
    /// Whether it changes nothing, so that it may be repeated where an answer was lost.
    let isReadOnly: Bool

    /// - Parameter text: source text of this program: nothing from outside can become a part of it. Values are `$1`, `$2`….
    init(_ text: StaticString, isReadOnly: Bool = false) {
        self.init(composed: text.description, isReadOnly: isReadOnly)
    }

    /// - Parameter sql: nothing from outside can become a part of it either.
    init(sql: SQL, isReadOnly: Bool = false) {
        self.init(composed: sql.text, isReadOnly: isReadOnly)
    }

    /// - Parameter text: composed of such source texts.
    init(composed text: String, isReadOnly: Bool = false) {
        self.text = text
        self.isReadOnly = isReadOnly
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
