// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

@Suite struct OutageHoldTests {
    private typealias Answers = OutageHold.Answers

    private static let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

    /// A hold and its batches, one after the other, each answered at once.
    private final class Bench {
        var hold = OutageHold()
        var now = start
        var nextTag = 0

        /// nil where nothing may leave.
        func batch(
            good: Int = 0, failed: Int = 0, repeated: Int = 0, retryAfter: Duration? = nil
        ) -> OutageHold.Change? {
            if case .closed = hold.leave(at: now) { return nil }
            let tag = nextTag
            nextTag += 1
            hold.left(tag: tag)
            let change = hold.answered(
                Answers(good: good, failed: failed, repeated: repeated, retryAfter: retryAfter), tag: tag,
                nextTag: nextTag, at: now, random: 0)
            hold.ended(tag: tag, at: now)
            return change
        }
    }

    // MARK: When it begins

    @Test(arguments: [
        (good: 0, failed: 20, holds: true),
        (good: 0, failed: 19, holds: false),
        (good: 1, failed: 29, holds: true),
        (good: 1, failed: 28, holds: false),
        (good: 100, failed: 900, holds: false),
        (good: 100, failed: 920, holds: true),
        (good: 1_980, failed: 20, holds: false),
        (good: 1_000, failed: 1_000, holds: false),
        (good: 64, failed: 0, holds: false),
    ])
    func judgesABatch(good: Int, failed: Int, holds: Bool) {
        let bench = Bench()
        let change = bench.batch(good: good, failed: failed)
        #expect(change == (holds ? .began(until: Self.start + .seconds(10)) : .nothing))
        #expect(bench.hold.isHeld == holds)
    }

