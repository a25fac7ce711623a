// SPDX-License-Identifier: Apache-2.0

/// Why a key, a certificate or a signature could not be made or read. Never holds any part of a key.
package struct SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// The bytes hold no PEM block of the kind that was looked for.
        case notPEM
        /// The private key is protected by a password.
        case encrypted
        /// The key is of another algorithm, or on another curve.
        case wrongKey
        /// A name cannot stand in a certificate.
        case badName
        /// OpenSSL refused for a reason of its own.
        case library
    }

    package var code: Code
    /// What was attempted and what was found, for example "not a P-256 key: it is RSA".
    package var context: String
    /// What would be right; empty if there is no advice.
    package var hint: String

    package init(_ code: Code, _ context: String, hint: String = "") {
        self.code = code
        self.context = context
        self.hint = hint
    }

    package var description: String { hint.isEmpty ? context : "\(context); \(hint)" }
}
