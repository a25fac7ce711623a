// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite("When a notification is tried again")
struct NotificationScheduleTests {
    private let schedule = NotificationSchedule()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func verdict(
        _ attempt: Int, _ status: Int?, retryAfter: Duration? = nil, random: Double = 0
    ) -> NotificationVerdict {
        schedule.verdict(attempt: attempt, status: status, retryAfter: retryAfter, at: now, random: random)
    }

    @Test("the table, and no more after its end")
    func table() {
        let seconds: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
        for (index, delay) in seconds.enumerated() {
            #expect(verdict(index + 1, 500) == .retry(at: now + .seconds(delay), holdUntil: nil))
            #expect(verdict(index + 1, nil) == .retry(at: now + .seconds(delay), holdUntil: nil))
        }
        #expect(verdict(10, 500) == .giveUp)
        #expect(verdict(10, nil) == .giveUp)
    }

    @Test("jitter adds up to a tenth and takes nothing away")
    func jitter() {
        #expect(verdict(2, 500, random: 0.5) == .retry(at: now + .seconds(315), holdUntil: nil))
        guard case .retry(let at, _) = verdict(2, 500, random: 0.9999) else { return #expect(Bool(false)) }
        #expect(at > now + .seconds(329) && at <= now + .seconds(330))
    }

    @Test("no verdict sets a later time than the longest wait", arguments: [nil, 429, 500, 503])
    func longest(status: Int?) {
        for attempt in 1...9 {
            let verdict = verdict(attempt, status, retryAfter: .seconds(1_000_000), random: 0.9999)
            guard case .retry(let at, let holdUntil) = verdict else {
                Issue.record("\(verdict)")
                continue
            }
            #expect(max(at, holdUntil ?? at) <= now + NotificationSchedule.longestWait)
        }
    }

    @Test("2xx is done, 3xx and the rest are not, 410 is the end", arguments: [200, 202, 204, 299])
    func answers(success: Int) {
        #expect(verdict(1, success) == .delivered)
        #expect(verdict(10, success) == .delivered)
        for failure in [199, 300, 301, 308, 400, 401, 404, 500, 503] {
            #expect(verdict(1, failure) == .retry(at: now + .seconds(5), holdUntil: nil), "\(failure)")
        }
        #expect(verdict(1, 410) == .disable)
        #expect(verdict(10, 410) == .disable)
    }

    @Test("429, 502 and 504 hold the receiver; Retry-After counts, up to a day, and never shortens")
    func throttling() {
        for status in [429, 502, 504] {
            #expect(verdict(1, status) == .retry(at: now + .seconds(60), holdUntil: now + .seconds(60)))
            #expect(
                verdict(1, status, retryAfter: .seconds(9))
                    == .retry(at: now + .seconds(9), holdUntil: now + .seconds(9)))
            #expect(
                verdict(1, status, retryAfter: .seconds(999_999))
                    == .retry(at: now + .seconds(86_400), holdUntil: now + .seconds(86_400)))
            #expect(
                verdict(3, status, retryAfter: .seconds(9))
                    == .retry(at: now + .seconds(1800), holdUntil: now + .seconds(9)))
        }
        #expect(verdict(1, 503, retryAfter: .seconds(40)) == .retry(at: now + .seconds(40), holdUntil: nil))
        #expect(verdict(2, 503, retryAfter: .seconds(40)) == .retry(at: now + .seconds(300), holdUntil: nil))
        #expect(verdict(1, 500, retryAfter: .seconds(-4)) == .retry(at: now + .seconds(5), holdUntil: nil))
    }
}

@Suite("The pace of a long work")
struct BatchPaceTests {
    @Test("it grows while it is quick, shrinks when it is slow, and stays in its bounds")
    func sizes() {
        var pace = BatchPace(sizes: 64...256)
        #expect(pace.size == 64)
        #expect(pace.finished(in: .milliseconds(2)) == .milliseconds(2))
        #expect(pace.size == 128)
        for _ in 0..<5 { _ = pace.finished(in: .microseconds(100)) }
        #expect(pace.size == 256)
        _ = pace.finished(in: .milliseconds(5))
        #expect(pace.size == 256, "on target")
        for _ in 0..<5 { _ = pace.finished(in: .milliseconds(11)) }
        #expect(pace.size == 64)
        #expect(pace.longest == .milliseconds(11))
    }

    @Test("the others get as long as the batch took, at least a moment and not for ever")
    func pauses() {
        var pace = BatchPace(sizes: 1...1)
        #expect(pace.finished(in: .zero) == .milliseconds(1))
        #expect(pace.finished(in: .milliseconds(40)) == .milliseconds(40))
        #expect(pace.finished(in: .seconds(3)) == .milliseconds(100))
    }
}
