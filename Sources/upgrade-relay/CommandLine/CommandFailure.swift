// SPDX-License-Identifier: Apache-2.0

/// Why a command ends without success, in words for the person who typed it.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
    var code: ExitCode
    /// One line, or several where each names one fault.
    var message: String
    /// What to do about it.
    var hint: String?

    init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    var description: String {
        hint.map { "\(message)\nhint: \($0)" } ?? message
    }
}
