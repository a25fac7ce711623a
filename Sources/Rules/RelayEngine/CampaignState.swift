// SPDX-License-Identifier: Apache-2.0

/// Where a campaign stands. The raw values are on the wire (CONTRACT) and in the store's CHECKs.
package enum CampaignState: String, Sendable, Hashable, CaseIterable, Codable {
    /// Held back until the store offers the build. Goes to `running`, `cancelled` or `superseded`.
    case waiting
    /// Pushes are being sent or retries are due. Goes to every other state but `waiting`.
    case running
    /// Stopped by a person. `resume` makes it `running`; may be `cancelled` or `superseded`.
    case paused
    /// Stopped by the relay itself, for a reason that an operator must act on (a bad credential, say). `resume` makes it
    /// `running`; may be `cancelled` or `superseded`.
    case suspended
    /// Every device of the audience has a final outcome. Final.
    case completed
    /// Ended by a person; what was pending was not sent. Final.
    case cancelled
    /// A newer requirement of the same app and platform took its place; what was pending was not sent. Final.
    case superseded

    /// Whether nothing can move the campaign any more.
    package var isFinal: Bool {
        switch self {
        case .completed, .cancelled, .superseded: true
        case .waiting, .running, .paused, .suspended: false
        }
    }
}
