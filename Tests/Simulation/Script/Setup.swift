// SPDX-License-Identifier: Apache-2.0

/// The initial state of a world: numbers by name, so that a script holds them, and shrinking can make each of them smaller without
/// knowing its meaning.
package struct Setup: Hashable, Sendable {
    /// The names and their ranges; the first value is the plainest.
    package static let names: [(name: String, values: [Int])] =
        [
            ("devices", [3, 8, 40, 120]), ("batch", [50, 1, 3]), ("look", [600, 60]), ("every", [30, 120]),
            ("slow", [0, 20, 2, 20]),
            ("apps", [1, 2]), ("chance", [0, 1, 2, 3]),
        ]
        + (0..<2).flatMap { app in
            [
                ("platform", [0, 1]), ("waves", [0, 1, 2]), ("pause", [10, 0, 60]), ("approval", [0, 1]),
                ("failed", [0, 5, 50]), ("gate", [0, 1, 2]), ("hold", [0, 24]), ("life", [168, 6, 0]),
                ("remind", [0, 1]), ("pace", [0, 5, 100]), ("other", [0, 1]), ("policy", [0, 1]), ("quota", [0, 60]),
                ("sandbox", [0, 1]), ("streams", [1000, 1, 4]), ("file", [0, 0, 0, 1]), ("fraction", [100, 10]),
                ("astray", [0, 0, 1, 2]), ("system", [0, 1]), ("dated", [1, 0, 0]),
                ("moment", [0, 0, 1]), ("country", [0, 0, 1]),
                ("hours", [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 14, 19]), ("codes", [0, 1]), ("ends", [0, 0, 1]),
                ("first", [0, 1]), ("eyes", [0, 0, 0, 0, 1, 2]),
            ].map { name, values in ("\(name)\(app)", values) }
        }

    private var numbers: [String: Int] = [:]

    package init() {}

    package subscript(name: String) -> Int {
        get { numbers[name] ?? Self.plainest[name] ?? 0 }
        set { numbers[name] = newValue == Self.plainest[name] ? nil : newValue }
    }

    private static let plainest = Dictionary(uniqueKeysWithValues: names.map { ($0.name, $0.values[0]) })

    package subscript(name: String, app: Int) -> Int { self["\(name)\(app)"] }

    /// Only the values that are not the plainest.
    package var text: String {
        Self.names.filter { self[$0.name] != $0.values[0] }.map { "\($0.name)=\(self[$0.name])" }.joined(separator: " ")
    }

    package init(text: String) throws(ScriptError) {
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), Self.names.contains(where: { $0.name == parts[0] })
            else { throw ScriptError("\"\(word)\" is no setting of a world") }
            self[parts[0]] = number
        }
    }
}
