// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// A batch's 429s are of the project's quota, or of single devices.
@Suite struct QuotaJudgingTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// A batch of so many 429s of pushes at their first try, so many of others, and pushes that were taken.
    private func batch(first: Int = 0, again: Int = 0, taken: Int = 0, retryAfter: Duration? = nil) -> Settlement {
        let now = Timestamp(seconds: 1_800_000_000)
        var settlement = Settlement(tag: 1, expiresAt: now + .seconds(86_400), now: now)
        settlement.taken(taken, by: taken)
        for device in 0..<first + again {
            let push = Settlement.Push(
                device: Int64(device), registeredAt: now, attempts: device < first ? 1 : 2, isRepeated: device >= first)
            let backoff = RetrySchedule.Backoff(first: .seconds(60), limit: .seconds(3600))
            let outcome = PushOutcome.retry(.quota(backoff, retryAfter: retryAfter), reason: "QUOTA_EXCEEDED")
            _ = settlement.settle(outcome, of: push, status: 429)
        }
        return settlement
    }

    private func judge(_ batch: Settlement, by quota: inout ProjectQuota, at second: Int) -> Duration? {
        quota.answered(
            batch.answered, of: "app", throttled: batch.report.throttled, retryAfter: batch.report.throttledFor,
            at: start + .seconds(second), random: 0)
    }

    /// Devices that are always busy come back together: a probe may be nothing but those, and would hold all apps of the
    /// project for hours.
    @Test func pushesThatWereBusyBeforeBeginNoPause() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        for second in 0..<100 {
            #expect(judge(batch(again: 64, retryAfter: .seconds(600)), by: &quota, at: second) == nil)
        }
        #expect(quota.pause(of: "app", at: start + .seconds(100)) == nil)
    }

    @Test func besideThemFirstTriesAreJudgedAlone() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        #expect(judge(batch(first: 2, again: 400, taken: 98), by: &quota, at: 0) == nil)
        #expect(judge(batch(first: 80, again: 400, taken: 20), by: &quota, at: 1) == .seconds(60))
    }

    @Test func thePauseIsAsLongAsFirstTriesWereAskedToWait() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        #expect(judge(batch(first: 40, retryAfter: .seconds(7)), by: &quota, at: 0) == .seconds(7))
    }

    /// The pauses of the relay before are kept, by the wall clocks of both.
    @Test func whoFollowsGoesOnByThePausesOfWhoWasThere() {
        let wall = Timestamp(seconds: 1_700_000_000)
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        let pause = quota.answered(100, of: "app", throttled: 100, retryAfter: nil, at: start, random: 0)
        #expect(pause == .seconds(60))
        let known = quota.pauses(at: Moment(wall: wall, tick: start + .seconds(20)))
        #expect(known == ["app": ProjectQuota.KnownPause(until: wall + .seconds(40), setbacks: 1)])
        let later = MonotonicTime(nanoseconds: 77_000_000_000)
        var next = ProjectQuota(
            perMinute: 600_000, isShared: true, pauses: known, at: Moment(wall: wall + .seconds(10), tick: later))
        #expect(next.allowance(for: "app", at: later).wait == .seconds(30))
        #expect(next.allowance(for: "app", at: later).pushes == 0)
        // The next pause is twice as long, as it would have been for the first relay.
        let again = next.answered(
            100, of: "app", throttled: 100, retryAfter: nil, at: later + .seconds(31), random: 0)
        #expect(again == .seconds(120))
        #expect(quota.pauses(at: Moment(wall: wall, tick: start + .seconds(61))).isEmpty)
    }

    /// Both relays together send at most the quota in any minute: nothing goes on credit.
    @Test func whoFollowsSendsNoProbeOnCredit() {
        var quota = ProjectQuota(
            perMinute: 60_000, isShared: true, at: Moment(wall: Timestamp(seconds: 0), tick: start))
        #expect(quota.allowance(for: "app", at: start).pushes <= 1)
        var alone = ProjectQuota(perMinute: 60_000, at: start)
        #expect(alone.allowance(for: "app", at: start).pushes == ProjectQuota.probe)
    }
}
