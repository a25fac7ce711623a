// SPDX-License-Identifier: Apache-2.0

/// Why the server cannot listen.
package struct ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// Another program has the port, or answers on the socket.
        case inUse
        /// The address or the path cannot be listened on.
        case badAddress
        /// The relay's user lacks the permission.
        case notPermitted
        /// TLS cannot use the certificate or its key.
        case badIdentity
        /// Any other error of the system.
        case failed
    }

    package var code: Code
    /// The address or path, and the system's error.
    package var context: String
    /// Advice for the operator.
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
