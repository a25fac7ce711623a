// SPDX-License-Identifier: Apache-2.0

/// A whole history: the initial world, and the operations in it. It is kept as text, never as a seed: after each change of the
/// drawing, the same seed makes another history.
package struct Script: Hashable, Sendable {
    package var setup: Setup
    package var operations: [Operation]

    package init(setup: Setup = Setup(), operations: [Operation] = []) {
        self.setup = setup
        self.operations = operations
    }

    package var text: String {
        (["setup \(setup.text)"] + operations.map(\.text)).joined(separator: "\n") + "\n"
    }

    /// Reads a script; lines that begin with "#" are comments.
    package init(text: String) throws(ScriptError) {
        self.init()
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("setup") {
                setup = try Setup(text: String(line.dropFirst("setup".count)))
            } else {
                operations.append(try Operation(text: line))
            }
        }
    }
}
