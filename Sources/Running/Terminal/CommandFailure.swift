// SPDX-License-Identifier: Apache-2.0

/// An error that ends the process with a code of its own.
package protocol Failure: Error {
    var code: ExitCode { get }
    /// The text for standard error, without a line end.
    var report: String { get }
    /// The text without the hint, for `--json`.
    var detail: String { get }
    var hint: String? { get }
    /// The problem object (RFC 9457) in the daemon's answer, as JSON; nil where there is none.
    var problem: String? { get }
}

extension Failure {
    package var detail: String { report }
    package var hint: String? { nil }
    package var problem: String? { nil }
}

/// The reason why a command failed, in words for the person who typed it.
package struct CommandFailure: Failure, CustomStringConvertible {
    package var code: ExitCode
    /// One line, or one for each fault.
    package var message: String
    /// Advice on a remedy.
    package var hint: String?
    package var problem: String?

    package init(_ code: ExitCode, _ message: String, hint: String? = nil, problem: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.problem = problem
    }

    package var detail: String { message }

    package var report: String { "error: \(self)" }

    package var description: String {
        hint.map { "\(message)\nhint: \($0)" } ?? message
    }
}
