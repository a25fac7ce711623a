// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// One reopening of a campaign for some of its devices, with the same ledger and the same push ids.
package struct CampaignRound: Hashable, Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An operator sends again the pushes that did not arrive.
        case retry
        /// Devices that are still behind are pushed to once more (`push.remind`).
        case reminder
    }

    /// From 1.
    package var number: Int
    package var kind: Kind
    /// Which devices are sent again, by the outcome that they had; for a reminder `accepted`.
    package var states: [DeliveryState]
    /// When a reminder was due; nil for a retry.
    package var dueAt: Timestamp?
    package var begunAt: Timestamp
    /// Devices put in line so far. A reminder that was not sent after all does not count.
    package var devices: Int64
    /// When all were in line, or the campaign ended before that.
    package var gatheredAt: Timestamp?

    package init(
        number: Int, kind: Kind, states: [DeliveryState], dueAt: Timestamp?, begunAt: Timestamp, devices: Int64,
        gatheredAt: Timestamp?
    ) {
        self.number = number
        self.kind = kind
        self.states = states
        self.dueAt = dueAt
        self.begunAt = begunAt
        self.devices = devices
        self.gatheredAt = gatheredAt
    }

    /// The outcomes after which an operator may order another push: failed for good, left out, or out of time. A token
    /// that the push service called unregistered has no device any more, and a filtered device should get nothing.
    package static let retried: [DeliveryState] = [.rejected, .cancelled, .expired]

    /// Always in the same order.
    package static func names(of states: some Collection<DeliveryState>) -> [String] {
        DeliveryState.allCases.filter { states.contains($0) }.map(\.name)
    }
}

/// A request to open a campaign again.
package struct RoundDraft: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// The states are some of `CampaignRound.retried`.
        case retry(Set<DeliveryState>)
        case reminder(dueAt: Timestamp)
    }

    package var cause: Cause
    /// From now until nothing is sent any more.
    package var timeToLive: Duration
    /// The campaign is sent at any hour from then on. Default no.
    package var isUrgent = false

    package init(_ cause: Cause, timeToLive: Duration) {
        self.cause = cause
        self.timeToLive = timeToLive
    }
}

package enum Reopening: Hashable, Sendable {
    case opened
    /// A newer requirement took its place; the newer one's campaign sends to the devices.
    case superseded
    /// The version that it announces was taken back. If it is announced again, it gets another campaign.
    case withdrawn
    /// No reminder is sent, since the campaign's version is not in force for everybody. This version is; nil: none.
    case notRequired(now: Version?)
    /// The campaign is not over, so it cannot be opened again.
    case notOver(CampaignState)
    /// Its deliveries were pruned, so the devices that were left out are unknown.
    case pruned
    /// No device is in one of the states.
    case nothingLeft
}

extension RoundDraft {
    /// Why a campaign may not be opened again; nil where it may.
    package func refusal(by record: CampaignRecord, _ requirements: Requirements) -> Reopening? {
        guard let row = requirements[record.requirement.id], row.isLive else {
            return .withdrawn
        }
        if record.facts.isPruned { return .pruned }
        if requirements.isSuperseded(row) { return .superseded }
        switch cause {
        case .retry(let states):
            guard record.state.isFinal else { return .notOver(record.state) }
            if states.allSatisfy({ record.figures.counts[$0] == 0 }) { return .nothingLeft }
        case .reminder(let dueAt):
            // Another relay has begun this reminder already.
            if record.figures.rounds.contains(where: { $0.kind == .reminder && $0.dueAt == dueAt }) {
                return .nothingLeft
            }
            // A reminder may also begin while only retries are left, since these may wait for days, but not between two
            // waves.
            let isLeftToRetries =
                record.state == .running && record.figures.isPlanned && record.figures.counts.pending == 0
                && !record.hasMoreWaves
                && record.figures.rounds.allSatisfy { $0.gatheredAt != nil }
            guard record.state == .completed || isLeftToRetries else { return .notOver(record.state) }
            guard row.isForEverybody else { return .notRequired(now: requirements.inForce?.version) }
        }
        return nil
    }
}
