// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Threading

/// The output of a command: results go to standard output, progress and errors to standard error. Any thread.
package final class Console: Sendable {
    /// Whether standard error is a terminal: progress bars are drawn there, so that results can be piped.
    package let isTerminal: Bool
    /// Whether standard output is a terminal.
    package let isOutputTerminal: Bool
    private let sink: @Sendable (_ text: String, _ isError: Bool) -> Void
    private let columns: @Sendable () -> Int
    /// Reads a line that a person types; nil: there is no terminal to read from.
    private let typed: (@Sendable () -> String?)?
    private let lock = Mutex(())

    package init(
        isTerminal: Bool, isOutputTerminal: Bool = true,
        columns: @escaping @Sendable () -> Int = { 80 }, typed: (@Sendable () -> String?)? = nil,
        sink: @escaping @Sendable (_ text: String, _ isError: Bool) -> Void
    ) {
        self.isTerminal = isTerminal
        self.isOutputTerminal = isOutputTerminal
        self.columns = columns
        self.typed = typed
        self.sink = sink
    }

    /// The process's own streams.
    package static let standard = Console(
        isTerminal: isatty(STDERR_FILENO) == 1 && ProcessEnvironment.value("TERM") != "dumb",
        isOutputTerminal: isatty(STDOUT_FILENO) == 1,
        columns: { TerminalSize.columns(of: STDERR_FILENO) },
        typed: typing,
        sink: { text, isError in
            let isWritten = WholeFile.append(Array(text.utf8), to: isError ? STDERR_FILENO : STDOUT_FILENO)
            if !isWritten, !isError { Console.giveUp() }
        })

    private static var typing: (@Sendable () -> String?)? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        return { readLine() }
    }

    /// Ends the process because standard output cannot be written. An error is written for a full disk, for example, but not
    /// where the reader has closed the pipe (EPIPE), as head and less do.
    private static func giveUp() -> Never {
        if errno != EPIPE {
            let words = "error: standard output cannot be written: \(SystemError.text(errno))\n"
            _ = WholeFile.append(Array(words.utf8), to: STDERR_FILENO)
        }
        exit(ExitCode.failed.rawValue)
    }

    /// Columns of the terminal at this moment; 80 where unknown.
    package var width: Int { columns() }

    /// Writes a result: to a file as it is, to a terminal without control characters, except for colours.
    package func write(_ text: String) {
        var text = ShownZone.text(text)
        if isOutputTerminal {
            text = Screen.current.hasColour ? Tint.sanitised(text) : DisplayWidth.sanitised(text, keepsLines: true)
        }
        lock.withLock { _ in sink(text, false) }
    }

    package func writeLine(_ text: String) { write(text + "\n") }

    /// Whether a person at a terminal can be asked.
    package var canAsk: Bool { typed != nil }

    /// Asks a question; true for a clear yes, false where no person can be asked.
    package func ask(_ question: String) -> Bool {
        guard let typed else { return false }
        writeError(DisplayWidth.sanitised(question) + " [y/N] ")
        let answer = typed()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer.filter { !$0.isWhitespace })
    }

    /// Asks for a line of text.
    ///
    /// - Parameter usual: the answer for an empty line.
    /// - Returns: the line without surplus blanks; nil where no person can be asked, or the input has ended.
    package func answer(to question: String, usual: String? = nil) -> String? {
        guard let typed else { return nil }
        let shown = usual.map { " [\($0)]" } ?? ""
        writeError(DisplayWidth.sanitised(question + shown) + ": ")
        guard let line = typed() else { return nil }
        let words = line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        return words.isEmpty ? usual ?? "" : words
    }

    package func writeError(_ text: String) {
        let text = ShownZone.text(text)
        lock.withLock { _ in sink(text, true) }
    }
}

/// The width of the terminal.
package enum TerminalSize {
    /// Asks the terminal, then `COLUMNS`; 80 where neither answers.
    package static func columns(of descriptor: CInt) -> Int {
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        if let text = ProcessEnvironment.value("COLUMNS"), let columns = Int(text), columns > 0 {
            return columns
        }
        return 80
    }
}
