// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Testing

@testable import RelayEngine

struct PoolMachineTests {
    private typealias Connections = PoolMachine.Connections

    private func at(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    // MARK: When to dial

    private func full(_ count: Int, streams: Int = 1000) -> Connections {
        Connections(usable: count, full: count, streams: count * streams, inFlight: count * streams)
    }

    private func reading(_ streams: Int, _ milliseconds: Int) -> ConnectionSearch.Reading {
        .init(streams: streams, latency: .milliseconds(milliseconds))
    }

    /// A pool whose service answers after 50 ms, with one connection that is full.
    private func late() -> PoolMachine {
        var pool = PoolMachine(maximumConnections: 16)
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
        pool.dialled()
        pool.proved()
        pool.considerFirst(reading(1, 50))
        return pool
    }

    @Test func oneConnectionAndOnlyOnDemand() {
        var pool = PoolMachine(maximumConnections: 2)
        #expect(pool.decide(queued: 0, Connections(), at: at(0)) == .nothing)
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
        #expect(pool.decide(queued: 100, Connections(), at: at(1)) == .nothing, "one is on its way")
        pool.dialled()
        #expect(pool.decide(queued: 99, Connections(usable: 1, full: 0), at: at(2)) == .nothing, "it is not full")
        #expect(pool.decide(queued: 1, full(1), at: at(2)) == .nothing, "nothing is known of its answers")
    }

    @Test func moreWhileAllAreFullAndTheRateRises() {
        var pool = late()
        #expect(!PoolMachine.isShort(queued: 0, full(1)), "nothing waits")
        #expect(!PoolMachine.isShort(queued: 1, Connections(usable: 2, full: 1)))
        #expect(PoolMachine.isShort(queued: 1, full(1)))
        pool.consider(reading(1000, 90), full(1), at: at(100))
        #expect(pool.decide(queued: 0, full(1), at: at(100)) == .nothing, "nothing waits")
        #expect(pool.decide(queued: 1, full(1), at: at(100)) == .dial(3))
        #expect(pool.decide(queued: 1, full(1), at: at(101)) == .nothing, "they are on their way")
        pool.consider(reading(1000, 90), full(1), at: at(101))
        for _ in 0..<3 { pool.dialled() }
        #expect(pool.decide(queued: 9000, full(4), at: at(150)) == .nothing, "not before it is known what they brought")
        // A connection that was lost is replaced, and nothing is judged before that.
        pool.consider(reading(3000, 500), full(3), at: at(160))
        #expect(pool.decide(queued: 9000, full(3), at: at(160)) == .dial(1))
        pool.dialled()
        pool.consider(reading(4000, 140), full(4), at: at(200))
        #expect(pool.decide(queued: 9000, full(4), at: at(200)) == .dial(4))
    }

    @Test func whatCannotBeDialledIsNotTriedAgainForAWhile() {
        var pool = late()
        pool.consider(reading(1000, 90), full(1), at: at(100))
        #expect(pool.decide(queued: 1, full(1), at: at(100)) == .dial(3))
        pool.dialled()
        pool.dialFailed(usable: 2, at: at(110), random: 0)
        pool.dialFailed(usable: 2, at: at(110), random: 0)
        pool.proved()
        #expect(pool.decide(queued: 1, full(2), at: at(5000)) == .nothing, "two are all that there are")
        #expect(pool.decide(queued: 1, full(1), at: at(5000)) == .dial(1), "and as many are kept up")
    }

    @Test func aConnectionThatTheServiceEndsAtOnceIsOneTooMany() {
        var pool = late()
        pool.consider(reading(1000, 90), full(1), at: at(100))
        #expect(pool.decide(queued: 1, full(1), at: at(100)) == .dial(3))
        for _ in 0..<3 { pool.dialled() }
        pool.retired(.died, .init(lost: 1), livedFor: .milliseconds(5), usable: 3, at: at(110), random: 0)
        #expect(pool.decide(queued: 1, full(3), at: at(5000)) == .nothing)
    }

    @Test func whoAsksForCalmGetsFewerConnections() {
        var pool = late()
        pool.consider(reading(1000, 90), full(1), at: at(100))
        #expect(pool.decide(queued: 1, full(1), at: at(100)) == .dial(3))
        for _ in 0..<3 { pool.dialled() }
        pool.retired(
            .goAway(isCalm: true), .init(delivered: 1), livedFor: .seconds(60), usable: 3, at: at(60_000), random: 0)
        #expect(pool.decide(queued: 1, full(3), at: at(90_000)) == .nothing, "two of four are enough")
    }

    @Test func surplusIsNobodysFailure() {
        var pool = late()
        let idle = Connections(usable: 4, streams: 4000)
        #expect(pool.surplus(idle, at: at(0)) == 0)
        #expect(pool.surplus(idle, at: at(600_000)) == 3)
        pool.retired(.surplus, .init(delivered: 1), livedFor: .seconds(1), at: at(600_000), random: 0)
        #expect(pool.setbacks == 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(600_000)) == .dial(1))
    }

    @Test func whoIsNotSlowedDownGetsThemAllAtOnce() {
        var pool = late()
        pool.consider(reading(1000, 54), full(1), at: at(110))
        #expect(pool.decide(queued: 1, full(1), at: at(110)) == .dial(15))
    }

    @Test func whatAVainStepBroughtIsRetired() {
        var pool = late()
        pool.consider(reading(1000, 54), full(1), at: at(110))
        #expect(pool.decide(queued: 1, full(1), at: at(110)) == .dial(15))
        for _ in 0..<15 { pool.dialled() }
        for _ in 0..<2 {
            #expect(pool.surplus(full(16), at: at(1000)) == 0)
            pool.consider(reading(16_000, 800), full(16), at: at(1000))
        }
        #expect(pool.surplus(full(16), at: at(1000)) == 13, "20,000 x 54 ms fit twice into three")
        for _ in 0..<13 {
            pool.retired(.surplus, .init(delivered: 1), livedFor: .seconds(1), usable: 15, at: at(1000), random: 0)
        }
        #expect(pool.surplus(full(3), at: at(1000)) == 0)
        #expect(pool.decide(queued: 1, full(3), at: at(1000)) == .nothing)
    }

    @Test func aReplacementIsDialledWhileTheLastStreamsEnd() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.retired(.goAway(isCalm: false), .init(delivered: 1), livedFor: .seconds(60), at: at(0), random: 0)
        #expect(pool.decide(queued: 0, Connections(inFlightOnRetired: 3), at: at(0)) == .dial(1))
        pool.dialled()
        #expect(pool.decide(queued: 0, Connections(usable: 1, inFlightOnRetired: 3), at: at(0)) == .nothing)
    }

