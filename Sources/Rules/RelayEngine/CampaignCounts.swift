// SPDX-License-Identifier: Apache-2.0

/// How many devices of a campaign are in which state. The sum of all states is always the audience.
package struct CampaignCounts: Sendable, Hashable {
    /// Not yet looked at. Includes what is in flight: the store cannot distinguish the two.
    package var pending: Int64 = 0
    /// Known only to the running process; the status report moves it here out of `pending`.
    package var inFlight: Int64 = 0
    package var accepted: Int64 = 0
    package var retrying: Int64 = 0
    package var rejected: Int64 = 0
    package var unregistered: Int64 = 0
    package var expired: Int64 = 0
    package var filtered: Int64 = 0
    package var cancelled: Int64 = 0

    package init() {}

    package var audience: Int64 {
        pending + inFlight + accepted + retrying + rejected + unregistered + expired + filtered + cancelled
    }

    /// Devices whose outcome the campaign has brought about. Devices that were dropped because it ended early are not
    /// counted, so that a campaign that was cancelled half way stays at half.
    package var settled: Int64 { audience - pending - inFlight - retrying - cancelled }

    /// Whether an outcome shows that the credential is good.
    package var proveCredential: Bool { DeliveryState.allCases.contains { $0.provesCredential && self[$0] > 0 } }

    package subscript(state: DeliveryState) -> Int64 {
        get {
            switch state {
            case .pending: pending
            case .inFlight: inFlight
            case .accepted: accepted
            case .retrying: retrying
            case .rejected: rejected
            case .unregistered: unregistered
            case .expired: expired
            case .filtered: filtered
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .pending: pending = newValue
            case .inFlight: inFlight = newValue
            case .accepted: accepted = newValue
            case .retrying: retrying = newValue
            case .rejected: rejected = newValue
            case .unregistered: unregistered = newValue
            case .expired: expired = newValue
            case .filtered: filtered = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }
}
