// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// What a batch's 429s say of the project's quota, and what they say of single devices.
@Suite struct QuotaJudgingTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// A batch of so many 429s of pushes at their first try, so many of others, and pushes that were taken.
    private func batch(first: Int = 0, again: Int = 0, taken: Int = 0, retryAfter: Duration? = nil) -> Settlement {
        let now = Timestamp(seconds: 1_800_000_000)
        var settlement = Settlement(tag: 1, expiresAt: now + .seconds(86_400), now: now)
        settlement.taken(taken)
        for device in 0..<first + again {
            let push = Settlement.Push(
                device: Int64(device), registeredAt: now, attempts: device < first ? 1 : 2, isRepeated: device >= first)
            let outcome = PushOutcome.retry(.quota(retryAfter: retryAfter), reason: "QUOTA_EXCEEDED")
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
}
