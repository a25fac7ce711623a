// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import TestStores
import Testing
import Threading
import UpgradeRules

@testable import FanOut
@testable import HTTP2

/// The loop's reaction to its events, service by service.
@Suite struct DispatcherTests {
    /// The campaign is cancelled and opened again between two looks, while its old run waits with one push for its time: it
    /// would send to the devices still in line only after that.
    @Test func aCampaignThatIsOpenedAgainBeforeALookIsBegunAnew() throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        bench.serve("production") { place, batch in
            guard batch.tag == 0 else { return .init() }
            return switch place {
            case 5: .init(status: 400, reason: "BadCollapseId")
            case 6: .init(status: 500, reason: "InternalServerError")
            default: .init()
            }
        }
        #expect(try bench.counts.rejected == 1 && bench.counts.retrying == 1)
        let campaign = try bench.bench.campaign()
        try #require(try bench.bench.store.move(campaign.key, .cancelled, at: bench.now))
        let draft = RoundDraft(.retry([.rejected]), timeToLive: .seconds(86_400))
        #expect(try bench.bench.store.reopen(campaign.key, for: draft, at: bench.now) == .opened)
        bench.turn([.poke])
        bench.serve("production")
        let end = try bench.bench.campaign()
        let counts = end.figures.counts
        #expect(end.state == .completed && counts.accepted == 1_999 && counts.cancelled == 1, "\(end)")
    }

    // MARK: One service's trouble leaves the others alone

    @Test func productionFinishesAsIfTheSandboxDidNotExist() throws {
        let bench = try DispatcherBench()
        try bench.register(1...3_000, environment: .sandbox)
        try bench.register(3_001...13_000)
        try bench.raise()
        #expect(bench.lane.waiting(at: "sandbox") == 64 && bench.lane.waiting(at: "production") == 64)
        bench.turn(bench.lane.answer("sandbox", status: 503, reason: "ServiceUnavailable"))
        #expect(bench.lane.waiting(at: "sandbox") == 0, "it is left alone")
        bench.serve("production")
        #expect(try bench.counts.accepted == 10_000)
        #expect(try bench.counts.retrying == 64)
        #expect(bench.dispatcher.faultTexts.keys.sorted() == ["outage:\(FanOutBench.app.app)/sandbox"])
        let services = try #require(bench.dispatcher.board.read { $0.work.services[FanOutBench.app] })
        let waits = Dictionary(uniqueKeysWithValues: services.map { ($0.channel, $0.waits) })
        #expect(waits == [.production: [], .sandbox: [.outage]])

        // The sandbox recovers.
        bench.pass(.seconds(13))
        bench.turn()
        #expect(bench.lane.waiting(at: "sandbox") == OutageHold.probeSize)
        bench.serve("sandbox")
        bench.pass(.seconds(1_200))
        bench.turn()
        bench.serve("sandbox")
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed && campaign.figures.counts.accepted == 13_000)
    }

    @Test func theSandboxFinishesAsIfProductionDidNotExist() throws {
        let bench = try DispatcherBench()
        try bench.register(1...3_000)
        try bench.register(3_001...4_000, environment: .sandbox)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 503, reason: "ServiceUnavailable"))
        bench.serve("sandbox")
        #expect(try bench.counts.accepted == 1_000 && bench.counts.retrying == 64)
    }

    /// Only an app that tries its tokens in the other environment has a service there without a device.
    @Test func noServiceIsMadeForAnEnvironmentThatNobodyIsIn() throws {
        let bench = try DispatcherBench()
        try bench.register(1...100)
        try bench.raise()
        bench.serve("production")
        #expect(try bench.counts.accepted == 100)
        #expect(bench.dispatcher.services.inOrder.map(\.key.channel) == [.production])
    }

    @Test func aWaveEndsAlthoughTheSandboxIsAway() throws {
        let bench = try DispatcherBench {
            $0.waves = WavePlan(ends: [5_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.register(1...500, environment: .sandbox)
        try bench.register(501...2_000)
        try bench.raise()
        bench.turn(bench.lane.answer("sandbox", status: 503, reason: "ServiceUnavailable"))
        bench.serve("production")
        #expect(try bench.bench.campaign().figures.waves.list.first?.endedAt != nil)
        bench.pass(.seconds(601))
        bench.turn()
        bench.serve("production")
        let campaign = try bench.bench.campaign()
        #expect(campaign.figures.counts.accepted == 1_500, "\(campaign)")
    }

    /// A relay that starts again, or is resumed, during the pause finds the wave over (FAULTS 2.17).
    @Test func aWaveThatIsOverIsReportedOnce() throws {
        let bench = try DispatcherBench {
            $0.waves = WavePlan(ends: [5_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.register(1...500)
        try bench.raise()
        bench.serve("production")
        let campaign = try bench.bench.campaign()
        #expect(campaign.figures.waves.areBetween)
        try bench.restart()
        bench.turn()
        try #require(try bench.bench.store.move(campaign.key, .paused, at: campaign.facts.createdAt + .seconds(5)))
        bench.turn([.poke])
        try #require(try bench.bench.store.move(campaign.key, .resumed, at: campaign.facts.createdAt + .seconds(9)))
        bench.turn([.poke])
        #expect(bench.bench.lines.count(of: "a wave is done") == 1)
        bench.pass(.seconds(601))
        bench.turn()
        bench.serve("production")
        #expect(try bench.counts.accepted == 500)
    }

    /// The key is good for production alone: only the development builds wait for the operator.
    @Test func aKeyThatTheSandboxRefusesStopsTheSandboxAlone() throws {
        let bench = try DispatcherBench()
        try bench.register(1...100, environment: .sandbox)
        try bench.register(101...2_100)
        try bench.raise()
        bench.turn(bench.lane.answer("sandbox", status: 403, reason: "BadEnvironmentKeyInToken"))
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.figures.counts.accepted == 2_000 && end.figures.counts.rejected == 0)
        #expect(end.state == .suspended, "and the operator hears of it when nothing else is left")
        #expect(end.facts.reason?.hasPrefix("BadEnvironmentKeyInToken: ") == true)
        try #require(
            try bench.bench.store.move(end.key, .resumed, at: end.facts.createdAt + .seconds(60)))
        bench.turn([.poke])
        bench.serve("sandbox")
        #expect(try bench.bench.campaign().state == .completed)
        #expect(try bench.counts.accepted == 2_100)
    }

    /// An operator corrects devices that were imported for the wrong environment while the campaign runs.
    @Test func aDeviceWhoseEnvironmentChangesMeanwhileGetsItsPushOnce() throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        #expect(bench.lane.waiting(at: "production") == 64)
        try bench.register(1_001...2_000, environment: .sandbox)
        bench.serve("production")
        bench.serve("sandbox")
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 2_000)
        #expect(try bench.bench.deliveries().count == 2_000)
    }

    /// FAULTS 2.22: rows of one app that the store refused ended the look at all other apps.
    @Test(arguments: ["campaign", "shard"])
    func anAppWhoseRowsTheStoreRefusesStopsNoOther(table: String) throws {
        let refused = AppKey(app: "a.first.app", platform: .ios)
        let bench = try DispatcherBench(others: [refused])
        try bench.register(1...100)
        try bench.register(101...200, of: refused)
        let app = table == "campaign" ? "NEW.app_id" : "(SELECT app_id FROM campaign WHERE id = NEW.campaign_id)"
        try bench.bench.store.administer(
            """
            CREATE TRIGGER refuses BEFORE INSERT ON \(table)
                WHEN (SELECT name FROM app WHERE id = \(app)) = '\(refused.app)'
                BEGIN SELECT RAISE(ABORT, 'this app is refused'); END;
            """)
        // Stored without campaigns, as by a relay that does not push for the apps: the next look begins them.
        try bench.bench.raise("2.0", of: refused)
        try bench.raise()
        #expect(bench.dispatcher.faultTexts.keys.sorted() == [refused.faultPart])
        bench.serve("production")
        let campaigns = { try bench.bench.store.campaigns(before: nil, limit: 9) }
        let other = try #require(campaigns().first { $0.app == FanOutBench.app })
        #expect(other.state == .completed && other.figures.counts.accepted == 100)
        #expect(try campaigns().first { $0.app == refused }?.figures.counts.accepted ?? 0 == 0)
        // The dispatcher comes back to the app by itself.
        try bench.bench.store.administer("DROP TRIGGER refuses")
        bench.pass(.seconds(1))
        bench.turn()
        bench.serve("production")
        #expect(try campaigns().first { $0.app == refused }?.figures.counts.accepted == 100)
        #expect(bench.dispatcher.faultTexts.isEmpty)
    }

    // MARK: The first pushes

    /// The oldest users have no telephone, so whole batches push to no device. One in `share` of the others has one: with one in
    /// fifty, the answers of a batch are not enough to judge by.
    @Test(arguments: [1, 50])
    func theProbeIsNotPassedByBatchesInWhichNobodyIsPushedTo(share: Int) throws {
        let bench = try DispatcherBench()
        try bench.register(1...5_000, telephone: { _ in nil })
        try bench.register(5_001...15_000) { $0 % share == 0 ? LiveBench.telephone($0) : nil }
        try bench.raise()
        #expect(try bench.counts.filtered >= 4_000, "what was filtered with the first pushes waits for their answers")
        #expect(bench.lane.waiting(at: "production") <= 64, "the first pushes are few")
        var sent = 0
        bench.serve("production", turns: 20) { _, _ in
            sent += 1
            return TestLane.Reply(status: 400, reason: "BadDeviceToken")
        }
        #expect(sent <= 64, "\(sent) pushes before a judgement")
        let stopped = try bench.bench.campaign()
        #expect(stopped.state == .suspended && stopped.figures.counts.rejected == 0)
    }

    // MARK: Reloads

    @Test func aReloadThatChangesNothingIsNotNoticed() throws {
        let bench = try DispatcherBench()
        try bench.register(1...5_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 200))
        let out = bench.lane.waiting(at: "production")
        #expect(out > 64)
        bench.turn([.reroute([bench.route])])
        #expect(bench.lane.waiting(at: "production") == out)
        #expect(bench.dispatcher.runs.all.allSatisfy { $0.lifecycle.isSending })
        #expect(bench.lane.pools.allSatisfy { !$0.isRemoved })
        bench.serve("production")
        #expect(try bench.bench.campaign().state == .completed)
        #expect(bench.lane.pools.count == 1)
        #expect(bench.bench.lines.count(of: "sending") == 1, "the campaign began once")
    }

    /// The text for the app's users changes, and the way to reach them does not: the campaign begins anew on its connections.
    @Test func aReloadThatChangesTheTextKeepsTheConnections() throws {
        let bench = try DispatcherBench()
        try bench.register(1...5_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 200))
        var route = bench.route
        route.words.body = "Another text"
        bench.turn([.reroute([route])])
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 5_000)
        #expect(bench.bench.lines.count(of: "sending") == 2)
        #expect(bench.lane.pools.map(\.isRemoved) == [false])
    }

    /// Another app's reload, or its end, does not concern this app.
    @Test func anotherAppsReloadDisturbsNothing() throws {
        let bench = try DispatcherBench()
        try bench.register(1...5_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 200))
        let out = bench.lane.waiting(at: "production")
        var other = bench.route
        other.app = AppKey(app: "com.example.other", platform: .ios)
        for routes in [[bench.route, other], [bench.route]] {
            bench.turn([.reroute(routes)])
            #expect(bench.lane.waiting(at: "production") == out)
            #expect(bench.dispatcher.runs.all.allSatisfy { $0.lifecycle.isSending })
        }
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 5_000)
        #expect(bench.bench.lines.count(of: "sending") == 1)
        #expect(bench.lane.pools.map(\.isRemoved) == [false])
    }

    @Test func aNewKeyTakesNewConnectionsWhenTheOldOnesAreDone() throws {
        let bench = try DispatcherBench()
        try bench.register(1...30_000)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 200))
        var route = bench.route
        route.provider = APNsProvider(
            settings: .init(topic: FanOutBench.app.app, priority: 10), tokens: bench.bench.tokens())
        bench.turn([.reroute([route])])
        #expect(bench.lane.pools.allSatisfy { !$0.isRemoved }, "what is on its way comes in first")
        bench.serve("production")
        #expect(bench.lane.pools.map(\.isRemoved) == [true, false])
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 30_000)
    }

    @Test func aNewKeyLetsGoOnWhatTheOldOneStopped() throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        bench.serve("production", status: 403, reason: "InvalidProviderToken")
        #expect(try bench.bench.campaign().state == .suspended)

        var texts = bench.route
        texts.words.body = "Another text"
        bench.turn([.reroute([texts])])
        #expect(try bench.bench.campaign().state == .suspended, "the key is as it was")

        var route = texts
        route.provider = APNsProvider(
            settings: .init(topic: FanOutBench.app.app, priority: 10), tokens: bench.bench.tokens())
        bench.turn([.reroute([route])])
        #expect(try bench.bench.campaign().state == .running)
        #expect(bench.lane.waiting(at: "production") <= 64, "a probe first")
        bench.serve("production")
        let end = try bench.bench.campaign()
        #expect(end.state == .completed && end.figures.counts.accepted == 2_000)
    }

    @Test func aReloadEndsNoPause() throws {
        let bench = try DispatcherBench()
        try bench.register(1...2_000)
        try bench.raise()
        let record = try bench.bench.campaign()
        try bench.bench.store.decide(record, .paused, by: .relay(at: bench.now))
        bench.turn([.poke])
        var route = bench.route
        route.provider = APNsProvider(
            settings: .init(topic: FanOutBench.app.app, priority: 10), tokens: bench.bench.tokens())
        bench.turn([.reroute([route])])
        bench.serve("production")
        #expect(try bench.bench.campaign().state == .paused)
    }

    @Test func anAppThatIsGoneLeavesNothingBehind() throws {
        let bench = try DispatcherBench()
        try bench.register(1...500)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 200))
        bench.turn([.reroute([])])
        bench.serve("production")
        #expect(
            bench.dispatcher.services.byKey.isEmpty && bench.dispatcher.runs.all.isEmpty
                && bench.dispatcher.services.owners.isEmpty)
        #expect(bench.lane.pools.allSatisfy { $0.isRemoved })
    }

    // MARK: Time

    @Test func theLoopSleepsUntilTheNextProbe() throws {
        let bench = try DispatcherBench()
        try bench.register(1...500)
        try bench.raise()
        bench.turn(bench.lane.answer("production", status: 503, reason: "ServiceUnavailable"))
        #expect(bench.pause <= .milliseconds(200), "the store is looked at")
        bench.pass(.seconds(9))
        bench.turn()
        #expect(bench.lane.waiting(at: "production") == 0)
        bench.pass(.seconds(4))
        bench.turn()
        #expect(bench.lane.waiting(at: "production") == OutageHold.probeSize)
    }
}
