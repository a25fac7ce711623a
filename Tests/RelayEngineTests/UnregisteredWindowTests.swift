// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// FAULTS 1.14: a service that calls living tokens dead costs none of them, at whatever point it begins to.
@Suite struct UnregisteredWindowTests {
    /// Takes the batches until one trips: the tokens that were retired, the trip, and the window after it.
    private func run(
        _ batches: [(good: Int, dead: Range<Int>)], limit: Double?
    ) -> (retired: [Int], trip: CredentialBreaker.Trip?, window: UnregisteredWindow<Int>) {
        var window = UnregisteredWindow<Int>()
        var retired: [Int] = []
        for batch in batches {
            let verdict = window.take(
                answers: batch.good + batch.dead.count, unregistered: batch.dead.count, retirements: Array(batch.dead),
                limit: limit)
            switch verdict {
            case .released(let released): retired += released
            case .tripped(let trip): return (retired, trip, window)
            }
        }
        return (retired, nil, window)
    }

    @Test(arguments: [(nil, 0.8), (0.0, 0.3), (0.05, 0.3), (0.1, 0.4), (0.5, 0.8)] as [(Double?, Double)])
    func farAboveWhatWasSeenIsSuspect(seen: Double?, limit: Double) {
        #expect(CredentialBreaker.unregisteredLimit(seen: seen) == limit)
        let share = Int(limit * 100)
        #expect(run([(100 - share, 0..<share)], limit: limit).trip?.pushes == share)
        #expect(run([(101 - share, 0..<share - 1)], limit: limit).trip == nil)
    }

    @Test func smallBatchesCostNoToken() {
        // A pace of one push a batch: at the twentieth it trips, and nothing was retired before.
        let end = run((0..<100).map { (0, $0..<$0 + 1) }, limit: 0.8)
        #expect(end.trip == CredentialBreaker.Trip(.unregistered, pushes: 20, of: 20) && end.retired.isEmpty)
    }

    @Test(arguments: [1, 3, 50, 2000])
    func itIsJudgedAfterAGoodBeginning(batch: Int) {
        let good = (0..<500).map { _ in (batch, 0..<0) }
        let dead = (0..<500).map { (0, $0 * batch..<($0 + 1) * batch) }
        let end = run(good + dead, limit: 0.8)
        #expect(end.trip != nil && end.retired.isEmpty)
    }

    @Test func aTokenIsRetiredOnceTwentyAnswersHaveComeAfterIt() {
        var end = run([(9, 0..<1), (10, 0..<0), (9, 0..<0)], limit: 0.8)
        #expect(end.retired.isEmpty && end.trip == nil)
        end = run([(9, 0..<1), (10, 0..<0), (10, 0..<0)], limit: 0.8)
        #expect(end.retired == [0])
    }

    @Test func whoIsTakenAgainIsNotRetired() {
        var window = run([(9, 0..<2), (9, 2..<3)], limit: 0.8).window
        #expect(window.kept == [0, 1, 2])
        window.drop({ Int64($0) }) { $0.intersection([1]) }
        #expect(window.kept == [0, 2] && window.end() == [0, 2])
        // All of the last 60 are dead, and none of them is believed yet.
        window = run([(20, 0..<0), (0, 0..<10), (0, 10..<60)], limit: 0.8).window
        window.drop({ Int64($0) }) { $0.filter { $0 < 50 } }
        #expect(window.kept == Array(50..<60))
    }

    @Test func nobodyIsRetiredBeforeManyDeadOnesThatOnlyGoodOnesBeforeThemExcuse() {
        // 60 of 80 are dead, and all of the last 60.
        let beginning = [(20, 0..<0), (0, 0..<10), (0, 10..<60)]
        var end = run(beginning + [(0, 60..<80)], limit: 0.8)
        #expect(end.trip?.pushes == 70 && end.retired.isEmpty)
        end = run(beginning, limit: 0.8)
        #expect(end.retired.isEmpty && end.window.end().isEmpty)
        #expect(run(beginning + [(20, 0..<0)], limit: 0.8).retired == Array(0..<60), "the service was right, after all")
    }

