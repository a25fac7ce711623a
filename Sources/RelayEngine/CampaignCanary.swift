// SPDX-License-Identifier: Apache-2.0

/// The users whom a bump names: its campaign goes to them first, and to all others when it is released. Until then the requirement
/// is in force for them alone (DESIGN, rule 8).
package struct CampaignCanary: Sendable, Hashable {
    package enum Phase: String, Sendable, Hashable {
        /// Nobody else gets a push.
        case alone
        /// Everybody else gets one, too.
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

    /// When it may be released by itself; nil: when an operator says so. That is so without rules (waves that follow each other
    /// at once have none), and where no push arrived: nobody of those who are named is registered, and a canary that nobody saw
    /// has shown nothing.
    package func releaseAt(_ rules: WaveRules?, accepted: Int64) -> Timestamp? {
        guard phase == .alone, let endedAt, let rules, rules != WaveRules(pause: .zero), accepted > 0 else {
            return nil
        }
        return endedAt + rules.pause
    }

    /// Asked when the pause is over.
    package func verdict(_ rules: WaveRules, accepted: Int64, failed: Int64) -> CampaignWaves.Verdict {
        let onwards = "release sends to everybody"
        if let most = rules.failedShare, Double(failed) > most * Double(accepted + failed) {
            return .hold(
                reason: "WaveFailed: \(failed) of \(accepted + failed) pushes of the canary failed, more than "
                    + "\(CampaignWaves.percent(most)) percent; \(onwards)")
        }
        guard rules.needsApproval else { return .begin }
        return .hold(reason: "WaveDone: the canary is done and the rest waits for approval; \(onwards)")
    }
}
