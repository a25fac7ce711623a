// SPDX-License-Identifier: Apache-2.0

/// A part of a list: what the caller may see of it, and where it goes on.
package struct Page<Item> {
    package private(set) var items: [Item] = []
    /// nil at the list's end.
    package private(set) var next: String?

    /// Of a list of which next to nothing is visible, so many times a page's items are looked at: the rest has a cursor.
    private static var mostReads: Int { 20 }

    /// - Parameters:
    ///   - start: behind what; nil: from the list's beginning.
    ///   - position: where an item stands in the list.
    ///   - cursor: how a position is told to clients.
    ///   - read: up to so many items from behind a position.
    package init<Position>(
        limit: Int, after start: Position?, position: (Item) -> Position, cursor: (Position) -> String,
        isVisible: (Item) throws -> Bool, read: (Position?, Int) throws -> [Item]
    ) throws {
        var last = start
        for _ in 0..<Self.mostReads {
            // One more than is shown tells whether there is a next page.
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
