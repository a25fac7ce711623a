// SPDX-License-Identifier: Apache-2.0

/// A piece of a source and what stands there instead.
package struct Edit: Hashable, Sendable {
    /// Bytes of the source as it is.
    package let range: Range<Int>
    package let text: String

    package init(_ range: Range<Int>, _ text: String) { (self.range, self.text) = (range, text) }
}

/// A small fault that a person or a rule has made on purpose: it tries the tests, not the relay.
package struct Mutant: Sendable {
    package let number: Int
    package let name: String
    /// By file, from the top of the checkout.
    package var edits: [String: [Edit]]
    /// The lines above a patch, or the rule that made it.
    package var notes: [String] = []

    package init(_ number: Int, _ name: String, _ edits: [String: [Edit]], notes: [String] = []) {
        (self.number, self.name, self.edits, self.notes) = (number, name, edits, notes)
    }

    /// It shows among several relays only, and is searched by their seeds.
    package var isOfFleet: Bool { notes.contains { $0.contains("--fleet") } }

    /// The text of a line above it that begins with a subject, such as `Seen`.
    func note(_ subject: String) -> String? {
        notes.first { $0.hasPrefix(subject + ": ") }.map { String($0.dropFirst(subject.count + 2)) }
    }

    /// The first file that it changes, without `Sources`.
    package var place: String {
        let file = edits.keys.sorted().first ?? ""
        return file.hasPrefix("Sources/") ? String(file.dropFirst("Sources/".count)) : file
    }
}

/// The reason why mutants cannot be measured.
package struct MutationError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