    @Test func nothingIsDialledAfterStop() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.stop()
        #expect(pool.decide(queued: 5, Connections(), at: at(0)) == .nothing)
    }

    // MARK: Back-off

    @Test func failuresDoubleTheWaitUpToAMinute() {
        var pool = PoolMachine(maximumConnections: 1)
        var now: UInt64 = 0
        for (failure, seconds) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            #expect(pool.decide(queued: 1, Connections(), at: at(now)) == .dial(1))
            pool.dialFailed(at: at(now), random: 0)
            #expect(pool.failures == failure + 1)
            let next = now + UInt64(seconds) * 1000
            #expect(pool.decide(queued: 1, Connections(), at: at(next - 1)) == .wait(until: at(next)))
            now = next
        }
        // A connection alone is no recovery: only a good answer is.
        #expect(pool.decide(queued: 1, Connections(), at: at(now)) == .dial(1))
        pool.dialled()
        #expect(pool.failures == 8)
        pool.proved()
        #expect(pool.failures == 0)
    }

    @Test(arguments: [(1, 0.0, 1000), (1, 0.5, 1125), (3, 0.999, 4999), (7, 0.0, 60_000), (1000, 0.5, 67_500)])
    func jitterOnlyAdds(failures: Int, random: Double, milliseconds: Int) {
        let delay = PoolMachine.backOff(after: failures, random: random)
        #expect(abs(Int(delay.milliseconds) - milliseconds) <= 1)
    }

    @Test func aConnectionThatCameToNothingIsAFailure() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.retired(.died, .init(lost: 1), livedFor: .milliseconds(5), at: at(0), random: 0)
        #expect(pool.failures == 1)
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .wait(until: at(1000)))
    }

    @Test func beCalmMeansWait() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.retired(.goAway(isCalm: true), .init(delivered: 1), livedFor: .seconds(3600), at: at(0), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(999)) == .wait(until: at(1000)))
        #expect(pool.decide(queued: 1, Connections(), at: at(1000)) == .dial(1))
    }

    @Test func beCalmAgainAndAgainMeansWaitLonger() {
        var pool = PoolMachine(maximumConnections: 1)
        var now: UInt64 = 0
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
            pool.dialled()
            pool.proved()  // each connection takes a push or two before it asks for calm
            pool.retired(.goAway(isCalm: true), .init(delivered: 1), livedFor: .seconds(20), at: at(now), random: 0)
            #expect(pool.dialPause(at: at(now)) != nil && pool.setbacks > 0)
            now += seconds * 1000
            #expect(pool.decide(queued: 1, Connections(), at: at(now - 1)) == .wait(until: at(now)))
            #expect(pool.decide(queued: 1, Connections(), at: at(now)) == .dial(1))
        }
        pool.dialled()
        pool.proved()
        pool.retired(.goAway(isCalm: true), .init(delivered: 1), livedFor: .seconds(600), at: at(now), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(now)) == .wait(until: at(now + 1000)), "ten good minutes")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func aServerThatWasAwayIsFoundWithinAMinuteAndAQuarter(seed: UInt64) {
        // Down for a minute: no dial is sooner than the table allows, and the server is found soon afterwards.
        var random = SeededGenerator(seed: seed)
        var pool = PoolMachine(maximumConnections: 4)
        var now: UInt64 = 0
        var dials: [UInt64] = []
        while true {
            switch pool.decide(queued: 1, Connections(), at: at(now)) {
            case .dial:
                dials.append(now)
                if now >= 60_000 {
                    #expect(now < 60_000 + 32_000 * 5 / 4 + 1)
                    for (count, gap) in zip(dials, dials.dropFirst()).map({ $1 - $0 }).enumerated() {
                        #expect(gap >= 1000 << min(count, 5) && gap <= 1250 << count + 1)
                    }
                    return
                }
                pool.dialFailed(at: at(now), random: .random(in: 0..<1, using: &random))
            case .wait(let until): now = (until.nanoseconds + 999_999) / 1_000_000
            case .nothing:
                Issue.record("it must be dialled some day")
                return
            }
        }
    }

    @Test func goodConnectionsThatLiveShortlyAreForgivenThreeTimes() {
        var pool = PoolMachine(maximumConnections: 1)
        for _ in 0..<3 {
            pool.retired(.streamReset, .init(delivered: 1, lost: 1), livedFor: .seconds(1), at: at(0), random: 0)
            #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
            pool.dialled()
        }
        pool.retired(.streamReset, .init(delivered: 1, lost: 1), livedFor: .seconds(1), at: at(0), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .wait(until: at(1000)))
        pool.retired(.streamReset, .init(delivered: 1, lost: 1), livedFor: .seconds(1), at: at(1000), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(1000)) == .wait(until: at(3000)))
        // A connection that lives makes up for it.
        pool.retired(.goAway(isCalm: false), .init(delivered: 1), livedFor: .seconds(10), at: at(3000), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(3000)) == .dial(1))
    }

    @Test(arguments: [1, 10, 1000])
    func anOrderlyEndIsNoSetbackHoweverSoonItComes(pushes: Int) {
        var pool = PoolMachine(maximumConnections: 1)
        for end in 1...100 as ClosedRange<UInt64> {
            pool.retired(
                .goAway(isCalm: false), .init(delivered: pushes, taken: pushes), livedFor: .milliseconds(20),
                at: at(end * 20), random: 0)
            #expect(pool.decide(queued: 1, Connections(), at: at(end * 20)) == .dial(1))
            pool.dialled()
            pool.proved()
        }
        #expect(pool.setbacks == 0)
    }

    @Test func aConnectionThatDeliversMoreThanItLosesIsWorthAnother() {
        var pool = PoolMachine(maximumConnections: 1)
        for end in 1...10 as ClosedRange<UInt64> {
            pool.retired(
                .died, .init(delivered: 501, lost: 500, taken: 1001), livedFor: .milliseconds(20), at: at(end * 20),
                random: 0)
            #expect(pool.decide(queued: 1, Connections(), at: at(end * 20)) == .dial(1))
            pool.dialled()
        }
        for _ in 0..<4 {
            pool.retired(
                .died, .init(delivered: 500, lost: 500, taken: 1000), livedFor: .milliseconds(20), at: at(1000),
                random: 0)
        }
        #expect(pool.decide(queued: 1, Connections(), at: at(1000)) == .wait(until: at(2000)))
    }

    @Test func whatTheServerGaveBackOrCutOffIsNotOfferedAgain() {
        var pool = PoolMachine(maximumConnections: 1)
        func end(answered: Int, givenBack: Int = 0, cutOff: Int = 0) {
            pool.retired(
                cutOff > 0 ? .died : .goAway(isCalm: false),
                .init(
                    delivered: answered, answered: answered, lost: cutOff, cutOff: cutOff, taken: answered + cutOff,
                    givenBack: givenBack, width: 1000),
                livedFor: .seconds(1), at: at(0), random: 0)
        }
        end(answered: 5000)
        #expect(pool.expectedRequests == nil, "it may have been given no more")
        end(answered: 10, givenBack: 990)
        #expect(pool.expectedRequests == 10)
        end(answered: 10)
        #expect(pool.expectedRequests == 10, "as expected")
        end(answered: 4, givenBack: 6)
        #expect(pool.expectedRequests == 4)
        end(answered: 0, givenBack: 4)
        #expect(pool.expectedRequests == 1)
        end(answered: 70)
        #expect(pool.expectedRequests == nil, "it took more than that")
        end(answered: 32, cutOff: 18)
        #expect(pool.expectedRequests == 32)
        pool.outlived()
        #expect(pool.expectedRequests == nil)
    }

    @Test func whereAServerCutsIsNotFoundOutByEachConnection() {
        var pool = PoolMachine(maximumConnections: 1)
        func cut(answered: Int) {
            pool.retired(
                .died,
                .init(delivered: answered, answered: answered, lost: 6, cutOff: 6, taken: answered + 6, width: 1000),
                livedFor: .seconds(1), at: at(0), random: 0)
        }
        /// The number of connections that do not go beyond before one does.
        func careful() -> Int {
            var count = 0
            while count < 100, !pool.goesBeyond() { count += 1 }
            return count
        }
        #expect(careful() == 0)
        for answered in [1, 32, 44] {
            cut(answered: answered)
            #expect(careful() == 0, "not known yet")
        }
        for count in [1, 2, 4, 8, 16, 32, 64, 64] {
            cut(answered: 48)
            #expect(careful() == count)
        }
        cut(answered: 20)
        #expect(careful() == 0 && pool.expectedRequests == 20, "it is no rule")
        pool.retired(.spent, .init(delivered: 20, answered: 20, taken: 20), livedFor: .seconds(1), at: at(0), random: 0)
        #expect(pool.setbacks == 0 && pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
    }

    @Test func whoseConnectionsAreShortLivedGetsAsManyAsCarryWhatOneWould() {
        var pool = PoolMachine(maximumConnections: 4)
        pool.retired(
            .died, .init(delivered: 500, answered: 500, lost: 99, cutOff: 99, taken: 599, width: 1000),
            livedFor: .seconds(1), at: at(0), random: 0)
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
        pool.dialled()
        #expect(pool.decide(queued: 1, Connections(usable: 1, ready: 1), at: at(0)) == .nothing, "it takes more")
        #expect(pool.decide(queued: 1, Connections(usable: 1), at: at(0)) == .dial(1), "it has what is expected of it")
        #expect(pool.decide(queued: 1, Connections(usable: 1), at: at(0)) == .nothing, "one after the other")
        pool.dialled()
        #expect(pool.decide(queued: 1, Connections(usable: 2), at: at(0)) == .nothing, "two times 500 are 1000")
        pool.outlived()
        #expect(pool.decide(queued: 1, Connections(usable: 1), at: at(0)) == .nothing)
    }

    @Test func whatEndsIsWaitedForBeforeManyMoreAreDialled() {
        var pool = PoolMachine(maximumConnections: 1)
        #expect(pool.decide(queued: 1, Connections(ending: 4, inFlightOnRetired: 4), at: at(0)) == .nothing)
        #expect(pool.decide(queued: 1, Connections(ending: 3, inFlightOnRetired: 3), at: at(0)) == .dial(1))
    }

    @Test func whatEndsTogetherIsOneSetback() {
        var pool = PoolMachine(maximumConnections: 16)
        for _ in 0..<16 {
            pool.retired(.died, .init(delivered: 1, lost: 1), livedFor: .seconds(1), at: at(0), random: 0)
        }
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .wait(until: at(1000)))
        for _ in 0..<16 { pool.dialFailed(at: at(1000), random: 0) }
        #expect(pool.failures == 1)
        #expect(pool.decide(queued: 1, Connections(), at: at(1000)) == .wait(until: at(2000)))
    }

    @Test func refusalsAreJudgedByWhatWasDelivered() {
        var pool = PoolMachine(maximumConnections: 1)
        for _ in 0..<10 {
            pool.retired(
                .goAway(isCalm: false), .init(delivered: 60, answered: 60, refused: 10, taken: 60),
                livedFor: .seconds(1), at: at(0), random: 0)
            #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .dial(1))
            pool.dialled()
        }
        for _ in 0..<4 {
            pool.retired(
                .refuses, .init(delivered: 1, answered: 1, refused: 8, taken: 1), livedFor: .seconds(1), at: at(0),
                random: 0)
        }
        #expect(pool.decide(queued: 1, Connections(), at: at(0)) == .wait(until: at(1000)))
    }

    @Test func ourOwnStopIsNobodysFailure() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.retired(.stopped, .init(lost: 1), livedFor: .zero, at: at(0), random: 0)
        #expect(pool.failures == 0)
    }
}
