// SPDX-License-Identifier: Apache-2.0

/// Why the fan-out could not be started.
package struct FanOutError: Error, Sendable, CustomStringConvertible {
    package var context: String
    package var hint: String?

    package init(context: String, hint: String? = nil) {
        self.context = context
        self.hint = hint
    }

    package var description: String {
        hint.map { "\(context). \($0)" } ?? context
    }
}
