// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct BelievedClockTests {
    private let start = Moment(wall: Timestamp(seconds: 1_800_000_000), tick: MonotonicTime(nanoseconds: 5_000_000_000))

    /// The clock for expectations, which call no mutating members.
    private final class Subject {
        private var clock = BelievedClock()

        func read(_ moment: Moment) -> Moment { clock.read(moment) }
    }

    private func moment(after time: Duration, setBy error: Duration = .zero) -> Moment {
        let right = start + time
        return Moment(wall: right.wall + error, tick: right.tick)
    }

    @Test func aClockThatIsSetForAMomentChangesNothing() {
        let clock = Subject()
        #expect(clock.read(start) == start)
        for error in [Duration.seconds(8 * 86_400), .zero - .seconds(7_200)] {
            #expect(clock.read(moment(after: .seconds(10), setBy: error)) == moment(after: .seconds(10)))
            #expect(
                clock.read(moment(after: .milliseconds(10_500), setBy: error)) == moment(after: .milliseconds(10_500)))
            #expect(clock.read(moment(after: .seconds(11))) == moment(after: .seconds(11)))
        }
    }

    @Test func aClockThatStaysSetIsBelievedAfterAMinute() {
        let clock = Subject()
        _ = clock.read(start)
        let error = Duration.seconds(3_600)
        #expect(clock.read(moment(after: .seconds(5), setBy: error)) == moment(after: .seconds(5)))
        #expect(clock.read(moment(after: .seconds(64), setBy: error)) == moment(after: .seconds(64)))
        #expect(clock.read(moment(after: .seconds(65), setBy: error)) == moment(after: .seconds(65), setBy: error))
        #expect(clock.read(moment(after: .seconds(70))) == moment(after: .seconds(70), setBy: error), "and set right")
        #expect(clock.read(moment(after: .seconds(130))) == moment(after: .seconds(130)))
    }

    @Test func aClockThatIsSetAgainHasToStandAMinuteAgain() {
        let clock = Subject()
        _ = clock.read(start)
        _ = clock.read(moment(after: .seconds(5), setBy: .seconds(3_600)))
        #expect(clock.read(moment(after: .seconds(60), setBy: .seconds(7_200))) == moment(after: .seconds(60)))
        #expect(clock.read(moment(after: .seconds(66), setBy: .seconds(7_200))) == moment(after: .seconds(66)))
    }

    @Test func aClockThatIsSlewedIsFollowed() {
        let clock = Subject()
        _ = clock.read(start)
        for second in 1...100 {
            let slewed = moment(after: .seconds(second), setBy: .seconds(second * 30))
            #expect(clock.read(slewed) == slewed)
        }
    }
}
