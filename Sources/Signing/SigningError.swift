// SPDX-License-Identifier: Apache-2.0

/// Why a key, a certificate or a signature could not be made or read. Never holds any part of a key.
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
    /// What was attempted and what was found, for example "not a P-256 key: it is RSA". Holds no secret.
    package var context: String
    /// What would be right.
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

/// What is wrong with one of the files of a certificate.
package struct CertificateFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which of the files.
    package enum Part: String, Hashable, Sendable {
        case certificate
        case key
        case password
    }

    package var part: Part
    /// Holds no secret. Of a push certificate it completes "file X …".
    package var description: String

    init(_ part: Part, _ description: String) {
        self.part = part
        self.description = description
    }
}
