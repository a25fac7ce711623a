// SPDX-License-Identifier: Apache-2.0

/// A part of a list: the items that the caller may see, and the place where the list continues.
package struct Page<Item> {
    package private(set) var items: [Item] = []
    /// nil at the list's end.
    package private(set) var next: String?

    /// The most reads for one page, for a list of which the caller may see hardly anything: its cursor leads to the rest.
    private static var mostReads: Int { 20 }

    /// - Parameters:
    ///   - start: the position to begin behind; nil: from the list's beginning.
    ///   - position: the position of an item in the list.
    ///   - cursor: writes a position for clients.
    ///   - read: reads up to the given number of items after a position.
    package init<Position>(
        limit: Int, after start: Position?, position: (Item) -> Position, cursor: (Position) -> String,
        isVisible: (Item) throws -> Bool, read: (Position?, Int) throws -> [Item]
    ) throws {
        var last = start
        for _ in 0..<Self.mostReads {
            // One item beyond the limit shows whether there is a next page.
            let found = try read(last, limit + 1)
            for item in found {
                guard items.count < limit else {
                    next = last.map(cursor)
                    return
                }
                last = position(item)
                if try isVisible(item) { items.append(item) }
            }
            if found.count <= limit { return }
        }
        next = last.map(cursor)
    }
}
