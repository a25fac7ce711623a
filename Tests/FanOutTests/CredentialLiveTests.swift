// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Testing

@testable import FanOut
@testable import PushSimulator

/// A credential that goes bad in mid-campaign: nothing is lost, nothing is sent twice, no token is given up, and the campaign
/// goes on where it stopped.
@Suite(.ownThread) struct CredentialLiveTests {
    private static let devices = 3_000

    /// Every reason that concerns the credential, the topic or the push, and not one device.
    @Test(arguments: [
        "InvalidProviderToken", "MissingProviderToken", "Forbidden", "BadCertificate", "BadCertificateEnvironment",
        "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "TopicDisallowed", "BadTopic",
    ])
    func aRefusalOfTheCredentialSuspendsAndTheRepairCarriesOn(reason: String) throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 700, reason: reason)
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        try bench.start()
        try bench.raise()
        let first = try bench.wait(for: .suspended)
        let delivered = first.figures.counts.accepted
        #expect(delivered >= 1 && delivered < Self.devices)
        #expect(delivered == Int64(bench.production.figures.accepted))
        #expect(first.figures.counts.rejected == 0, "the pushes are not at fault")
        let text = try #require(first.facts.reason)
        #expect(text.hasPrefix("\(reason): "))
        #expect(text.contains(LiveBench.app.app))
        #expect(text.contains(#"Check apps["com.example.app"].ios.apns"#))
        #expect(text.hasSuffix("upgrade-relay campaigns resume \(first.id)"))

        if reason == "Forbidden" {
            // Nothing was repaired: the campaign stops again at once.
            let before = bench.production.figures.requests
            try bench.resume()
            let second = try bench.wait(for: .suspended)
            #expect(second.figures.counts.accepted == delivered)
            #expect(
                bench.production.figures.requests <= before + BatchLimits().probeSize,
                "a bad credential costs the pushes of a probe at most")
        }

        try bench.production.play(FaultScript())
        let resumed = ContinuousClock.now
        // Pushes that were in doubt before the breaker tripped wait for their second attempt.
        bench.clock.advance(by: .seconds(2))
        try bench.resume()
        let end = try bench.wait(for: .completed)
        try bench.tell(reason, since: resumed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.production.figures.distinctTokens == Self.devices)
        #expect(bench.production.figures.duplicates == 0)
        #expect(bench.production.figures.providerTokens == 1, "nothing is signed anew for this")
        #expect(try bench.retired() == 0)
    }

    // MARK: The provider token's age

    /// The service's clock runs ahead by 20 minutes, so that it calls a token of 45 minutes too old.
    @Test func anExpiredTokenIsReplacedOnceForAllLanesAndConnections() throws {
        var script = FaultScript()
        script.clockAhead = 1_200
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        try bench.start(lanes: 4, issued: .seconds(45 * 60))
        let began = ContinuousClock.now
        try bench.raise()
        let end = try bench.wait(for: .completed)
        try bench.tell("ExpiredProviderToken from the start", since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        let figures = bench.production.figures
        #expect(figures.providerTokens == 2, "the old one and one new one")
        #expect(figures.rejectedBy["ExpiredProviderToken", default: 0] >= 1)
        #expect(figures.distinctTokens == Self.devices)
        #expect(figures.duplicates == 0)
        #expect(try bench.retired() == 0)
    }

    /// A token that becomes too old while thousands of pushes are on their way, on every connection of every lane.
    @Test func aTokenThatExpiresInMidCampaignIsReplacedOnce() throws {
        // Four connections of a hundred streams take four seconds for all, so that the middle is easy to hit.
        let bench = try LiveBench(latency: .milliseconds(500), maximumStreams: 100)
        try bench.register(1...Self.devices)
        try bench.start(lanes: 4, issued: .seconds(45 * 60)) { $0.production.maximumConnections = 1 }
        try bench.raise()
        try #require(bench.production.wait(forRequests: 500, deadline: .seconds(60)))
        var script = FaultScript()
        script.clockAhead = 1_200
        let began = ContinuousClock.now
        try bench.production.play(script)
        let end = try bench.wait(for: .completed)
        try bench.tell("ExpiredProviderToken in mid-campaign", since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        let figures = bench.production.figures
        #expect(figures.rejectedBy["ExpiredProviderToken", default: 0] >= 1)
        #expect(figures.providerTokens == 2)
        #expect(figures.distinctTokens == Self.devices)
        #expect(figures.duplicates == 0)
        #expect(try bench.retired() == 0)
    }

    // MARK: Pauses and connections

    @Test("A sandbox that wants a pause of the key does not stop production")
    func aPauseOfTheSandbox() throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 10, reason: "TooManyProviderTokenUpdates")
        let bench = try LiveBench(sandbox: script)
        try bench.register(1...Self.devices)
        try bench.register((Self.devices + 1)...(Self.devices + 100), environment: .sandbox)
        try bench.start(issued: .seconds(600))
        try bench.raise()
        try #require(bench.lines.wait(for: "the push service wants a pause", deadline: .seconds(60)))
        let isDone = bench.until { (try? bench.campaign().figures.counts.accepted) ?? 0 >= Int64(Self.devices) }
        #expect(isDone)
        #expect(bench.production.figures.requests == Self.devices)
        let state = try bench.campaign().state
        #expect(state == .running, "the sandbox's own go out after its pause")
    }

    @Test func tooManyTokensPauseTheCredentialAndItGoesOnByItself() throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 700, reason: "TooManyProviderTokenUpdates")
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        try bench.start(issued: .seconds(600))
        try bench.raise()
        try #require(bench.lines.wait(for: "the push service wants a pause", deadline: .seconds(60)))
        let fanOut = try #require(bench.fanOut)
        let campaign = try bench.campaign().key
        let isQuiet = bench.until {
            let figures = fanOut.figures(of: campaign)
            return figures.trouble != nil && figures.shardRequestsOut + figures.retryRequestsOut == 0
        }
        try #require(isQuiet)
        let trouble = try #require(fanOut.figures(of: campaign).trouble)
        #expect(trouble.hasPrefix("TooManyProviderTokenUpdates: APNs wants a pause from this key"))
        try bench.production.play(FaultScript())
        let sent = bench.production.figures.requests
        // The pause is minutes plus jitter: nothing goes out before it ends.
        bench.clock.advance(by: .seconds(299))
        fanOut.poke()
        #expect(!bench.production.wait(forRequests: sent + 1, deadline: .seconds(1)))
        bench.clock.advance(by: .seconds(77))
        let over = ContinuousClock.now
        fanOut.poke()
        let end = try bench.wait(for: .completed)
        try bench.tell("TooManyProviderTokenUpdates, after its pause", since: over)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.production.figures.providerTokens == 1, "never a new token")
        #expect(bench.production.figures.connectionsOpened >= 2)
        #expect(bench.production.figures.duplicates == 0)
        #expect(try bench.retired() == 0)
    }

    @Test func aConnectionOfAnotherKeyFamilyIsReplaced() throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 700, count: 50, reason: "UnrelatedKeyIdInToken")
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        try bench.start()
        let began = ContinuousClock.now
        try bench.raise()
        // A refused push waits for its schedule.
        let end = try bench.passTime(to: .completed, by: .seconds(2))
        try bench.tell("UnrelatedKeyIdInToken on one connection", since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.production.figures.distinctTokens == Self.devices)
        #expect(bench.production.figures.connectionsOpened >= 2)
        #expect(bench.production.figures.duplicates == 0)
    }

    @Test func aKeyThatIsUnrelatedOnNewConnectionsTooSuspends() throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 0, reason: "UnrelatedKeyIdInToken")
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(reason.hasPrefix("UnrelatedKeyIdInToken: APNs takes the key of com.example.app for one"))
        #expect(stopped.figures.counts.rejected == 0)
        // Three new connections, one push on each. While one refusal is on its way to the campaign, the batch of retries and
        // that of a shard may cross: the second one then asks on a connection whose answer adds nothing new.
        let figures = bench.production.figures
        #expect((3...5).contains(figures.requests), "\(figures.requests) requests")
        #expect(figures.requests <= figures.connectionsOpened, "one push on each connection")
    }

    // MARK: Tokens of another environment or app

    @Test(arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    func mostlyRefusedTokensSuspendAndAreSentAfterTheRepair(reason: String) throws {
        var script = FaultScript()
        let all = Set((1...Self.devices).map(LiveBench.token))
        if reason == "BadDeviceToken" { script.badTokens = all } else { script.otherTopicTokens = all }
        let bench = try LiveBench(script)
        // The first batch holds few devices that are pushed to: not enough to judge by.
        try bench.register(1...50, telephone: { _ in nil })
        try bench.register(51...Self.devices)
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        #expect(stopped.figures.counts.rejected == 0, "also what was refused before the breaker tripped waits")
        #expect(stopped.figures.counts.filtered == 50)
        let text = try #require(stopped.facts.reason)
        #expect(text.hasPrefix("\(reason): "))
        #expect(text.contains("pushes of com.example.app were refused by https://127.0.0.1:"))
        #expect(text.contains("no token was given up"))
        try bench.production.play(FaultScript())
        let resumed = ContinuousClock.now
        try bench.resume()
        let end = try bench.wait(for: .completed)
        try bench.tell("mostly \(reason)", since: resumed)
        #expect(end.figures.counts.accepted == Int64(Self.devices - 50))
        #expect(end.figures.counts.rejected == 0)
        #expect(bench.production.figures.duplicates == 0)
        #expect(try bench.retired() == 0)
    }

    /// Ten refusals are not enough to judge by, and the restart comes before there are more. As long as the service has taken
    /// no push, they may be the credential's fault.
    @Test(arguments: [false, true])
    func refusalsFromBeforeARestartAreTriedAgainUnlessAnythingWasTaken(isTaken: Bool) throws {
        var script = FaultScript()
        script.badTokens = Set((1...10).map(LiveBench.token))
        // Keeps the campaign open.
        script.busyTokens = [LiveBench.token(11)]
        script.busyTries = 1
        let bench = try LiveBench(script)
        try bench.register(1...(isTaken ? 12 : 11))
        try bench.start()
        try bench.raise()
        let isThere = try bench.until {
            let counts = try bench.store.campaigns(before: nil, limit: 1).first?.figures.counts
            return counts?.rejected == 10 && counts?.retrying == 1
        }
        let campaign = try bench.campaign()
        try #require(isThere, "\(campaign)")
        #expect(campaign.figures.counts.accepted == (isTaken ? 1 : 0))
        bench.fanOut?.stop(within: .seconds(60))

        try bench.production.play(FaultScript())
        // A token signed after the clock has moved would be in the push service's future.
        try bench.start(issued: .zero)
        bench.clock.advance(by: .seconds(600))
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == (isTaken ? 2 : 11) && end.figures.counts.rejected == (isTaken ? 10 : 0))
        #expect(end.figures.rejectedBy == (isTaken ? ["BadDeviceToken": 10] : [:]))
        #expect(try bench.store.check { _ in true } == [])
    }

    @Test func aShareOfBadTokensStopsNothing() throws {
        var script = FaultScript()
        script.badShare = 0.02
        let bench = try LiveBench(script)
        try bench.register(1...Self.devices)
        let bad = (1...Self.devices).count {
            FaultScript.fate(ofToken: LiveBench.token($0), script: script) == .bad
        }
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(bad > 20)
        #expect(end.figures.counts.rejected == Int64(bad))
        #expect(end.figures.counts.accepted == Int64(Self.devices - bad))
        #expect(try bench.retired() == 0)
    }
}
