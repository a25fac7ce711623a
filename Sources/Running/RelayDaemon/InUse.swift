// SPDX-License-Identifier: Apache-2.0

/// Objects in use, by name: they live as long as a route holds them.
struct InUse<Name: Hashable & Sendable, Source: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        weak var source: Source?
    }

    private var entries: [Name: Entry] = [:]

    var all: [Source] { entries.values.compactMap(\.source) }

    /// - Parameter make: called where no object of the name is in use.
    mutating func source(_ name: Name, make: () throws -> Source) rethrows -> Source {
        if let source = entries[name]?.source { return source }
        let source = try make()
        entries = entries.filter { $1.source != nil }
        entries[name] = Entry(source: source)
        return source
    }
}
