// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

@Suite struct CredentialBreakerTests {
    @Test(arguments: [
        (accepted: 0, bad: 20, trips: true),
        (accepted: 4, bad: 16, trips: true),
        (accepted: 5, bad: 15, trips: false),
        (accepted: 0, bad: 19, trips: false),
        (accepted: 60, bad: 4, trips: false),
    ])
    func judgesTheBeginning(accepted: Int, bad: Int, trips: Bool) {
        var breaker = CredentialBreaker()
        let verdict = breaker.answered(.init(accepted: accepted, refused: bad))
        #expect(verdict == trips)
        #expect((breaker.trip != nil) == trips)
    }

    @Test func smallBatchesAddUp() {
        var breaker = CredentialBreaker()
        let verdicts = (0..<20).map { _ in breaker.answered(.init(accepted: 0, refused: 1)) }
        #expect(verdicts == Array(repeating: false, count: 19) + [true])
        let later = breaker.answered(.init(accepted: 100, refused: 0))
        #expect(later, "it stays tripped")
    }

    @Test func aHealthyBeginningIsTrustedForGood() {
        var breaker = CredentialBreaker()
        let verdicts = [
            breaker.answered(.init(accepted: 20, refused: 0)), breaker.answered(.init(accepted: 0, refused: 5_000)),
        ]
        #expect(verdicts == [false, false])
    }

    @Test func itSaysWhatItTrippedOn() {
        var breaker = CredentialBreaker()
        _ = breaker.answered(.init(accepted: 1, refused: 9))
        #expect(breaker.isWatching)
        _ = breaker.answered(.init(accepted: 1, refused: 19))
        #expect(breaker.trip == CredentialBreaker.Trip(.refused, pushes: 28, of: 30))
        #expect(!breaker.isWatching)
    }

    /// After a restart the breaker watches again, and the rest of a good fan-out may be mostly bad tokens.
    @Test func aCampaignThatHasDeliveredIsJudgedByMore() {
        var corner = CredentialBreaker(delivered: 5_000)
        let cornered = corner.answered(.init(accepted: 0, refused: 99))
        #expect(!cornered)
        var wrong = CredentialBreaker(delivered: 5_000)
        let tripped = [
            wrong.answered(.init(accepted: 0, refused: 64)), wrong.answered(.init(accepted: 0, refused: 500)),
        ]
        #expect(tripped == [false, true], "a key that was exchanged for a wrong one")
    }

    // MARK: Faults

    private func trips(_ batches: [CredentialBreaker.Answers], delivered: Int64 = 0) -> [Bool] {
        var breaker = CredentialBreaker(delivered: delivered)
        return batches.map { breaker.answered($0) }
    }

    @Test func aBadCredentialIsNoticedByItsFirstAnswer() {
        #expect(trips([.init(faults: 1)]) == [true])
        #expect(trips([.init(accepted: 1, faults: 1)]) == [true])
    }

    @Test func whatOneDeviceGetsSaysNothingOfTheCredential() {
        #expect(
            trips([.init(accepted: 2, faults: 1), .init(accepted: 500), .init(faults: 1)]) == [false, false, false])
        #expect(
            trips([.init(faults: 1), .init(faults: 1), .init(faults: 1)], delivered: 5_000) == [false, false, true])
    }

    @Test func aCredentialThatIsRevokedIsNoticedWithinABatch() {
        #expect(
            trips([.init(accepted: 64), .init(accepted: 500), .init(accepted: 300, faults: 200)])
                == Array(repeating: false, count: 3))
        #expect(
            trips([.init(accepted: 500), .init(accepted: 400, faults: 100), .init(faults: 500)]) == [
                false, false, true,
            ])
        #expect(trips([.init(accepted: 500), .init(faults: 20)]) == [false, true])
    }

    @Test func aFaultIsInDoubtUntilABatchHasNone() {
        var breaker = CredentialBreaker()
        _ = breaker.answered(.init(accepted: 63, faults: 1))
        #expect(breaker.isInDoubt && !breaker.isWatching)
        _ = breaker.answered(.init(accepted: 500))
        #expect(!breaker.isInDoubt)
    }

    // MARK: Seeds

    /// In any order and any batches, a share of 2 % never trips it, nor do bad tokens after a good beginning; refusals alone
    /// always do, within one batch after its sample.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func overSeeds(seed: UInt64) {
        var (share, late, wrong) = (CredentialBreaker(), CredentialBreaker(), CredentialBreaker())
        _ = late.answered(.init(accepted: CredentialBreaker.sample, refused: Int(seed % 6)))
        var (shareTrips, lateTrips) = (0, 0)
        var seen = 0
        for batch in 0..<200 as Range<UInt64> {
            let size = 1 + Int(Self.share(of: seed, batch) * 500)
            let bad = (0..<UInt64(size)).count { Self.share(of: seed, batch * 1_000 + $0) < 0.02 }
            shareTrips += share.answered(.init(accepted: size - bad, refused: bad)) ? 1 : 0
            lateTrips += late.answered(.init(accepted: 0, refused: size)) ? 1 : 0
            seen += size
            let isTripped = wrong.answered(.init(accepted: 0, refused: size))
            #expect(isTripped == (seen >= CredentialBreaker.sample))
        }
        #expect(shareTrips == 0)
        #expect(lateTrips == 0)
    }

    /// From 0 up to 1, the same for the same numbers: Fibonacci hashing (Knuth, volume 3, 6.4).
    private static func share(of seed: UInt64, _ number: UInt64) -> Double {
        let mixed = (seed &* 1_000_003 &+ number) &* 0x9E37_79B9_7F4A_7C15
        return Double((mixed ^ mixed >> 29) >> 11) / Double(1 << 53 as UInt64)
    }
}
