// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// What only the sending process knows of a campaign.
package struct RunFigures: Sendable, Equatable {
    package var shardRequestsOut = 0
    package var retryRequestsOut = 0
    var pushes = RateMeter()
    var devices = RateMeter()
    /// The app's bucket as it was at `tick`; nil where nothing holds the pace.
    var pacer: Pacer?
    var tick = MonotonicTime(nanoseconds: 0)
    /// Where there is no bucket here: what another relay's allowed.
    var toldLimit: Double?
    /// Why nothing moves although the campaign runs: the server cannot be reached, say.
    package var trouble: String?
    /// Whether that keeps back all that is left, and not one environment's part alone.
    package var standsStill = false
    /// When the first push is tried again, where nothing else is left.
    package var nextRetryAt: Timestamp?

    package init() {}

    init(shardRequestsOut: Int, retryRequestsOut: Int, pushes: RateMeter, devices: RateMeter) {
        self.shardRequestsOut = shardRequestsOut
        self.retryRequestsOut = retryRequestsOut
        self.pushes = pushes
        self.devices = devices
    }

    /// The ledger's counts with what is on its way told apart; the audience stays the same.
    ///
    /// A campaign that was superseded or cancelled counts all that had no outcome as cancelled; what is on its way is
    /// taken out of that, as its outcomes will be. Its reminders count as accepted again, as they were before. Devices that were
    /// registered again after its audience was counted are of it as their pushes are on their way, and not only once they have an outcome.
    package func counts(_ recorded: CampaignCounts, _ state: CampaignState = .running) -> CampaignCounts {
        var counts = recorded
        let fresh = min(Int64(shardRequestsOut), counts.pending)
        let again = min(Int64(retryRequestsOut), counts.retrying)
        counts.pending -= fresh
        counts.retrying -= again
        let rest = Int64(shardRequestsOut + retryRequestsOut) - fresh - again
        let late = min(rest, counts.cancelled)
        counts.cancelled -= late
        counts.inFlight += fresh + again + late
        guard [.superseded, .cancelled].contains(state) else { return counts }
        counts.accepted -= min(rest - late, counts.accepted)
        counts.inFlight += rest - late
        return counts
    }

    /// Pushes per second. What is measured over a moment may be more than the pace, which is kept.
    package func rate(at now: Timestamp) -> Double { min(pushes.perSecond(at: now), rateLimit ?? .infinity) }

    /// Pushes a second that the app may send at this moment; nil: as many as go.
    package var rateLimit: Double? { pacer?.rate(at: tick) ?? toldLimit }
}
