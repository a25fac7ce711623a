// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct RateMeterTests {
    private let start = Timestamp(seconds: 50)

    @Test func nothingHappenedYet() {
        #expect(RateMeter().perSecond(at: start) == 0)
    }

    @Test func countsOverTheTimeSinceTheFirstEvent() {
        var meter = RateMeter()
        meter.add(100, at: start)
        meter.add(100, at: start + .seconds(1))
        #expect(meter.perSecond(at: start + .seconds(2)) == 100)
    }

    @Test func forgetsWhatIsOlderThanFiveSeconds() {
        var meter = RateMeter()
        meter.add(1_000, at: start)
        meter.add(50, at: start + .seconds(8))
        #expect(meter.perSecond(at: start + .seconds(10)) == 10)
        #expect(meter.perSecond(at: start + .seconds(20)) == 0)
    }

    @Test(arguments: [0.1, 0.5, 1, 3, 7])
    func aSlowPaceIsToldWithinATenth(pace: Double) {
        var meter = RateMeter(pace: pace)
        let gap = Int64(1000 / pace)
        for number in 0..<40 {
            let time = start + .milliseconds(Int64(number) * gap)
            meter.add(1, at: time)
            guard number >= 3 else { continue }
            for part in 0..<10 {
                let rate = meter.perSecond(at: time + .milliseconds(gap * Int64(part) / 10))
                #expect(abs(rate - pace) <= pace * 0.1)
            }
        }
        let last = start + .milliseconds(39 * gap)
        #expect(meter.perSecond(at: last + .milliseconds(10 * gap)) < pace * 0.9, "it broke off")
        #expect(meter.perSecond(at: last + .milliseconds(30 * gap) + .seconds(5)) == 0)
    }
}
