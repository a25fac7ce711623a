// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

/// Google's rules for a project (PROTOCOLS 2.4).
@Suite struct ProjectQuotaTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private func after(_ seconds: Double) -> MonotonicTime { start + .milliseconds(Int64((seconds * 1000).rounded())) }

    /// Sends as much as it may every 20 ms, and returns the requests of each step.
    private func greedy(_ quota: inout ProjectQuota, from first: Double, to last: Double) -> [Int] {
        var sent: [Int] = []
        for step in Int(first * 50)..<Int(last * 50) {
            let now = after(Double(step) / 50)
            let pushes = quota.allowance(for: "app", at: now).pushes
            quota.consume(pushes, by: "app", at: now)
            sent.append(pushes)
        }
        return sent
    }

    @Test(arguments: [600, 6_000, 600_000])
    func noMinuteEverHasMoreThanTheQuota(perMinute: Int) {
        var quota = ProjectQuota(perMinute: perMinute, at: start)
        let sent = greedy(&quota, from: 0, to: 300)
        var window = sent.prefix(3_000).reduce(0, +)
        var most = window
        for end in 3_000..<sent.count {
            window += sent[end] - sent[end - 3_000]
            most = max(most, window)
        }
        #expect(most <= perMinute)
        #expect(Double(most) > Double(perMinute) * 0.98, "and it is used")
    }

    @Test func theRampTakesAMinute() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        let sent = greedy(&quota, from: 0, to: 120)
        let first = sent.prefix(50).reduce(0, +)
        #expect(first < 150, "a second from nothing but a probe: \(first)")
        #expect(sent.first == ProjectQuota.probe)
        let half = sent[1_450..<1_500].reduce(0, +)
        #expect((4_700...5_100).contains(half), "\(half)")
        #expect((295_000...305_000).contains(sent.prefix(3_000).reduce(0, +)), "half of the quota")
        #expect((9_900...10_000).contains(sent[3_500..<3_550].reduce(0, +)))
    }

    @Test func whoeverSharesItGetsWhatTheOthersLeave() {
        var quota = ProjectQuota(perMinute: 60_000, at: start)
        _ = greedy(&quota, from: 0, to: 100)
        let now = after(100)
        let one = quota.allowance(for: "app", at: now).pushes
        #expect(one > 0)
        quota.consume(one, by: "app", at: now)
        let other = quota.allowance(for: "other", at: now)
        #expect(other.pushes == 0)
        #expect((other.wait ?? .zero) > .zero && (other.wait ?? .zero) < .milliseconds(30))
    }

    @Test func afterAMinuteOfSilenceTheRampBeginsAnew() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        _ = greedy(&quota, from: 0, to: 90)
        #expect(greedy(&quota, from: 149, to: 150).reduce(0, +) > 9_000, "a short silence changes nothing")
        #expect(greedy(&quota, from: 211, to: 212).reduce(0, +) < 150)
    }

    @Test func whatIsSentAgainCountsAndWhatNeverLeftDoesNot() {
        var quota = ProjectQuota(perMinute: 6_000, at: start)
        _ = greedy(&quota, from: 0, to: 70)
        quota.consume(500, by: "app", at: after(70))
        let wait = quota.allowance(for: "app", at: after(70)).wait ?? .zero
        #expect(wait > .seconds(4) && wait < .seconds(6), "five seconds' worth: \(wait)")
        quota.refund(500, at: after(70))
        #expect((quota.allowance(for: "app", at: after(70.1)).pushes) > 0)
    }

    // MARK: 429

    @Test func aShareOf429PausesTheService() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        _ = greedy(&quota, from: 0, to: 90)
        #expect(
            quota.answered(100, of: "app", throttled: 3, retryAfter: nil, at: after(90), random: 0) == nil,
            "a device's own")
        #expect(quota.pause(of: "app", at: after(90)) == nil)
        #expect(
            quota.answered(100, of: "app", throttled: 60, retryAfter: nil, at: after(91), random: 0) == .seconds(60))
        #expect(quota.allowance(for: "app", at: after(92)) == .init(pushes: 0, wait: .seconds(59)))
        #expect(
            quota.answered(100, of: "app", throttled: 100, retryAfter: nil, at: after(92), random: 0) == nil,
            "left before")
        #expect(quota.pause(of: "app", at: after(150)) == .seconds(1))
        // It begins gently again.
        #expect(quota.allowance(for: "app", at: after(151)).pushes == ProjectQuota.probe)
        #expect(greedy(&quota, from: 151, to: 152).reduce(0, +) < 150)
        // That did not help: the pause is twice as long.
        #expect(
            quota.answered(20, of: "app", throttled: 20, retryAfter: nil, at: after(153), random: 0) == .seconds(120))
        #expect(
            quota.answered(20, of: "app", throttled: 20, retryAfter: nil, at: after(274), random: 0) == .seconds(240))
        // The service's own time comes first.
        #expect(
            quota.answered(20, of: "app", throttled: 20, retryAfter: .seconds(7), at: after(520), random: 0)
                == .seconds(7))
    }

    /// If one app's devices or its topic are busy, the project's other apps go on. All of them were held before.
    @Test func eachServiceIsJudgedByWhatItWasAnsweredItself() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        _ = greedy(&quota, from: 0, to: 90)
        #expect(
            quota.answered(100, of: "busy", throttled: 60, retryAfter: .seconds(3_600), at: after(90), random: 0)
                == .seconds(3_600))
        #expect(quota.allowance(for: "busy", at: after(90.1)).pushes == 0)
        #expect(quota.pause(of: "app", at: after(91)) == nil)
        #expect(greedy(&quota, from: 91, to: 92).reduce(0, +) > 9_000, "and at the rate that it had")
        // The return of the busy one does not slow the others down.
        #expect(quota.allowance(for: "busy", at: after(3_700)).pushes > 0)
    }

    @Test func whoeverReturnsBesideOthersDoesNotBeginTheirRampAnew() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        _ = greedy(&quota, from: 0, to: 90)
        #expect(
            quota.answered(100, of: "busy", throttled: 60, retryAfter: .seconds(5), at: after(90), random: 0)
                == .seconds(5))
        _ = greedy(&quota, from: 90, to: 95.5)
        let returned = quota.allowance(for: "busy", at: after(95.52)).pushes
        #expect(returned > 64 && quota.isProbing("busy"), "\(returned)")
        #expect(quota.answered(20, of: "busy", throttled: 0, retryAfter: nil, at: after(96), random: 0) == nil)
        #expect(!quota.isProbing("busy"))
    }

    /// An operator who has repaired the fault does not have to wait an hour.
    @Test func aPersonEndsThePause() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        #expect(
            quota.answered(64, of: "app", throttled: 64, retryAfter: .seconds(86_400), at: after(0), random: 0)
                == .seconds(3_600), "an hour at most")
        quota.probeAtOnce("app", at: after(10))
        #expect(quota.pause(of: "app", at: after(10)) == nil)
        #expect(quota.isProbing("app"))
        #expect(quota.allowance(for: "app", at: after(10)).pushes == ProjectQuota.probe)
    }

    @Test func goodAnswersEndTheDoubling() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        #expect(quota.answered(20, of: "app", throttled: 20, retryAfter: nil, at: after(0), random: 0) == .seconds(60))
        #expect(quota.answered(50, of: "app", throttled: 0, retryAfter: nil, at: after(61), random: 0) == nil)
        #expect(quota.answered(50, of: "app", throttled: 40, retryAfter: nil, at: after(62), random: 0) == .seconds(60))
        #expect(
            quota.answered(40, of: "app", throttled: 40, retryAfter: nil, at: after(123), random: 0.5)
                == .milliseconds(135_000))
    }

    @Test func aFew429AreNotEnoughToJudgeBy() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        for place in 0..<3 {
            #expect(
                quota.answered(1, of: "app", throttled: 1, retryAfter: nil, at: after(Double(place)), random: 0) == nil)
        }
    }

    @Test func anotherQuotaHoldsFromNowOn() {
        var quota = ProjectQuota(perMinute: 600_000, at: start)
        _ = greedy(&quota, from: 0, to: 90)
        quota.change(perMinute: 6_000, at: after(90))
        let sent = greedy(&quota, from: 90, to: 91).reduce(0, +)
        #expect((90...115).contains(sent), "\(sent)")
    }
}

@Suite struct QuarterHourAvoidanceTests {
    /// Minutes and seconds of an hour, and where the campaign begins.
    @Test(arguments: [
        ("10:00", "10:00"), ("13:59", "13:59"), ("14:00", "16:00"), ("14:59", "16:00"), ("15:00", "16:00"),
        ("15:59", "16:00"), ("16:00", "16:00"), ("29:30", "31:00"), ("44:00", "46:00"), ("59:00", "61:00"),
        ("00:00", "01:00"), ("00:59", "01:00"), ("01:00", "01:00"), ("58:59", "58:59"),
    ])
    func noCampaignBeginsAroundAQuarterOfAnHour(now: String, opening: String) {
        func time(_ text: String) -> Timestamp {
            let parts = text.split(separator: ":").compactMap { Int64($0) }
            // An hour of 2027.
            return Timestamp(seconds: 1_800_000_000 + parts[0] * 60 + parts[1])
        }
        #expect(QuarterHourAvoidance.opening(at: time(now)) == time(opening))
    }
}
