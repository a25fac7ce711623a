// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import Terminal

/// Keeps what a command writes.
package final class Transcript: Sendable {
    private let texts = Mutex<(out: String, err: String)>(("", ""))
    private let isTerminal: Bool
    private let isOutputTerminal: Bool
    private let columns: Int
    private let typed: (@Sendable () -> String?)?

    /// - Parameters:
    ///   - columns: the terminal's width.
    ///   - typed: a person's answer to each question; nil: no person is there.
    package init(
        isTerminal: Bool = false, isOutputTerminal: Bool = true, columns: Int = 80,
        typed: (@Sendable () -> String?)? = nil
    ) {
        self.columns = columns
        self.typed = typed
        self.isTerminal = isTerminal
        self.isOutputTerminal = isOutputTerminal
    }

    package var out: String { texts.withLock { $0.out } }
    package var err: String { texts.withLock { $0.err } }

    package var console: Console {
        Console(
            isTerminal: isTerminal, isOutputTerminal: isOutputTerminal, columns: { [columns] in columns }, typed: typed
        ) { [self] text, isError in
            texts.withLock { texts in
                if isError { texts.err += text } else { texts.out += text }
            }
        }
    }

    /// Runs a command line as the tool does.
    package func run(
        _ words: [String], of tree: CommandTree, environment: [String: String] = [:]
    ) async -> ExitCode {
        let context = CommandContext(console: console, environment: environment, tree: tree)
        return await CommandLineTool(context: context).run(words)
    }
}
