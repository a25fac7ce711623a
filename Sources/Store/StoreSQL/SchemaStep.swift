// SPDX-License-Identifier: Apache-2.0
import CTexts

/// A step of the store's growth from release to release: its number, its name, and its text for one driver.
///
/// A step is one file of `Sources/C/CTexts/schema`, with its name and the texts of its drivers, and a line in `schema.c`. Existing stores
/// have run the steps, so each is a text of its own: it does not follow changes of today's statements, and is never edited once released.
package struct SchemaStep: Sendable {
    package let number: Int
    package let name: String
    package let text: String

    /// Every step so far, for SQLite. The comments inside stay in the database.
    package static let sqlite = steps(in: "SQLite")

    /// For PostgreSQL: the first makes everything that SQLite's steps up to its number make.
    package static let postgres = steps(in: "PostgreSQL")

    /// The steps that have a text for a driver. Each driver's first is named as step 1 is: its first schema.
    private static func steps(in driver: String) -> [SchemaStep] {
        var steps: [SchemaStep] = []
        for (place, step) in written.enumerated() {
            guard let text = step.texts[driver] else { continue }
            steps.append(SchemaStep(number: place + 1, name: steps.isEmpty ? written[0].name : step.name, text: text))
        }
        return steps
    }

    /// The files, in the order of their numbers.
    private static let written: [(name: String, texts: [String: String])] = {
        let bytes = unsafe UnsafeRawBufferPointer(start: relay_schema_steps(), count: relay_schema_steps_size())
        return unsafe Array(bytes).split(separator: 0).map { read(String(decoding: $0, as: UTF8.self)) }
    }()

    /// Reads a file: `-- step: NAME`, then for each driver `-- in DRIVER:` and its text.
    private static func read(_ file: String) -> (name: String, texts: [String: String]) {
        var (name, driver, texts) = ("", "", [String: String]())
        for line in file.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("-- step: ") {
                name = String(line.dropFirst(9))
            } else if line.hasPrefix("-- in "), line.hasSuffix(":") {
                driver = String(line.dropFirst(6).dropLast())
            } else {
                texts[driver, default: ""] += line + "\n"
            }
        }
        precondition(!name.isEmpty && texts[""] == nil, "each step of the schema has a name, and each text its driver")
        return (name, texts)
    }
}
