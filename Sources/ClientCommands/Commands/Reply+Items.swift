// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Terminal

extension RelayClient.Reply {
    /// The entries of a list's page.
    package var items: [JSONTree] { tree["items"]?.array ?? tree.array ?? [] }

    /// The entries of a page, a row each.
    func table(_ columns: [TextTable.Column], none: String, row: (JSONTree) -> [String]) -> String {
        var table = TextTable(columns)
        for item in items { table.add(row(item)) }
        return table.rows.isEmpty ? "\(none)\n" : table.text
    }

    /// The cursor of the next page; nil on the last one.
    package var next: String? { tree["next"]?.string }
}

extension JSONTree {
    /// The member as text for people: "" where it is missing or null.
    package func shown(_ name: String) -> String {
        switch self[name] {
        case .string(let text): DisplayWidth.sanitised(text)
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool(let value): "\(value)"
        default: ""
        }
    }

    /// The member as a count; 0 where it is missing.
    package func count(_ name: String) -> Int64 { self[name]?.integer ?? 0 }
}
