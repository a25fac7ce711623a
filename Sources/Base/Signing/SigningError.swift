// SPDX-License-Identifier: Apache-2.0

/// The reason why a key, a certificate or a signature could not be made or read. Never holds any part of a key.
package struct SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// Not readable in the expected form: no PEM, no JSON, or damaged.
        case unreadable
        /// Readable, but a key or a file of another kind than is needed.
        case wrongKind
        /// Protected by a password.
        case protected
        /// A necessary part is missing, or a part is not allowed.
        case invalid
        /// Its parts do not belong to each other.
        case mismatched
        /// Not yet valid, or expired.
        case outOfDate
        /// OpenSSL failed.
        case failed
    }

    package var code: Code
    /// The attempt and the finding, for example "not a P-256 key: it is RSA". Holds no secret.
    package var context: String
    /// Advice on the right form.
    package var hint: String?

    package init(_ code: Code, _ context: String, hint: String? = nil) {
        self.code = code
        self.context = context
        self.hint = hint
    }

    package var description: String {
        hint.map { "\(context); \($0)" } ?? context
    }
}

/// A fault in one of the files of a certificate.
package struct CertificateFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file that has the fault.
    package enum Part: String, Hashable, Sendable {
        case certificate
        case key
        case password
    }

    package var part: Part
    /// Holds no secret. For a push certificate it completes "file X …".
    package var description: String

    init(_ part: Part, _ description: String) {
        self.part = part
        self.description = description
    }
}
