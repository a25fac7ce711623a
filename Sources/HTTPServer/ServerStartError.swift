// SPDX-License-Identifier: Apache-2.0

/// Why the server cannot listen.
package struct ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case badAddress
        case addressInUse
        /// Something that is no socket lies at the control socket's path.
        case notASocket
        /// Another daemon answers on the control socket.
        case alreadyRunning
        /// TLS cannot be spoken with the certificate or its key.
        case badCertificate
        case failed
    }

    package var code: Code
    /// Which address or path, and what the system said.
    package var context: String
    package var hint: String?

    package var description: String { hint.map { "\(context). \($0)" } ?? context }

    init(_ code: Code, _ context: String, hint: String? = nil) {
        self.code = code
        self.context = context
        self.hint = hint
    }
}
