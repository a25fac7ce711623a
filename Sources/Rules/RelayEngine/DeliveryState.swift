// SPDX-License-Identifier: Apache-2.0

/// The state of one push of one campaign to one device. The store's ledger keeps the raw values; the names are on the wire.
///
/// `pending` and `inFlight` are never written: a device of the audience without a ledger row is pending, and what is in
/// flight is known only to the process that sent it.
package enum DeliveryState: UInt8, Sendable, Hashable, CaseIterable {
    case pending = 0
    case inFlight = 1
    /// The push service took it.
    case accepted = 2
    /// Failed for now; it is tried again at `nextAttemptAt`.
    case retrying = 3
    /// The push service refused it for good.
    case rejected = 4
    /// The push service reports the token as no longer registered (such as 410 of APNs).
    case unregistered = 5
    /// Its time to live ran out before it was accepted.
    case expired = 6
    /// Not sent, by the campaign's own rule; the reason is a `FilterReason`.
    case filtered = 7
    /// Dropped because the campaign was cancelled or superseded.
    case cancelled = 8

    /// The name on the wire.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .inFlight: "inFlight"
        case .accepted: "accepted"
        case .retrying: "retrying"
        case .rejected: "rejected"
        case .unregistered: "unregistered"
        case .expired: "expired"
        case .filtered: "filtered"
        case .cancelled: "cancelled"
        }
    }

    /// Whether the outcome shows that the credential is good: the service has accepted the push, or refused it as only a real token can be refused.
    package var provesCredential: Bool { self == .accepted || self == .unregistered }

    package init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}

/// Why a device of the audience gets no push (DESIGN, rule 3). The raw values are on the wire and in the ledger.
package enum FilterReason: String, Sendable, Hashable, CaseIterable {
    /// No user is known for the device, so the app would drop the push.
    case noTelephone
    /// The device was last seen with a version that meets the requirement.
    case alreadyCurrent
    /// The bump names telephones and this is none of them.
    case notInAudience
    /// The push service has reported this token as no longer registered.
    case knownDead
    /// The required version does not run on the phone's system.
    case osTooOld
}