    /// Pushes that fail for their own reasons come back together, like a batch that fails as a whole.
    @Test func pushesThatFailAgainBeginNoHoldAndGoOnWithOne() {
        let bench = Bench()
        for _ in 0..<10 { #expect(bench.batch(failed: 500, repeated: 500) == .nothing) }
        #expect(bench.batch(failed: 519, repeated: 500) == .nothing)
        #expect(bench.batch(failed: 501, repeated: 500) == .began(until: bench.now + .seconds(10)))
        bench.now = bench.now + .seconds(10)
        #expect(bench.batch(failed: 8, repeated: 8) == .goesOn(until: bench.now + .seconds(20)))
    }

    @Test func batchesOfOnePushAddUp() {
        let bench = Bench()
        for _ in 0..<19 { #expect(bench.batch(failed: 1) == .nothing) }
        #expect(bench.batch(failed: 1) == .began(until: Self.start + .seconds(10)))
    }

    @Test func aGoodAnswerAmongThemBeginsTheRunAnew() {
        let bench = Bench()
        for _ in 0..<9 { #expect(bench.batch(failed: 1) == .nothing) }
        #expect(bench.batch(good: 1) == .nothing)
        for _ in 0..<19 { #expect(bench.batch(failed: 1) == .nothing) }
        #expect(bench.batch(failed: 1) != .nothing)
    }

    @Test func aServiceThatFailsNowAndThenIsNeverLeftAlone() {
        let bench = Bench()
        for number in 0..<100_000 {
            #expect(bench.batch(good: number % 2, failed: 1 - number % 2) == .nothing)
        }
        #expect(bench.hold.leave(at: bench.now) == .open)
    }

    @Test func whatHadNoAnswerSaysNothing() {
        let bench = Bench()
        for _ in 0..<1_000 { #expect(bench.batch() == .nothing) }
        #expect(bench.hold.leave(at: bench.now) == .open)
    }

    // MARK: While it lasts

    /// The pushes that a service gets in an hour of outage from a campaign that begins in it, without jitter.
    @Test func anHourOfOutageCostsFewPushes() {
        let bench = Bench()
        #expect(bench.batch(failed: 64) != .nothing)
        var pauses: [Duration] = []
        while bench.now < Self.start + .seconds(3_600) {
            guard case .closed(let until?) = bench.hold.leave(at: bench.now) else {
                Issue.record("it waits")
                return
            }
            #expect(bench.batch(failed: 8) == nil, "nothing leaves before \(until)")
            pauses.append(until - bench.now)
            bench.now = until
            #expect(bench.hold.leave(at: bench.now) == .probe)
            guard case .goesOn = bench.batch(failed: 8) else {
                Issue.record("a probe in vain")
                return
            }
        }
        #expect(pauses.prefix(6).map(\.milliseconds) == [10, 20, 40, 80, 160, 300].map { $0 * 1000 })
        #expect(pauses.dropFirst(5).allSatisfy { $0 == .seconds(300) })
        #expect(64 + pauses.count * OutageHold.probeSize == 64 + 16 * 8)
    }

    @Test func oneProbeAtATime() {
        var hold = OutageHold()
        _ = hold.answered(Answers(good: 0, failed: 64), tag: 0, nextTag: 1, at: Self.start, random: 0)
        let due = Self.start + .seconds(10)
        #expect(hold.leave(at: Self.start + .milliseconds(9_999)) == .closed(until: due))
        #expect(hold.leave(at: due) == .probe)
        hold.left(tag: 1)
        #expect(hold.leave(at: due + .seconds(3_600)) == .closed(until: nil))
        #expect(hold.until == due)
    }

    @Test func jitterAddsAQuarterAndTakesNothingAway() {
        for random in [0, 0.5, 0.999] {
            var hold = OutageHold()
            let change = hold.answered(
                Answers(good: 0, failed: 64), tag: 0, nextTag: 1, at: Self.start, random: random)
            #expect(change == .began(until: Self.start + .milliseconds(10_000 + Int64(random * 2_500))))
        }
    }

    @Test(
        arguments: [
            (seconds: 1, wait: 10), (120, 120), (3_600, 3_600), (9_999_999, 3_600),
        ] as [(Int64, Int64)])
    func aLongerRetryAfterIsObeyed(seconds: Int64, wait: Int64) {
        let bench = Bench()
        let change = bench.batch(failed: 64, retryAfter: .seconds(seconds))
        #expect(change == .began(until: Self.start + .seconds(wait)))
        bench.now = Self.start + .seconds(wait)
        let next = bench.batch(failed: 8, retryAfter: .seconds(seconds))
        #expect(next == .goesOn(until: bench.now + .seconds(max(20, wait))))
    }

    @Test func whatLeftBeforeSaysNothing() {
        var hold = OutageHold()
        for tag in 0..<16 { hold.left(tag: tag) }
        _ = hold.answered(Answers(good: 0, failed: 64), tag: 3, nextTag: 16, at: Self.start, random: 0)
        for tag in 0..<16 where tag != 3 {
            let change = hold.answered(
                Answers(good: tag % 2 * 2_000, failed: 2_000), tag: tag, nextTag: 16, at: Self.start, random: 0)
            #expect(change == .nothing)
        }
        #expect(hold.until == Self.start + .seconds(10))
        // Nor after it ended.
        hold.left(tag: 16)
        let ended = hold.answered(
            Answers(good: 8, failed: 0), tag: 16, nextTag: 17, at: Self.start + .seconds(10), random: 0)
        #expect(ended == .ended(heldFor: .seconds(10)))
        let late = hold.answered(
            Answers(good: 0, failed: 2_000), tag: 15, nextTag: 17, at: Self.start + .seconds(11), random: 0)
        #expect(late == .nothing && !hold.isHeld)
    }

    @Test func aProbeWithoutAnAnswerIsFollowedByAnother() {
        var hold = OutageHold()
        _ = hold.answered(Answers(good: 0, failed: 64), tag: 0, nextTag: 1, at: Self.start, random: 0)
        let due = Self.start + .seconds(10)
        hold.left(tag: 1)
        hold.ended(tag: 0, at: due)
        #expect(hold.leave(at: due) == .closed(until: nil), "another batch ended")
        hold.ended(tag: 1, at: due)
        #expect(hold.leave(at: due) == .closed(until: due + .seconds(10)), "not doubled: nothing was found out")
    }

    // MARK: How it ends

    @Test(arguments: [(good: 8, failed: 0), (good: 1, failed: 7)])
    func theFirstGoodAnswersEndIt(good: Int, failed: Int) {
        let bench = Bench()
        _ = bench.batch(failed: 64)
        bench.now = bench.now + .seconds(10)
        #expect(bench.batch(good: good, failed: failed) == .ended(heldFor: .seconds(10)))
        #expect(bench.hold.leave(at: bench.now) == .open)
        #expect(bench.hold.until == nil)
    }

    /// Each rush fails, each probe succeeds.
    @Test func aServiceThatFallsOverAgainIsAskedMoreRarely() {
        let bench = Bench()
        var pauses: [Duration] = []
        for _ in 0..<8 {
            guard case .began(let until) = bench.batch(failed: 64) else {
                Issue.record("it is held again")
                return
            }
            pauses.append(until - bench.now)
            bench.now = until
            guard case .ended = bench.batch(good: 8) else {
                Issue.record("and open again")
                return
            }
        }
        #expect(pauses.map(\.milliseconds) == [10, 20, 40, 80, 160, 300, 300, 300].map { $0 * 1000 })
        // After a sample of good answers the next pause is short again.
        #expect(bench.batch(good: 12) == .nothing)
        #expect(bench.batch(failed: 1_000) == .began(until: bench.now + .seconds(10)))
    }
}
