// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// What only the sending process knows of a campaign.
package struct RunFigures: Sendable, Equatable {
    package var shardRequestsOut = 0
    package var retryRequestsOut = 0
    var pushes = RateMeter()
    var devices = RateMeter()
    /// Why nothing moves although the campaign runs: the server cannot be reached, say.
    package var trouble: String?

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
    /// taken out of that, as its outcomes will be.
    package func counts(_ recorded: CampaignCounts) -> CampaignCounts {
        var counts = recorded
        let fresh = min(Int64(shardRequestsOut), counts.pending)
        let again = min(Int64(retryRequestsOut), counts.retrying)
        counts.pending -= fresh
        counts.retrying -= again
        let late = min(Int64(shardRequestsOut + retryRequestsOut) - fresh - again, counts.cancelled)
        counts.cancelled -= late
        counts.inFlight += fresh + again + late
        return counts
    }

    /// Pushes per second.
    package func rate(at now: Timestamp) -> Double { pushes.perSecond(at: now) }

    /// Seconds until all that is pending is sent, at the present rate; nil while nothing moves.
    package func secondsLeft(_ counts: CampaignCounts, at now: Timestamp) -> Int64? {
        let rate = devices.perSecond(at: now)
        guard rate > 0 else { return nil }
        return Int64((Double(counts.pending + counts.inFlight) / rate).rounded(.up))
    }
}
