// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import RelayEngine
import Testing

/// The bucket with a caller that takes as much as it gets, on the test's own clock.
@Suite struct PacerTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// The pushes that were handed out, and when, in seconds since the start.
    private struct Trace {
        var times: [(at: Double, count: Int)] = []

        mutating func add(_ count: Int, at now: MonotonicTime) {
            times.append(((now - PacerTests.start).seconds, count))
        }

        var total: Int { times.reduce(0) { $0 + $1.count } }

        /// The most pushes in any stretch of so many seconds.
        func most(in stretch: Double) -> Int {
            var (most, sum, first) = (0, 0, 0)
            for index in times.indices {
                sum += times[index].count
                while times[index].at - times[first].at >= stretch {
                    sum -= times[first].count
                    first += 1
                }
                most = max(most, sum)
            }
            return most
        }
    }

    /// Takes all that it gets, each time after the wait that was asked for and a delay of the thread.
    private func drain(
        _ pacer: inout Pacer, from now: inout MonotonicTime, for length: Duration, into trace: inout Trace,
        late: () -> Duration = { .zero }
    ) {
        let end = now + length
        while now < end {
            let count = pacer.allowance(at: now)
            if count > 0 {
                pacer.consume(count)
                trace.add(count, at: now)
            }
            now = now + pacer.wait(at: now) + late() + .nanoseconds(1)
        }
    }

    @Test func whatDidNotLeaveIsHadAgainButNotTwice() {
        var pacer = Pacer(Pace(ratePerSecond: 100), at: Self.start)
        var now = Self.start + .seconds(100)
        let all = pacer.allowance(at: now)
        #expect(all > 1)
        pacer.consume(all)
        #expect(pacer.allowance(at: now) == 0)
        pacer.refund(all, at: now)
        #expect(pacer.allowance(at: now) == all)
        pacer.consume(all)
        now = now + .seconds(100)
        pacer.refund(all, at: now)
        #expect(pacer.allowance(at: now) == all, "the bucket was full again before")
    }

    @Test(arguments: [0.2, 1, 3.7, 10, 100, 999, 20_000, 250_000])
    func theRateIsKeptAndMet(rate: Double) {
        var pacer = Pacer(Pace(ratePerSecond: rate), at: Self.start)
        var (now, trace) = (Self.start, Trace())
        let length = max(20, 30 / rate)
        drain(&pacer, from: &now, for: .milliseconds(Int64(length * 1000)), into: &trace)
        #expect(Double(trace.most(in: 1)) <= rate * 1.1 + 1)
        #expect(abs(Double(trace.total) - rate * length) <= rate * length * 0.02 + 2)
    }

    @Test func onePushASecondIsOneASecond() {
        var pacer = Pacer(Pace(ratePerSecond: 1), at: Self.start)
        var (now, trace) = (Self.start, Trace())
        drain(&pacer, from: &now, for: .milliseconds(4_500), into: &trace)
        #expect(trace.times.map { $0.count } == [1, 1, 1, 1, 1])
        #expect(trace.times.map { $0.at.rounded() } == [0, 1, 2, 3, 4])
    }

    @Test(arguments: 0..<40)
    func whateverHappensNoSecondHasMoreThanTheBound(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        let rate = [0.7, 5, 60, 1_000, 30_000][seed % 5]
        let ramp = seed % 3 == 0 ? Pace.RampUp(from: 0.1, over: .seconds(20)) : nil
        var pacer = Pacer(Pace(ratePerSecond: rate, rampUp: ramp), at: Self.start)
        var (now, trace) = (Self.start, Trace())
        for _ in 0..<30 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                // The daemon stands still.
                now = now + .milliseconds(Int64.random(in: 0...60_000, using: &random))
            case 1:
                pacer.begin(at: now)
            case 2:
                // A second try without an allowance: it is counted, and made up for.
                let count = Int.random(in: 1...3, using: &random)
                pacer.consume(count)
            default:
                drain(&pacer, from: &now, for: .milliseconds(1_500), into: &trace) {
                    .microseconds(Int64.random(in: 0...30_000, using: &random))
                }
            }
        }
        for stretch in [0.1, 1, 5] {
            #expect(Double(trace.most(in: stretch)) <= rate * (stretch + 0.1) + 1 + 1e-6, "\(stretch) s")
        }
    }

    @Test func aPauseSavesNothingUp() {
        var pacer = Pacer(Pace(ratePerSecond: 100), at: Self.start)
        var (now, trace) = (Self.start, Trace())
        drain(&pacer, from: &now, for: .seconds(5), into: &trace)
        now = now + .seconds(3600)
        pacer.begin(at: now)
        var after = Trace()
        #expect(pacer.allowance(at: now) <= 1)
        drain(&pacer, from: &now, for: .seconds(1), into: &after)
        #expect(after.total <= 103)
    }

    @Test func theRampGrowsEvenlyAndBeginsAnew() {
        let pace = Pace(ratePerSecond: 1_000, rampUp: .init(from: 0.1, over: .seconds(60)))
        var pacer = Pacer(pace, at: Self.start)
        #expect(pacer.rate(at: Self.start) == 100)
        #expect(abs(pacer.rate(at: Self.start + .seconds(30)) - 550) < 0.001)
        #expect(pacer.rate(at: Self.start + .seconds(90)) == 1_000)
        var (now, trace) = (Self.start, Trace())
        drain(&pacer, from: &now, for: .seconds(60), into: &trace)
        // The mean of 100 and 1000, for a minute.
        #expect(abs(trace.total - 33_000) < 330)
        let second = trace.times.filter { $0.at < 1 }.reduce(0) { $0 + $1.count }
        #expect((100...130).contains(second))
        pacer.begin(at: now)
        #expect(pacer.rate(at: now) == 100)
    }

    @Test func anotherRateHoldsAtOnceAndBringsNoBurst() {
        var pacer = Pacer(Pace(ratePerSecond: 10), at: Self.start)
        var (now, trace) = (Self.start, Trace())
        drain(&pacer, from: &now, for: .seconds(3), into: &trace)
        pacer.change(to: Pace(ratePerSecond: 1_000), at: now)
        var fast = Trace()
        drain(&pacer, from: &now, for: .seconds(2), into: &fast)
        #expect(abs(fast.total - 2_000) < 60)
        #expect(fast.most(in: 1) <= 1_101)
        pacer.change(to: Pace(ratePerSecond: 2), at: now)
        var slow = Trace()
        drain(&pacer, from: &now, for: .seconds(5), into: &slow)
        #expect((9...11).contains(slow.total))
    }

    @Test(arguments: [
        Pace(ratePerSecond: 0.5), Pace(ratePerSecond: 25), Pace(ratePerSecond: 5_000),
        Pace(ratePerSecond: 50, rampUp: .init(from: 0.05, over: .seconds(120))),
    ])
    func theTimeThatIsForetoldIsTheTimeThatItTakes(pace: Pace) throws {
        var pacer = Pacer(pace, at: Self.start)
        let all = Int(pace.ratePerSecond * 200)
        var (now, sent) = (Self.start, 0)
        var foretold: [(at: Double, end: Double)] = []
        while sent < all {
            let count = min(pacer.allowance(at: now), all - sent)
            pacer.consume(count)
            sent += count
            let at = (now - Self.start).seconds
            if at >= Double(foretold.count) * 10, sent < all {
                foretold.append((at, try #require(pacer.seconds(for: Double(all - sent), at: now))))
            }
            now = now + pacer.wait(at: now) + .milliseconds(1)
        }
        let end = (now - Self.start).seconds
        #expect(foretold.count > 15)
        for point in foretold {
            // Within a tenth, and the fineness of one push.
            #expect(abs(end - point.at - point.end) <= (end - point.at) * 0.1 + 1.5 / pace.ratePerSecond + 0.1)
        }
    }

    @Test func aServiceThatIsSlowerThanThePaceIsToldApart() throws {
        var pacer = Pacer(Pace(ratePerSecond: 1_000), at: Self.start)
        var (now, sent) = (Self.start, 0)
        for _ in 0..<300 {
            // It takes 20 in a tenth of a second, however many are allowed.
            let count = min(pacer.allowance(at: now), 20)
            pacer.consume(count)
            sent += count
            now = now + .milliseconds(100)
        }
        #expect(abs(pacer.usage - 0.2) < 0.02)
        let left = try #require(pacer.seconds(for: 2_000, at: now))
        #expect(abs(left - 10) < 1)
        // A service that takes nothing has no end.
        for _ in 0..<20_000 {
            _ = pacer.allowance(at: now)
            now = now + .milliseconds(100)
        }
        #expect(pacer.seconds(for: 2_000, at: now) == nil)
    }
}
