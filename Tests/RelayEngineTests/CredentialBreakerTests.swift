// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

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
        let verdict = breaker.answered(accepted: accepted, badTokens: bad)
        #expect(verdict == trips)
        #expect(breaker.isTripped == trips)
    }

    @Test func smallBatchesAddUp() {
        var breaker = CredentialBreaker()
        let verdicts = (0..<20).map { _ in breaker.answered(accepted: 0, badTokens: 1) }
        #expect(verdicts == Array(repeating: false, count: 19) + [true])
        let later = breaker.answered(accepted: 100, badTokens: 0)
        #expect(later, "it stays tripped")
    }

    @Test func aHealthyBeginningIsTrustedForGood() {
        var breaker = CredentialBreaker()
        let verdicts = [
            breaker.answered(accepted: 20, badTokens: 0), breaker.answered(accepted: 0, badTokens: 5_000),
        ]
        #expect(verdicts == [false, false])
    }
}
