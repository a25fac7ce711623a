// SPDX-License-Identifier: Apache-2.0

extension RelayClient.Reply {
    /// The entries of a list's page.
    var items: [JSONValue] { tree["items"]?.array ?? tree.array ?? [] }

    /// The cursor of the next page; nil on the last one.
    var next: String? { tree["next"]?.string }
}

extension JSONValue {
    /// The member as text for people: "" where it is missing or null.
    func shown(_ name: String) -> String {
        switch self[name] {
        case .string(let text): DisplayWidth.sanitised(text)
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool(let value): "\(value)"
        default: ""
        }
    }

    /// The member as a count; 0 where it is missing.
    func count(_ name: String) -> Int64 { self[name]?.integer ?? 0 }
}
