// SPDX-License-Identifier: Apache-2.0

/// The rules between two waves of a campaign.
package struct WaveRules: Sendable, Hashable {
    /// The time from a wave's last push to the next wave's first.
    package var pause: Duration
    /// Whether each wave but the first waits for an operator. Default no.
    package var needsApproval: Bool
    /// The share of a wave's pushes that may have failed for the next to begin by itself; nil: any. Default nil.
    package var failedShare: Double?

    package init(pause: Duration, needsApproval: Bool = false, failedShare: Double? = nil) {
        self.pause = pause
        self.needsApproval = needsApproval
        self.failedShare = failedShare
    }
}

/// One wave of a campaign, as far as it has come.
package struct CampaignWave: Sendable, Hashable {
    /// From 0.
    package var number: Int
    /// Ten-thousandths of the audience in this wave and those before it.
    package var end: Int
    /// The wave's devices of the audience.
    package var devices: Int64
    /// Devices without an outcome.
    package var pending: Int64
    /// Pushes that the service took.
    package var accepted: Int64
    /// Pushes that it did not take, and that are not tried again.
    package var failed: Int64
    /// Pushes that it did not take so far.
    package var retrying: Int64
    package var begunAt: Timestamp?
    /// When the last of its devices had its first outcome.
    package var endedAt: Timestamp?
    /// When the campaign was suspended because the next wave must not begin by itself.
    package var heldAt: Timestamp?
    /// Whether a shard of it is not done, even if no device is left in that shard.
    package var isOpen = false
    /// When an operator let the next wave begin.
    package var releasedAt: Timestamp?

    package init(
        number: Int, end: Int, devices: Int64, pending: Int64, accepted: Int64 = 0, failed: Int64 = 0,
        retrying: Int64 = 0, begunAt: Timestamp? = nil, endedAt: Timestamp? = nil, heldAt: Timestamp? = nil,
        releasedAt: Timestamp? = nil
    ) {
        self.number = number
        self.end = end
        self.devices = devices
        self.pending = pending
        self.accepted = accepted
        self.failed = failed
        self.retrying = retrying
        self.begunAt = begunAt
        self.endedAt = endedAt
        self.heldAt = heldAt
        self.releasedAt = releasedAt
    }

    /// Devices that a push left for.
    package var pushes: Int64 { accepted + failed + retrying }

    package var percent: Double { Double(end) * 100 / Double(WavePlan.parts) }

    package var percentText: String { WavePlan.percentText(end) }
}

/// The waves of one campaign.
package struct CampaignWaves: Sendable, Hashable {
    package enum Verdict: Sendable, Equatable {
        case begin
        /// The campaign is suspended for this reason.
        case hold(SuspensionCause, reason: String)
    }

    /// In their order; empty where the campaign has none.
    package var list: [CampaignWave]

    package init(_ list: [CampaignWave] = []) {
        self.list = list
    }

    package var isEmpty: Bool { list.isEmpty }

    /// Settles the retries of a campaign that is over.
    ///
    /// - Parameter isExpired: whether its time to live ran out, so that they have failed; else it was cancelled or superseded, and
    ///   they may be tried again.
    package mutating func end(isExpired: Bool) {
        for index in list.indices {
            if isExpired { list[index].failed += list[index].retrying }
            list[index].retrying = 0
        }
    }

    /// The last wave that has begun.
    package var current: CampaignWave? { list.last { $0.begunAt != nil } }

    package var next: CampaignWave? { current.flatMap { current in list.first { $0.number > current.number } } }

    /// Whether the current wave is over and another follows.
    package var areBetween: Bool { next != nil && current?.endedAt != nil }

    /// When the next wave may begin, once the current one is over; nil before that, and where none is left. After a wave
    /// without a push there is no pause.
    ///
    /// - Parameter rules: nil: the configuration has no waves any more, so there is no pause between those that are left.
    package func nextAt(_ rules: WaveRules?) -> Timestamp? {
        guard next != nil, let current, let ended = current.endedAt else { return nil }
        guard let rules, current.releasedAt == nil, current.pushes > 0 else { return ended }
        return ended + rules.pause
    }

    /// Whether the next wave may begin by itself, asked when the pause is over.
    package func verdict(_ rules: WaveRules?) -> Verdict {
        guard let next, let current, let rules, current.releasedAt == nil else { return .begin }
        let pushes = current.pushes
        guard pushes > 0 else { return .begin }
        let wave = "wave \(current.number + 1) of \(list.count)"
        let onwards =
            "approve begins wave \(next.number + 1), which takes it to \(next.percentText) percent of the audience"
        // A push that the service has not taken yet is no reason to send it more.
        if let most = rules.failedShare, Double(current.failed + current.retrying) > most * Double(pushes) {
            let retrying = current.retrying > 0 ? " and \(current.retrying) are tried again" : ""
            return .hold(
                .stageFailed,
                reason: "WaveFailed: \(current.failed) of \(pushes) pushes of \(wave) failed\(retrying), more than "
                    + "\(WavePlan.percentText(Int((most * Double(WavePlan.parts)).rounded()))) percent; \(onwards)")
        }
        guard rules.needsApproval else { return .begin }
        return .hold(
            .approval, reason: "WaveDone: \(wave) is done and the next waits for approval; \(onwards)")
    }
}
