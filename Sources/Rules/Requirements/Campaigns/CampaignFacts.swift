// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The decisions about a campaign itself. Its requirement's state is another fact, kept apart: neither can undo the other.
package struct CampaignFacts: Hashable, Sendable {
    /// The campaign's own end, as opposed to its requirement's.
    package enum End: String, Sendable, Hashable {
        case completed, cancelled
    }

    /// Below 0 where it is not stored yet.
    package var key: CampaignKey
    package var requirement: Int64
    package var pausedAt: Timestamp?
    package var pausedBy: String?
    /// Since when it is sent at any hour, and by whose order; nil: within its app's hours.
    package var urgentAt: Timestamp?
    package var urgentBy: String?
    /// Why the relay stopped it.
    package var cause: SuspensionCause?
    package var causeText: String?
    /// Whether a person resumed it after nearly all of its tokens were called dead, and so accepted that they are.
    package var acceptsDeadTokens = false
    package var end: End?
    /// The state that is shown, as of the last change, and its reason.
    package var state: CampaignState
    package var reason: String?
    package var createdAt: Timestamp
    /// When it first ran.
    package var startedAt: Timestamp?
    /// Since when the state that is shown is final.
    package var finishedAt: Timestamp?
    /// The end of its time to live. A campaign that waits has not begun to use it up.
    package var expiresAt: Timestamp
    /// The rest of its time to live, while it does not run.
    package var timeLeft: Duration?
    /// From the beginning of a stage until nothing is sent any more.
    package var timeToLive: Duration
    /// Whether its deliveries were, or are being, pruned: then its state no longer changes.
    package var isPruned = false
    /// The requirement's, or the configuration's where the requirement has none.
    package var downloadURL: String

    package init(
        key: CampaignKey, requirement: Int64, state: CampaignState, createdAt: Timestamp, expiresAt: Timestamp,
        timeToLive: Duration, downloadURL: String
    ) {
        self.key = key
        self.requirement = requirement
        self.state = state
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.timeToLive = timeToLive
        self.downloadURL = downloadURL
    }

    /// Its state, by the first fact that holds, and the reason.
    package func shown(_ row: Requirement, in requirements: Requirements) -> (state: CampaignState, reason: String?) {
        switch end {
        case .completed: return (.completed, nil)
        case .cancelled: return (.cancelled, nil)
        case nil: break
        }
        if !row.isLive { return (.cancelled, row.reason) }
        if let newer = requirements.superseder(of: row) {
            return (.superseded, "version \(newer.version) became required")
        }
        if pausedAt != nil { return (.paused, nil) }
        if cause != nil { return (.suspended, causeText) }
        if row.state != .inForce { return (.waiting, row.reason) }
        return (.running, nil)
    }

    /// Brings the state that is shown up to date. The time to live counts while it runs.
    package mutating func show(_ row: Requirement, in requirements: Requirements, at now: Timestamp) {
        guard !isPruned else { return }
        let (new, why) = shown(row, in: requirements)
        if new == .running, state != .running || startedAt == nil {
            expiresAt = now + (timeLeft ?? timeToLive)
            timeLeft = nil
            startedAt = startedAt ?? now
        } else if new != .running, state == .running || timeLeft == nil {
            timeLeft = state == .running ? max(expiresAt - now, .zero) : timeToLive
        }
        if new.isFinal { finishedAt = new == state ? finishedAt ?? now : now } else { finishedAt = nil }
        (state, reason) = (new, why)
    }
}
