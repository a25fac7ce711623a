// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import WireFormat

/// Reads a query's parameters one by one and refuses those that were never read.
package struct Query {
    private var items: [RequestTarget.QueryItem]
    private var known: [String] = []
    private var faults: [FieldFault] = []

    package init(_ items: [RequestTarget.QueryItem]) {
        self.items = items
        known.reserveCapacity(8)
    }

    /// The query without empty parameters: a form sends its empty fields, too.
    package var filled: Query { Query(items.filter { !$0.value.isEmpty }) }

    /// Returns the value of a parameter; nil where it is missing.
    package mutating func text(_ name: String) -> String? {
        known.append(name)
        guard let place = items.firstIndex(where: { $0.name == name }) else { return nil }
        let value = items.remove(at: place).value
        let count = items.count
        items.removeAll { $0.name == name }
        if items.count < count { refuse(name, "is given \(count - items.count + 1) times") }
        return value
    }

    package mutating func flag(_ name: String) -> Bool? { choice(name, of: [true, false], \.description) }

    /// Returns one of several values by its word; nil where the parameter is missing or refused.
    package mutating func choice<Value>(_ name: String, of values: [Value], _ word: (Value) -> String) -> Value? {
        guard let text = text(name) else { return nil }
        if let value = values.first(where: { word($0) == text }) { return value }
        let words = values.map(word).joined(separator: ", ")
        refuse(name, "one of \(words) is needed; got \(JSONValue.string(text).sight)")
        return nil
    }

    package mutating func limit(default fallback: Int, most: Int = 1000) -> Int {
        guard let text = text("limit") else { return fallback }
        guard let limit = Int(text), (1...most).contains(limit) else {
            refuse("limit", "a whole number from 1 to \(most) is needed; got \"\(JSONValue.shortened(text))\"")
            return fallback
        }
        return limit
    }

    package mutating func cursor(_ kind: Cursor.Kind) -> Int64? {
        cursor { Cursor.position($0, kind) }
    }

    package mutating func cursor<Position>(_ read: (String) -> Position?) -> Position? {
        guard let text = text("cursor") else { return nil }
        guard let position = read(text) else {
            refuse("cursor", "is not one that this list has given; take \"next\" from the answer before")
            return nil
        }
        return position
    }

    package mutating func refuse(_ name: String, _ reason: String) {
        faults.append(FieldFault(name, reason))
    }

    package mutating func finish() throws {
        for item in items {
            let choice = known.isEmpty ? "there are none" : "they are \(known.joined(separator: ", "))"
            refuse(JSONValue.shortened(item.name), "is not a parameter of this request; \(choice)")
        }
        if !faults.isEmpty { throw ProblemDetails(faults: faults) }
    }
}