    @Test func whatALifeOfTheProcessLeavesToTheNextCounts() {
        func next(_ window: UnregisteredWindow<Int>, _ good: Int, _ dead: Range<Int>) -> (trip: Bool, retired: [Int]) {
            var window = UnregisteredWindow<Int>(window.memory)
            #expect(window.kept.isEmpty)
            let verdict = window.take(
                answers: good + dead.count, unregistered: dead.count, retirements: Array(dead), limit: 0.8)
            guard case .released(let released) = verdict else { return (true, []) }
            return (false, released + window.end())
        }
        // 15 dead ones before the restart, 5 after it; and 4.
        let few = run([(0, 0..<15)], limit: 0.8).window
        #expect(few.memory == JudgedAnswers(answers: 15, against: 15))
        #expect(next(few, 0, 15..<20) == (true, []))
        #expect(next(few, 0, 15..<19) == (false, Array(15..<19)))
        // A service that has tripped is believed again after twenty answers.
        let tripped = run([(0, 0..<20)], limit: 0.8).window
        #expect(tripped.memory == JudgedAnswers(isSuspect: true))
        #expect(next(tripped, 0, 20..<25) == (false, []))
        var window = UnregisteredWindow<Int>(tripped.memory)
        _ = window.take(answers: 20, unregistered: 1, retirements: [25], limit: 0.8)
        #expect(!window.isSuspect && window.memory == JudgedAnswers())
        // Answers that were judged sane leave nothing behind, and good answers from before the dead ones excuse nothing.
        #expect(run([(20, 0..<40)], limit: 0.8).window.memory == JudgedAnswers())
        #expect(
            run([(20, 0..<1), (0, 1..<3), (2, 3..<16)], limit: 0.8).window.memory
                == JudgedAnswers(answers: 17, against: 15))
    }

    @Test func whatIsLeftAtTheEndIsRetired() {
        var window = run([(2, 0..<1), (0, 1..<3)], limit: 0.8).window
        #expect(window.end() == [0, 1, 2])
        #expect(window.end().isEmpty)
    }

    @Test(arguments: [20, 50, 2000])
    func aLastBatchThatIsAllDeadCostsNoToken(batch: Int) {
        // Half of the answers, with the good batch before it.
        var end = run([(batch, 0..<0), (0, 0..<batch)], limit: 0.8)
        #expect(end.trip == nil && end.retired.isEmpty && end.window.end().isEmpty)
        end = run([(batch, 0..<0), (batch, 0..<batch)], limit: 0.8)
        #expect(end.window.end() == Array(0..<batch), "half of them are dead")
    }

    @Test func afterATripNothingIsRetiredBeforeTwentyGoodAnswers() {
        var window = run([(0, 0..<20)], limit: 0.8).window
        _ = window.take(answers: 1, unregistered: 1, retirements: [20], limit: 0.8)
        #expect(window.end().isEmpty, "of another campaign")
        _ = window.take(answers: 20, unregistered: 1, retirements: [21], limit: 0.8)
        #expect(window.end().isEmpty, "it was suspect still when it said so")
        _ = window.take(answers: 20, unregistered: 1, retirements: [22], limit: 0.8)
        #expect(window.end() == [22])
    }

    @Test func whatTrippedInAnEarlierLifeOfTheProcessIsSuspectStill() {
        var window = UnregisteredWindow<Int>(JudgedAnswers(isSuspect: true))
        _ = window.take(answers: 19, unregistered: 19, retirements: Array(0..<19), limit: 0.8)
        #expect(window.end().isEmpty, "too few to be judged")
        _ = window.take(answers: 20, unregistered: 1, retirements: [19], limit: 0.8)
        _ = window.take(answers: 20, unregistered: 1, retirements: [20], limit: 0.8)
        #expect(window.end() == [20])
    }

    @Test func whoResumedItAccepts() {
        let end = run([(0, 0..<500), (0, 500..<510)], limit: nil)
        #expect(end.trip == nil && end.retired == Array(0..<510))
    }
}
