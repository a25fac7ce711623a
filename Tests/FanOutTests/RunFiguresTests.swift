// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import FanOut

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

    /// Devices registered again after the audience was counted: one of them is filtered and took the place of the one on its
    /// way.
    @Test func whatIsOnItsWayToOneMoreThanWereCountedIsShownAfterTheEnd() {
        var recorded = CampaignCounts()
        recorded.filtered = 1
        var figures = RunFigures()
        figures.shardRequestsOut = 1
        #expect(figures.counts(recorded, .superseded).inFlight == 1)
        #expect(figures.counts(recorded, .running).audience == recorded.audience)
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

    /// FAULTS 3.1: the status showed 48,000 a second at the start of a wave, beside "at most 872".
    @Test func theRateIsNeverMoreThanThePace() {
        var figures = paced()
        let now = Timestamp(seconds: 1_000)
        figures.pushes.add(4_800, at: now)
        #expect(figures.pushes.perSecond(at: now) == 48_000)
        #expect(figures.rate(at: now) == 10)
        figures.pacer = nil
        #expect(figures.rate(at: now) == 48_000)
    }

    // MARK: Time left

    private static let start = MonotonicTime(nanoseconds: 0)

    private static let rules = WaveRules(pause: .seconds(1_800))

    /// Figures at 10 a second, with nothing on its way.
    private func paced(ramp: Pace.RampUp? = nil) -> RunFigures {
        var figures = RunFigures()
        var pacer = Pacer(Pace(ratePerSecond: 10, rampUp: ramp), at: Self.start)
        pacer.consume(1)
        figures.pacer = pacer
        figures.tick = Self.start
        return figures
    }

    private func counts(pending: Int64) -> CampaignCounts {
        var counts = CampaignCounts()
        counts.pending = pending
        counts.accepted = 300
        counts.filtered = 100
        return counts
    }

    private func waves(ended: Timestamp?, released: Timestamp? = nil) -> CampaignWaves {
        CampaignWaves([
            CampaignWave(
                number: 0, end: 2_000, devices: 800, pending: ended == nil ? 400 : 0, accepted: 300,
                begunAt: Timestamp(seconds: 10), endedAt: ended, releasedAt: released),
            CampaignWave(number: 1, end: 5_000, devices: 1_200, pending: 1_200),
            CampaignWave(number: 2, end: 10_000, devices: 2_000, pending: 2_000),
        ])
    }

    @Test func thoseWhoAreLikelyToBeFilteredTakeNoTime() {
        // Three of four devices get a push.
        #expect(paced().secondsLeft(counts(pending: 4_000), at: Timestamp(seconds: 0)) == 300)
        #expect(RunFigures().secondsLeft(counts(pending: 4_000), at: Timestamp(seconds: 0)) == nil)
    }

    @Test func thePausesBetweenWavesAreTimeToo() {
        let now = Timestamp(seconds: 100)
        let counts = counts(pending: 3_600)
        // 30 s of this wave, 90 s and 150 s of the others, two pauses of 1800 s.
        #expect(paced().secondsLeft(counts, waves: waves(ended: nil), rules: Self.rules, at: now) == 3_870)
        let later = now + .seconds(800)
        #expect(paced().secondsLeft(counts, waves: waves(ended: now), rules: Self.rules, at: later) == 3_040)
        let released = waves(ended: now, released: now)
        #expect(paced().secondsLeft(counts, waves: released, rules: Self.rules, at: later) == 2_040)
    }

    @Test func nobodyKnowsHowLongAnOperatorTakes() {
        let now = Timestamp(seconds: 100)
        let rules = WaveRules(pause: .seconds(1_800), needsApproval: true)
        let left = paced().secondsLeft(counts(pending: 3_600), waves: waves(ended: nil), rules: rules, at: now)
        #expect(left == 1_830)
    }

    @Test func eachWaveHasItsRamp() {
        // The rate rises evenly from almost nothing to 10 in 20 s: half as many pushes leave in that time.
        let figures = paced(ramp: .init(from: 0.0001, over: .seconds(20)))
        let now = Timestamp(seconds: 100)
        let left = figures.secondsLeft(counts(pending: 3_200), waves: waves(ended: now), rules: Self.rules, at: now)
        #expect(left.map { abs($0 - (1_800 + 100 + 1_800 + 160)) <= 1 } == true)
    }
}
