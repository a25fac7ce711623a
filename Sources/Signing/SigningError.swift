// SPDX-License-Identifier: Apache-2.0

/// Why a key, a certificate or a signature could not be made or read. Never holds any part of a key.
package struct SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was attempted and what was found, for example "not a P-256 key: it is RSA"; then what would be right, if there is advice.
    package var description: String

    package init(_ context: String, hint: String = "") {
        description = hint.isEmpty ? context : "\(context); \(hint)"
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
