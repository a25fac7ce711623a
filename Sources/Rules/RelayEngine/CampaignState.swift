// SPDX-License-Identifier: Apache-2.0

/// Where a campaign stands. The raw values are on the wire (CONTRACT) and in the store's CHECKs.
package enum CampaignState: String, Sendable, Hashable, CaseIterable, Codable {
    /// Held back until the store offers the version, or until its time has come. Goes to `running`, `paused`, `cancelled` or
    /// `superseded`.
    case waiting
    /// Pushes are being sent or retries are due. Goes to every other state; to `waiting` if the store halts the rollout.
    case running
    /// Stopped by a person. `resume` makes it `running`, or `waiting` as before; may be `cancelled` or `superseded`.
    case paused
    /// Stopped by the relay itself, for a reason that an operator must act on (a bad credential, say). `resume` makes it
    /// `running`; may be `cancelled` or `superseded`.
    case suspended
    /// Every device of the audience has a final outcome. Final.
    case completed
    /// Ended by a person; what was pending was not sent. Final.
    case cancelled
    /// A newer requirement of the same app and platform took its place; what was pending was not sent. Final, unless the newer
    /// requirement is withdrawn.
    case superseded

    /// Whether the campaign is over. It goes on only if it is opened again, or if the requirement that superseded it is withdrawn.
    package var isFinal: Bool {
        switch self {
        case .completed, .cancelled, .superseded: true
        case .waiting, .running, .paused, .suspended: false
        }
    }
}
