// SPDX-License-Identifier: Apache-2.0

/// One operation. It keeps raw numbers and chooses its target when it runs, so that removing a step leaves the others unchanged.
package struct Operation: Hashable, Sendable {
    package var kind: OperationKind
    package var first: Int
    package var second: Int
    /// The yield point, within a turn of the relay, at which it happens; 0: between turns. See `World.yieldPoint`.
    package var middle = 0
    /// Whether the relay gets a turn before the next one.
    package var isFollowedByTurn = true

    package init(_ kind: OperationKind, _ first: Int = 0, _ second: Int = 0) {
        self.kind = kind
        self.first = first
        self.second = second
    }

    /// The operation as a script's line: "cancel 0 3 middle=4 noTurn".
    package var text: String {
        "\(kind.rawValue) \(first) \(second)" + (middle > 0 ? " middle=\(middle)" : "")
            + (isFollowedByTurn ? "" : " noTurn")
    }

    /// - Throws: `ScriptError` if the text cannot be read.
    package init(text: String) throws(ScriptError) {
        var words = text.split(separator: " ").map(String.init)[...]
        guard let name = words.popFirst(), let kind = OperationKind(rawValue: name) else {
            throw ScriptError("no operation is called \"\(text)\"")
        }
        self.init(kind)
        var numbers: [Int] = []
        for word in words {
            if let number = Int(word), numbers.count < 2 {
                numbers.append(number)
            } else if word.hasPrefix("middle="), let number = Int(word.dropFirst("middle=".count)) {
                middle = number
            } else if word == "noTurn" {
                isFollowedByTurn = false
            } else {
                throw ScriptError("\"\(word)\" in \"\(text)\" is no number, \"middle=N\" or \"noTurn\"")
            }
        }
        if let number = numbers.first { first = number }
        if numbers.count > 1 { second = numbers[1] }
    }
}

/// A script that cannot be read.
package struct ScriptError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
