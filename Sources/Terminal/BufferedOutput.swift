// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Collects lines for standard output and writes them in large pieces.
package final class BufferedOutput: Sendable {
    private static let piece = 65_536

    private let console: Console
    private let text = Mutex("")

    package init(_ console: Console) {
        self.console = console
    }

    package func add(_ line: String) {
        text.withLock { text in
            text += line
            text += "\n"
            guard text.utf8.count >= Self.piece else { return }
            console.write(text)
            text = ""
        }
    }

    package func flush() {
        text.withLock { text in
            if !text.isEmpty { console.write(text) }
            text = ""
        }
    }
}
