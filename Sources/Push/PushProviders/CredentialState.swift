// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// No credential is available just now, and sending waits: `Dispatcher` is poked when there is one.
package struct CredentialPending: Error, Sendable, CustomStringConvertible {
    /// When it is asked for again; nil: it is being asked for.
    package var until: Timestamp?
    /// The fault because of which there is none; nil while nothing is wrong.
    package var fault: String?

    package var description: String { fault ?? "the credential is on its way" }
}

/// The credential cannot be used at this moment, whatever the service would answer: nothing is sent with it before an
/// operator has put that right. `PushProvider.explain` makes the text for the operator.
package struct UnusableCredential: Error, Hashable, CustomStringConvertible {
    /// A word like the service's own, perhaps with more behind a colon: "CertificateExpired".
    package var reason: String
    package var fault: SendingFault

    /// The token endpoint refuses to give out access tokens.
    ///
    /// - Parameter text: what is wrong and what to do.
    package static func accessTokenRefused(_ text: String) -> UnusableCredential {
        UnusableCredential(reason: "\(refusalWord): \(text)", fault: .credential)
    }

    /// The word that suspends a campaign.
    package static let refusalWord = "AccessTokenRefused"

    package var description: String { reason }
}

/// The outcome for a credential that the push service no longer takes.
package enum CredentialRenewal: Sendable, Equatable {
    /// Another one is made, or asked for.
    case renewed
    /// It was renewed already: refused pushes are sent again.
    case kept
    /// None may be made before then. The present one would be refused again.
    case paused(until: Timestamp)
    /// A new one would change nothing.
    case futile(SendingFault, reason: String)
}
