// SPDX-License-Identifier: Apache-2.0

/// Why the server cannot listen.
package struct ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// Another program has the port, or answers on the socket.
        case inUse
        /// The address or the path is none that can be listened on.
        case badAddress
        /// The relay's user may not.
        case notPermitted
        /// What TLS needs cannot be used.
        case badIdentity
        /// Anything else that the system said.
        case failed
    }

    package var code: Code
    /// Which address or path, and what the system said.
    package var context: String
    /// What would help.
    package var hint: String?

    init(_ code: Code, _ context: String, hint: String? = nil) {
        self.code = code
        self.context = context
        self.hint = hint
    }

    package var description: String {
        hint.map { "\(context). \($0)" } ?? context
    }
}
