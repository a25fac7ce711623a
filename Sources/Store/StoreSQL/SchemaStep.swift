// SPDX-License-Identifier: Apache-2.0
import CTexts

/// A step of the store's growth from release to release: its number, its name, and its text for one driver.
///
/// Existing stores have run the steps, so each is a text of its own (`Sources/C/CTexts/schema`, `postgres`): it does not follow changes
/// of today's statements, and is never edited once released.
package struct SchemaStep: Sendable {
    package let number: Int
    package let name: String
    package let text: String

    /// Every step so far, for SQLite. The comments inside stay in the database.
    package static let sqlite = unsafe steps(
        UnsafeRawBufferPointer(start: relay_schema_steps(), count: relay_schema_steps_size()), names)

    /// For PostgreSQL: the first makes everything that SQLite's steps up to its number make.
    package static let postgres = unsafe steps(
        UnsafeRawBufferPointer(start: relay_postgres_steps(), count: relay_postgres_steps_size()),
        names.prefix(1) + names.dropFirst(21))

    /// The names of both drivers' steps, in the order of their numbers.
    private static let names = unsafe String(cString: relay_schema_names()).split(separator: "\n").map(String.init)

    private static func steps(_ bytes: UnsafeRawBufferPointer, _ names: some Collection<String>) -> [SchemaStep] {
        let texts = unsafe Array(bytes).split(separator: 0)
        precondition(names.count == texts.count, "each step of the schema has a name and a text")
        let first = self.names.count - names.count + 1
        return zip(names, texts).enumerated().map { place, step in
            SchemaStep(number: first + place, name: step.0, text: String(decoding: step.1, as: UTF8.self))
        }
    }
}
