// SPDX-License-Identifier: Apache-2.0

/// Why the server cannot listen.
package struct ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which address or path, and what the system said; then what would help.
    package var description: String

    init(_ context: String, hint: String? = nil) {
        description = hint.map { "\(context). \($0)" } ?? context
    }
}
