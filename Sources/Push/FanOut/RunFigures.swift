// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The figures of a campaign that only the sending process knows.
package struct RunFigures: Sendable, Equatable {
    package var shardRequestsOut = 0
    package var retryRequestsOut = 0
    var pushes = RateMeter()
    var devices = RateMeter()
    /// The app's bucket as it was at `tick`; nil where there is no pace.
    var pacer: Pacer?
    var tick = MonotonicTime(nanoseconds: 0)
    /// The limit that another relay has published, where there is no bucket here.
    var publishedLimit: Double?
    /// Why nothing moves although the campaign runs: for example, because the server cannot be reached.
    package var trouble: String?
    /// Whether `trouble` holds back every remaining push, not only those of one environment.
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

    /// The ledger's counts, with pushes on their way counted apart; the audience stays the same.
    ///
    /// A campaign that was superseded or cancelled counts every device without an outcome as cancelled; those with a push on its
    /// way are taken out of that, as their outcomes will be. Its reminders count as accepted again, as they were before. Devices
    /// that registered again after its audience was counted belong to it once their pushes are on their way, and not only once
    /// they have an outcome.
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

    /// Pushes per second. A rate measured over a moment may exceed a pace that is kept, so the limit caps it.
    package func rate(at now: Timestamp) -> Double { min(pushes.perSecond(at: now), rateLimit ?? .infinity) }

    /// Pushes a second that the app may send at this moment; nil: no limit.
    package var rateLimit: Double? { pacer?.rate(at: tick) ?? publishedLimit }
}
