// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// There is no credential just now, and sending waits: `Dispatcher` is poked when one is there.
package struct CredentialPending: Error, Sendable, CustomStringConvertible {
    /// When it is asked for again; nil: it is being asked for.
    package var until: Timestamp?
    /// What keeps it away; nil while nothing is wrong.
    package var fault: String?

    package init(until: Timestamp? = nil, fault: String? = nil) {
        self.until = until
        self.fault = fault
    }

    package var description: String { fault ?? "the credential is on its way" }
}

extension UnusableCredential {
    /// The word for a service account that Google gives no access token.
    package static let refusedWord = "AccessTokenRefused"

    /// - Parameter text: what is wrong and what to do.
    static func refused(_ text: String) -> UnusableCredential {
        UnusableCredential(reason: "\(refusedWord): \(text)", fault: .credential)
    }
}

/// What came of a credential that the push service does not take any more.
package enum CredentialRenewal: Sendable, Equatable {
    /// Another one is made, or asked for.
    case renewed
    /// It was renewed already, or may not be renewed at present: what was refused is sent again.
    case kept
    /// A new one changes nothing.
    case futile(SendingFault, reason: String)
}
