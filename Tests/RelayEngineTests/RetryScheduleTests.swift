// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct RetryScheduleTests {
    private static let quota = RetrySchedule.Backoff(first: .seconds(60), limit: .seconds(3600))
    private static let outage = RetrySchedule.Backoff(first: .seconds(10), limit: .seconds(3600))

    /// Attempt 1, 2, 3 … without jitter, in seconds.
    @Test(
        arguments: [
            (.tooManyRequests(retryAfter: nil), [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]),
            (.transport, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]),
            (.service(retryAfter: nil), [900, 1800, 3600, 7200, 14_400, 14_400]),
            (.service(retryAfter: .seconds(30)), [30, 30, 30, 30]),
            (.quota(quota, retryAfter: nil), [60, 120, 240, 480, 960, 1920, 3600, 3600]),
            (.quota(quota, retryAfter: .seconds(7)), [7, 7]),
            (.unavailable(outage, retryAfter: nil), [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]),
            (.unavailable(outage, retryAfter: .seconds(3)), [3, 3]),
            (.service(retryAfter: .seconds(3600)), [3600, 3600]),
            (.service(retryAfter: .seconds(86400)), [3600, 3600]),
            (.tooManyRequests(retryAfter: .seconds(604_800)), [86400, 86400]),
            (.service(retryAfter: .seconds(0)), [1, 1]),
            (.service(retryAfter: .seconds(-5)), [1, 1]),
            (.unreachable(rest: .seconds(8)), [8, 8, 8]),
            (.unreachable(rest: .zero), [1, 1]),
            (.notSent, [0, 0, 0]),
        ] as [(RetrySchedule.Cause, [Int64])])
    func waitsAsTheTableSays(cause: RetrySchedule.Cause, seconds: [Int64]) {
        let delays = (1...seconds.count).map { RetrySchedule().delay(after: cause, attempt: $0, random: 0) }
        #expect(delays == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            (0.0, 900_000), (0.25, 956_250), (0.5, 1_012_500), (0.999, 1_124_775),
        ] as [(Double, Int64)])
    func addsUpToAQuarter(random: Double, milliseconds: Int64) {
        let delay = RetrySchedule().delay(after: .service(retryAfter: nil), attempt: 1, random: random)
        #expect(delay == .milliseconds(milliseconds))
    }

    static let causes: [RetrySchedule.Cause] = [
        .tooManyRequests(retryAfter: nil), .transport, .service(retryAfter: nil),
        .service(retryAfter: .milliseconds(1500)),
        .service(retryAfter: .seconds(86400)), .notSent,
    ]

    @Test(arguments: causes)
    func neverComesEarlyAndNeverMoreThanAQuarterLate(cause: RetrySchedule.Cause) {
        let schedule = RetrySchedule()
        for attempt in 1...40 {
            let base = schedule.delay(after: cause, attempt: attempt, random: 0)
            var last = base
            for step in 0...100 {
                // The largest step is the largest number below 1, as a random number may be.
                let random = step == 100 ? 1.0.nextDown : Double(step) / 100
                let delay = schedule.delay(after: cause, attempt: attempt, random: random)
                #expect(delay >= base)
                #expect(delay <= base + base / 4)
                #expect(delay >= last, "more randomness never means less delay")
                last = delay
            }
            if cause != .notSent { #expect(last > base, "jitter must really spread the herd") }
        }
    }

    @Test(arguments: causes)
    func neverWaitsLessAfterMoreAttempts(cause: RetrySchedule.Cause) {
        let delays = (1...40).map { RetrySchedule().delay(after: cause, attempt: $0, random: 0.5) }
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func takesAnyAttemptNumber() {
        let schedule = RetrySchedule()
        #expect(schedule.delay(after: .transport, attempt: 0, random: 0) == .seconds(1))
        #expect(schedule.delay(after: .transport, attempt: -3, random: 0) == .seconds(1))
        #expect(schedule.delay(after: .transport, attempt: .max, random: 0) == .seconds(300))
        #expect(schedule.delay(after: .tooManyRequests(retryAfter: nil), attempt: .max, random: 0) == .seconds(300))
    }

    @Test func spreadsFifteenMinutesOverNearlyFour() {
        var random = SystemRandomNumberGenerator()
        let delays = (0..<1000).map { _ in
            RetrySchedule().delay(
                after: .service(retryAfter: nil), attempt: 1, random: .random(in: 0..<1, using: &random))
        }
        #expect(delays.allSatisfy { (.seconds(900)...(.seconds(1125))).contains($0) })
        #expect(Set(delays).count > 500)
    }
}
