// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// One pace for all services that share it.
@Suite struct SharedPacerTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// Each service sends all that it may, every `step`. Returns what each has sent after so many seconds.
    private func send(
        _ services: [String], rate: Double, seconds: Int, step: Duration = .milliseconds(1), most: Int = .max
    ) -> [String: Int] {
        var pacer = SharedPacer(Pace(ratePerSecond: rate), at: start)
        var sent: [String: Int] = [:]
        var now = start
        while now < start + .seconds(seconds) {
            for service in services {
                let pushes = min(pacer.allowance(for: service, at: now).pushes, most)
                pacer.consume(pushes, by: service)
                sent[service, default: 0] += pushes
            }
            now = now + step
        }
        return sent
    }

    @Test(arguments: [0.5, 2, 100, 10_000])
    func theRateIsTheAppsHoweverManySendAndTheyTakeTurns(rate: Double) {
        let expected = rate * 60
        for services in [["one"], ["one", "two"], ["one", "two", "three"]] {
            let sent = send(services, rate: rate, seconds: 60)
            let all = Double(sent.values.reduce(0, +))
            #expect(all >= expected * 0.97 - 1 && all <= expected * 1.01 + 2, "\(services): \(sent)")
            let fair = expected / Double(services.count)
            #expect(sent.values.allSatisfy { Double($0) >= fair * 0.7 - 2 }, "\(services): \(sent)")
        }
    }

    /// A service with nothing to send does not ask, and keeps no other one waiting.
    @Test func whoAskedOnceAndNeverAgainKeepsNobodyWaiting() {
        var pacer = SharedPacer(Pace(ratePerSecond: 100), at: start)
        pacer.consume(1, by: "one")
        #expect(pacer.allowance(for: "two", at: start).pushes == 0)
        var now = start
        var sent = 0
        for _ in 0..<10_000 {
            now = now + .milliseconds(1)
            let pushes = pacer.allowance(for: "one", at: now).pushes
            pacer.consume(pushes, by: "one")
            sent += pushes
        }
        #expect((990...1_011).contains(sent), "\(sent) in ten seconds")
    }

    /// Asked in vain, it keeps its place until it has sent.
    @Test func aServiceThatSentNothingKeepsItsPlace() {
        var pacer = SharedPacer(Pace(ratePerSecond: 100), at: start)
        pacer.consume(1, by: "one")
        for service in ["one", "two"] { #expect(pacer.allowance(for: service, at: start).pushes == 0) }
        pacer.consume(0, by: "one")
        let later = start + .milliseconds(25)
        #expect(pacer.allowance(for: "two", at: later).pushes == 0, "\"one\" asked first")
        #expect(pacer.allowance(for: "one", at: later).pushes > 0)
        pacer.consume(0, by: "one")
        pacer.consume(1, by: "three")
        #expect(pacer.allowance(for: "two", at: later).pushes == 0, "the turn is still its own")
    }
}
