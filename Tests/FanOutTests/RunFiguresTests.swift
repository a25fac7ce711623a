// SPDX-License-Identifier: Apache-2.0
import FanOut
import RelayEngine
import Testing

@Suite struct RunFiguresTests {
    @Test func whatIsOnItsWayIsToldApartAndTheAudienceStays() {
        var recorded = CampaignCounts()
        recorded.pending = 100
        recorded.retrying = 10
        recorded.accepted = 50
        var figures = RunFigures()
        figures.shardRequestsOut = 30
        figures.retryRequestsOut = 4
        let counts = figures.counts(recorded)
        #expect(counts.pending == 70)
        #expect(counts.retrying == 6)
        #expect(counts.inFlight == 34)
        #expect(counts.audience == recorded.audience)
    }

    @Test func whatIsOnItsWayWhenTheCampaignIsSupersededIsNotCancelledYet() {
        var recorded = CampaignCounts()
        recorded.accepted = 50
        recorded.cancelled = 40
        var figures = RunFigures()
        figures.shardRequestsOut = 30
        figures.retryRequestsOut = 4
        let counts = figures.counts(recorded)
        #expect(counts.inFlight == 34)
        #expect(counts.cancelled == 6)
        #expect(counts.audience == recorded.audience)
    }

    @Test func figuresOfAMomentAgoNeverMakeACountNegative() {
        var recorded = CampaignCounts()
        recorded.pending = 5
        var figures = RunFigures()
        figures.shardRequestsOut = 30
        figures.retryRequestsOut = 4
        let counts = figures.counts(recorded)
        #expect(counts.pending == 0)
        #expect(counts.retrying == 0)
        #expect(counts.inFlight == 5)
    }
}
