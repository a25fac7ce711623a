// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// There is no credential just now, and sending waits: `Dispatcher` is poked when one is there.
package struct CredentialPending: Error, Sendable, CustomStringConvertible {
    /// When it is asked for again; nil: it is being asked for.
    package var until: Timestamp?
    /// What keeps it away; nil while nothing is wrong.
    package var fault: String?

    package var description: String { fault ?? "the credential is on its way" }
}

/// The credential cannot be used at this moment, whatever the service would say: nothing is sent with it before an operator has
/// put that right. `PushProvider.explain` has the words.
package struct UnusableCredential: Error, Hashable, CustomStringConvertible {
    /// A word like the service's own, perhaps with more behind a colon: "CertificateExpired".
    package var reason: String
    package var fault: SendingFault

    /// Whoever gives out access tokens refuses.
    ///
    /// - Parameter text: what is wrong and what to do.
    package static func accessTokenRefused(_ text: String) -> UnusableCredential {
        UnusableCredential(reason: "\(refusalWord): \(text)", fault: .credential)
    }

    /// The word that suspends a campaign.
    package static let refusalWord = "AccessTokenRefused"

    package var description: String { reason }
}

/// What came of a credential that the push service does not take any more.
package enum CredentialRenewal: Sendable, Equatable {
    /// Another one is made, or asked for.
    case renewed
    /// It was renewed already: what was refused is sent again.
    case kept
    /// None may be made before then. What there is would be refused again.
    case paused(until: Timestamp)
    /// A new one changes nothing.
    case futile(SendingFault, reason: String)
}
