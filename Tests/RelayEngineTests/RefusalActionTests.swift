// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// The effect of the breaker's verdict on pushes that were refused. The breaker itself has tests of its own.
@Suite struct RefusalActionTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let push = Settlement.Push(
        device: 7, registeredAt: Timestamp(seconds: 0), attempts: 2, isRepeated: false)

    private func settlement(_ outcomes: PushOutcome...) -> Settlement {
        var settlement = Settlement(tag: 1, expiresAt: now + .seconds(3600), now: now)
        for outcome in outcomes { _ = settlement.settle(outcome, of: push, status: 400) }
        return settlement
    }

    private func weigh(
        _ settlement: Settlement, _ trust: ServiceMachine.Trust, isSending: Bool = true, triesOther: Bool = false,
        deniedUntil: Timestamp? = nil, remembered: Refusals = Refusals()
    ) -> [Settlement.RefusalAction] {
        settlement.weigh(
            trust, isSending: isSending, triesOtherEnvironment: triesOther, deniedUntil: deniedUntil,
            remembered: remembered)
    }

    @Test("What is refused before the service is judged may be recalled, and is not once it is trusted")
    func watching() {
        let refused = settlement(.rejected(reason: "DeviceTokenNotForTopic"))
        #expect(weigh(refused, .watching) == [.remember(reasons: ["DeviceTokenNotForTopic"])])
        #expect(weigh(refused, .trusted) == [.forgetRemembered])
        #expect(weigh(refused, .doubting) == [.remember(reasons: [])])
        let fault = settlement(.fault(reason: "BadTopic", .topic))
        #expect(weigh(fault, .doubting) == [.remember(reasons: ["BadTopic"])])
    }

    @Test("All that is refused stops the campaign, and everybody who was refused is in line again")
    func tripped() {
        let trip = CredentialBreaker.Trip(.fault, pushes: 20, of: 20)
        let fault = settlement(.fault(reason: "InvalidProviderToken", .credential))
        #expect(
            weigh(fault, .tripped(trip, isNew: true)) == [
                .retry(reasons: ["InvalidProviderToken"], at: now), .recallRemembered,
                .stop(.credential, .credential, reason: "InvalidProviderToken", trip),
            ])
        // Batches that come back after that bring no news.
        #expect(
            weigh(fault, .tripped(trip, isNew: false)) == [.retry(reasons: ["InvalidProviderToken"], at: now)])
    }

    @Test("A service that calls nearly all tokens dead retires none")
    func dead() {
        let trip = CredentialBreaker.Trip(.unregistered, pushes: 20, of: 20)
        let gone = settlement(.unregistered(reason: "Unregistered", since: now))
        #expect(
            weigh(gone, .tripped(trip, isNew: true)) == [
                .retry(reasons: ["Unregistered"], at: now), .keepTokens, .recallRemembered,
                .stop(.deadTokens, .mostlyUnregistered, reason: "Unregistered", trip),
            ])
    }

    @Test("The reason that is told is the one given most, with what was remembered")
    func mostGiven() {
        var remembered = Refusals()
        for _ in 0..<3 { remembered.add("TopicDisallowed", .refused) }
        let trip = CredentialBreaker.Trip(.refused, pushes: 4, of: 4)
        let actions = weigh(
            settlement(.rejected(reason: "BadDeviceToken")), .tripped(trip, isNew: true), remembered: remembered)
        #expect(actions.last == .stop(.topic, .mostlyRefused, reason: "TopicDisallowed", trip))
    }

    @Test("Of a campaign that was halted, what may be good elsewhere or later is not refused for good")
    func halted() {
        let bad = settlement(.badToken(reason: "BadDeviceToken"), .fault(reason: "BadTopic", .topic))
        #expect(
            weigh(bad, .trusted, isSending: false, triesOther: true).first
                == .retry(reasons: ["BadDeviceToken", "BadTopic"], at: now))
        #expect(weigh(bad, .trusted, isSending: false).first == .retry(reasons: ["BadTopic"], at: now))
    }

    @Test("A bad token that a pause kept from its second try has it after the pause, if the campaign lives as long")
    func denied() {
        let bad = settlement(.badToken(reason: "BadDeviceToken"))
        let soon = now + .seconds(60)
        #expect(
            weigh(bad, .trusted, deniedUntil: soon) == [
                .retry(reasons: ["BadDeviceToken"], at: soon), .forgetRemembered,
            ])
        #expect(weigh(bad, .trusted, deniedUntil: now + .seconds(7200)) == [.forgetRemembered])
    }
}
