// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// The other environment's answers to tokens that a device's own called bad are judged as that service's.
@Suite struct SecondTrySettlementTests {
    private let now = Timestamp(milliseconds: 1_795_000_000_000)

    /// A batch: the own environment took `good` and called the rest bad, and the other one answered those with `outcomes`.
    private func settle(good: Int, _ outcomes: [PushOutcome]) -> Settlement {
        var settlement = Settlement(tag: 0, expiresAt: now + .seconds(3600), now: now)
        settlement.taken(good, by: good)
        for (index, outcome) in outcomes.enumerated() {
            let push = Settlement.Push(
                device: Int64(index), registeredAt: now - .seconds(60), attempts: 1, isRepeated: false)
            _ = settlement.settle(.badToken(reason: "BadDeviceToken"), of: push, status: 400)
            _ = settlement.settleSecondTry(outcome, of: push, first: "BadDeviceToken")
        }
        return settlement
    }

    /// The other environment calls all tokens dead that it was asked about, and the own one took many more.
    @Test func aMadOtherEnvironmentCostsNoTokenHoweverManyTheOwnOneTook() {
        let dead = (0..<25).map { _ in PushOutcome.unregistered(reason: "Unregistered", since: now) }
        var settlement = settle(good: 1000, dead)
        var (own, other) = (UnregisteredWindow<TokenRetirement>(), UnregisteredWindow<TokenRetirement>())
        settlement.judgeTokens(by: &own, limit: 0.3) { _ in [] }
        settlement.judgeOtherTokens(by: &other, limit: 0.3) { _ in [] }
        #expect(settlement.retirements.isEmpty && own.end().isEmpty && other.end().isEmpty)
        #expect(other.isSuspect && !own.isSuspect)
        #expect(settlement.report.unregistered == nil, "it does not stop the own environment")
    }

    @Test func aDeadTokenAmongThoseThatTheOtherEnvironmentTakesIsRetiredInTime() {
        var outcomes = [PushOutcome](repeating: .accepted, count: 30)
        outcomes[3] = .unregistered(reason: "Unregistered", since: now)
        var settlement = settle(good: 1000, outcomes)
        var other = UnregisteredWindow<TokenRetirement>()
        settlement.judgeOtherTokens(by: &other, limit: 0.3) { _ in [] }
        #expect(other.end().map(\.device) == [3])
    }

    @Test func aPauseIsOfWhoAskedForIt() {
        let settlement = settle(good: 1, [.pauseCredential(.seconds(300), reason: "TooManyProviderTokenUpdates")])
        #expect(settlement.pause == nil && settlement.secondTries.pause != nil)
    }
}
