// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The events that receivers are notified of. The raw values are in the configuration and in what is sent.
package enum EventType: String, Hashable, Sendable, CaseIterable {
    case waiting = "campaign.waiting"
    case running = "campaign.running"
    case paused = "campaign.paused"
    case suspended = "campaign.suspended"
    case completed = "campaign.completed"
    case cancelled = "campaign.cancelled"
    case superseded = "campaign.superseded"
    /// Its canary has its pushes: a person now releases the campaign to everybody, or withdraws the version.
    case canaryDone = "campaign.canaryDone"
    case waveDone = "campaign.waveDone"
    /// Its store has not offered the version for a day.
    case waitsLong = "campaign.waitsLong"
    /// Everybody below the version must upgrade.
    case inForce = "requirement.inForce"
    case withdrawn = "requirement.withdrawn"
    // A request for a second person: it waits; it was approved, or refused; one person acted alone.
    case asked = "approval.asked"
    case approved = "approval.approved"
    case refused = "approval.refused"
    case alone = "approval.alone"
    /// Tokens that push services called dead, a few hundred in one event at most. Only for receivers that name this
    /// event.
    case dead = "devices.dead"
    /// A version and all older ones have fallen below the share of devices that `retireBelow` names.
    case retirable = "version.retirable"
    case certificateEnds = "certificate.endsSoon"
    /// A part of the relay cannot do its work, for a minute or longer.
    case degraded = "relay.degraded"
    case recovered = "relay.recovered"
    /// The store went back in time: nothing is sent or decided until it is the right one again or a person accepts it.
    case wentBack = "store.wentBack"

    /// The events for a receiver that names none: all but `dead`, which is meant only for a service of the operator's
    /// own.
    package static let usual = Set(allCases).subtracting([.dead])

    package init(_ state: CampaignState) {
        self =
            switch state {
            case .waiting: .waiting
            case .running: .running
            case .paused: .paused
            case .suspended: .suspended
            case .completed: .completed
            case .cancelled: .cancelled
            case .superseded: .superseded
            }
    }

    /// nil: a request that comes into this state is no event.
    package init?(_ state: Approval.State) {
        switch state {
        case .open: self = .asked
        case .approved: self = .approved
        case .refused: self = .refused
        case .alone: self = .alone
        case .superseded, .expired: return nil
        }
    }

    /// The state of the request that the event is about; nil: it is about none.
    package var approval: Approval.State? { Approval.State.allCases.first { EventType($0) == self } }

    /// The state that a campaign came into; nil: it is another event.
    package var state: CampaignState? { CampaignState.allCases.first { EventType($0) == self } }

    /// The name after the dot, which is unique. The store keeps this.
    package var name: String { String(rawValue.drop { $0 != "." }.dropFirst()) }

    package init?(name: String) {
        guard let type = EventType.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}
