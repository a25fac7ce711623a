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
}
