// SPDX-License-Identifier: Apache-2.0

/// The reason why a key, a certificate or a signature could not be made or read. Never holds any part of a key.
package struct SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// It cannot be read as what it should be: no PEM, no JSON, or damaged.
        case unreadable
        /// It can be read, and is a key or a file of another kind than is needed.
        case wrongKind
        /// It is protected by a password.
        case protected
        /// Something that it needs is not in it, or what is in it is not allowed.
        case invalid
        /// Its parts do not belong to each other.
        case mismatched
        /// It does not hold yet, or no longer.
        case outOfDate
        /// The library could not do it.
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
