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

/// Whoever gives out credentials refuses: nothing is sent before an operator has put that right.
package struct CredentialRefused: Error, Sendable, CustomStringConvertible {
    /// The word that suspends a campaign.
    package static let word = "AccessTokenRefused"

    /// What is wrong and what to do.
    package var text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { "\(Self.word): \(text)" }
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
