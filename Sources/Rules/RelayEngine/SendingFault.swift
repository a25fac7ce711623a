// SPDX-License-Identifier: Apache-2.0

/// The fault that must be repaired before pushes of this app to this service can succeed.
package enum SendingFault: Sendable, Hashable {
    /// Key, key id and team do not belong together, the key was revoked, or the clock is ahead.
    case credential
    /// A fresh provider token is called expired: this machine's clock is behind, or the service's ahead.
    case clock
    /// The service saw no provider token.
    case noCredential
    /// The service refuses the client certificate, or reports a bad one where we have none.
    case certificate
    /// The certificate has expired, is not valid yet, or is for the service's other environment. The relay notices this itself.
    case certificateExpired, certificateNotYetValid, certificateWorld
    /// The key is good but may not do this.
    case forbidden
    /// The key belongs to the service's other environment.
    case keyEnvironment
    /// The key that the service itself uses at the phones' own push service is refused there.
    case keyOfService
    /// The key is refused as unrelated, on new connections too.
    case unrelatedKey
    case topic
    /// The service finds the push itself malformed.
    case request
    /// An answer that the push service would not give.
    case answer
    /// The service refuses the credential for a reason that is not in its table.
    case unknown
    /// Nearly every push is refused from the start, for one reason.
    case mostlyRefused
    /// Far more tokens than in earlier campaigns are called unregistered.
    case mostlyUnregistered

    /// Whether the same push may well succeed on another connection, so that it is worth a second attempt.
    package var mayBeOfConnection: Bool {
        switch self {
        case .credential, .clock, .noCredential, .certificate, .keyEnvironment, .unrelatedKey, .answer, .unknown: true
        // Apple: neither Forbidden nor a malformed request should be sent again.
        case .forbidden, .topic, .request, .keyOfService, .mostlyRefused, .mostlyUnregistered: false
        // Nothing was sent.
        case .certificateExpired, .certificateNotYetValid, .certificateWorld: false
        }
    }
}
