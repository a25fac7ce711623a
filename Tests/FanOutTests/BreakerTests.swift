// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import Synchronization
import Testing

@testable import FanOut
@testable import HTTP2

/// An answer to one device alone is that device's outcome; the same answer to all devices suspends the campaign.
@Suite struct BreakerTests {
    private typealias Reply = TestLane.Reply

    // MARK: One push

    @Test(arguments: [
        (403, "Forbidden"), (413, "PayloadTooLarge"), (400, "BadCollapseId"), (404, "BadPath"), (400, "BadTopic"),
    ])
    func whatOneDeviceAloneGetsIsItsOutcome(status: UInt16, reason: String) throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        var refused = 0
        bench.serve("production") { place, batch in
            guard batch.tag == 0, place == 5 else { return Reply() }
            refused += 1
            return Reply(status: status, reason: reason)
        }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed)
        #expect(campaign.figures.counts.accepted == 1_999 && campaign.figures.rejectedBy == [reason: 1])
        #expect(refused == 1, "it is not sent again")
    }

    /// It is tried once more, because another connection might have taken it.
    @Test(arguments: ["InvalidProviderToken", "MissingProviderToken", "BadEnvironmentKeyInToken", "SomethingNew"])
    func aDeviceThatIsAlwaysRefusedIsRejectedAtTheSecond(reason: String) throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        let refusal = Reply(status: 403, reason: reason)
        bench.serve("production") { place, batch in batch.tag == 0 && place == 5 ? refusal : Reply() }
        #expect(try bench.counts.retrying == 1 && bench.counts.accepted == 1_999)
        bench.pass(.seconds(2))
        bench.turn()
        #expect(bench.lane.waiting(at: "production") == 1)
        bench.serve("production") { _, _ in refusal }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed && campaign.figures.rejectedBy == [reason: 1])
    }

    @Test func oneInAHundredThroughoutStopsNothing() throws {
        let bench = try DispatcherBench()
        try bench.register(1...10_000)
        try bench.raise()
        bench.serve("production") { place, _ in place % 100 == 7 ? Reply(status: 403, reason: "Forbidden") : Reply() }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed)
        #expect(
            campaign.figures.counts.rejected == campaign.figures.rejectedBy["Forbidden"]
                && campaign.figures.counts.rejected >= 80)
    }

    /// The service takes the token again before enough answers have come to believe that it is dead.
    @Test func aTokenThatTheServiceTakesAgainIsNotRetired() throws {
        let bench = try DispatcherBench()
        try bench.register(1...5)
        try bench.raise()
        let since = bench.now + .seconds(3_600)
        bench.serve("production", turns: 10) { place, _ in
            place < 2
                ? Reply(status: 410, reason: "Unregistered", timestamp: since)
                : Reply(status: 503, reason: "ServiceUnavailable")
        }
        #expect(try bench.counts.unregistered == 2 && bench.counts.retrying == 3)
        try bench.register(6...35)
        try bench.raise("3.0")
        bench.pass(.seconds(60))
        bench.turn()
        // One of the two lives; the other one's phone is gone.
        bench.serve("production") { place, batch in
            place == 0 ? Reply(status: 410, reason: "Unregistered", timestamp: since) : Reply()
        }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed && campaign.figures.counts.accepted == 34)
        #expect(try bench.bench.retired() == 1)
    }

    // MARK: The credential

    /// In the middle of a campaign, and of a batch: pushes that were refused before the breaker tripped are sent after the
    /// repair.
    @Test(arguments: ["Forbidden", "InvalidProviderToken"])
    func aKeyThatIsRevokedLosesNothing(reason: String) throws {
        let bench = try DispatcherBench()
        try bench.register(1...5_000)
        try bench.raise()
        var sent = 0
        bench.serve("production") { _, _ in
            sent += 1
            return sent > 1_200 ? Reply(status: 403, reason: reason) : Reply()
        }
        let suspended = try bench.bench.campaign()
        #expect(suspended.state == .suspended && suspended.figures.counts.accepted == 1_200)
        #expect(suspended.figures.counts.rejected == 0, "the pushes are not at fault")
        #expect(suspended.facts.reason?.hasPrefix("\(reason): ") == true)
        try bench.resume()
        bench.serve("production")
        bench.pass(.seconds(10))
        bench.turn()
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 5_000)
    }

    /// The service's clock, or this one, is an hour off: any other token would be called expired as well.
    @Test func aFreshTokenThatIsCalledExpiredSuspendsAndNoOtherIsSigned() throws {
        final class Count: Sendable { let value = Atomic(0) }
        let (signed, key) = (Count(), try ES256PrivateKey.generate())
        let bench = try DispatcherBench {
            $0.provider = APNsProvider(
                settings: .init(topic: FanOutBench.app.app, priority: 10),
                tokens: APNsTokenSource(teamID: FanOutBench.teamID, keyID: FanOutBench.keyID, key: key) {
                    signed.value.add(1, ordering: .relaxed)
                })
        }
        try bench.register(1...200)
        try bench.raise()
        for _ in 0..<2 {
            bench.serve("production", status: 403, reason: "ExpiredProviderToken")
            let stopped = try bench.bench.campaign()
            #expect(stopped.state == .suspended)
            #expect(stopped.figures.counts.accepted == 0 && stopped.figures.counts.rejected == 0)
            let reason = try #require(stopped.facts.reason)
            #expect(reason.hasPrefix("ExpiredProviderToken: ") && reason.contains("Check the clock, which says "))
            try bench.resume()
        }
        bench.serve("production", status: 403, reason: "ExpiredProviderToken")
        #expect(signed.value.load(ordering: .relaxed) == 1)
    }

    // MARK: Tokens that are no longer registered

    @Test func aRegistryThatIsCalledDeadIsKeptUntilSomebodyAgrees() throws {
        let bench = try DispatcherBench()
        try bench.register(1...500)
        try bench.raise()
        var sent = 0
        let serve = {
            bench.serve("production") { _, _ in
                sent += 1
                return Reply(status: 410, reason: "Unregistered", timestamp: bench.now)
            }
        }
        serve()
        let suspended = try bench.bench.campaign()
        #expect(suspended.state == .suspended && sent <= 64)
        #expect(suspended.facts.reason?.hasPrefix("Unregistered: \(sent) of the last \(sent) tokens of") == true)
        #expect(try bench.bench.retired() == 0)
        #expect(suspended.figures.counts.unregistered == 0)

        try bench.resume()
        serve()
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.unregistered == 500)
        #expect(try bench.bench.retired() == 500)
    }

    /// Outcomes that are kept back until they can be judged are kept back over a restart, too (FAULTS 1.14).
    @Test func aRestartWhileAllAreCalledDeadCostsNoToken() throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        var sent = 0
        func serve(turns: Int = 1_000) {
            bench.serve("production", turns: turns) { _, _ in
                sent += 1
                return sent <= 500
                    ? Reply() : Reply(status: 410, reason: "Unregistered", timestamp: bench.now)
            }
        }
        for _ in 0..<40 {
            serve(turns: 1)
            try bench.restart()
        }
        serve()
        let suspended = try bench.bench.campaign()
        #expect(suspended.state == .suspended && suspended.figures.counts.accepted == 500)
        #expect(suspended.figures.counts.unregistered < 20, "those whose batch had good answers, too")
        #expect(try bench.bench.retired() == 0)
    }

    /// One in twenty was dead last time: one in two is far above that, and one in eight is not.
    @Test(arguments: [(2, CampaignState.suspended), (8, .completed)])
    func earlierCampaignsSayWhatIsUsual(every: Int, state: CampaignState) throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        let dead = Reply(status: 410, reason: "Unregistered")
        bench.serve("production") { place, _ in place % 20 == 0 ? dead : Reply() }
        #expect(try bench.bench.campaign().state == .completed)
        try bench.raise("3.0")
        bench.serve("production") { place, _ in place % every == 0 ? dead : Reply() }
        #expect(try bench.bench.campaign().state == state)
    }
}
