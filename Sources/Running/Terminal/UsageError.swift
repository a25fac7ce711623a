// SPDX-License-Identifier: Apache-2.0

/// The command line itself is wrong: exit code 2.
package struct UsageError: Failure, Equatable, CustomStringConvertible {
    /// The fault, with the text that was given.
    package var message: String
    /// The nearest valid text.
    package var suggestion: String?

    package init(_ message: String, suggestion: String? = nil) {
        self.message = message
        self.suggestion = suggestion
    }

    package var code: ExitCode { .usage }
    package var report: String { "error: \(self)" }
    package var detail: String { message }
    package var hint: String? { suggestion.map { "did you mean \"\($0)\"?" } }

    package var description: String {
        suggestion.map { "\(message); did you mean \"\($0)\"?" } ?? message
    }
}
