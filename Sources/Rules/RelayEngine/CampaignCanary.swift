// SPDX-License-Identifier: Apache-2.0

/// The users whom a bump names: its campaign goes to them first, and to all others when a person releases it. Until then the
/// requirement is in force for them alone (DESIGN, rule 8).
package struct CampaignCanary: Sendable, Hashable {
    package enum Phase: String, Sendable, Hashable, CaseIterable {
        /// No other user gets a push.
        case alone
        /// All other users get one, too.
        case released
    }

    package var phase: Phase
    /// When the last of its devices had its outcome.
    package var endedAt: Timestamp?
    /// When it was released, as far as that is known.
    package var releasedAt: Timestamp?

    package init(_ phase: Phase, endedAt: Timestamp? = nil, releasedAt: Timestamp? = nil) {
        self.phase = phase
        self.endedAt = endedAt
        self.releasedAt = releasedAt
    }
}
