// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import StoreConformance
import Testing
import UpgradeRules

@testable import FanOut

/// Bumps that name telephones, between a real store and a real push service, on a clock that the test moves.
@Suite(.serialized, .ownMachine) struct CanaryLiveTests {
    private static let canary = [5, 6, 250].map(LiveBench.telephone)

    private func bench(_ devices: ClosedRange<Int> = 1...300) throws -> LiveBench {
        let bench = try LiveBench()
        try bench.register(devices)
        return bench
    }

    private func record(_ bench: LiveBench, _ required: String) throws -> CampaignRecord {
        let version = try Version(required)
        var found: CampaignRecord?
        // The watcher makes it.
        let isThere = try bench.until(deadline: .seconds(20)) {
            found = try bench.store.campaigns(before: nil, limit: 9).first { $0.requirement.version == version }
            return found != nil
        }
        try #require(isThere)
        return try #require(found)
    }

    private func requirements(_ bench: LiveBench) throws -> Requirements {
        try #require(try bench.store.version(of: LiveBench.app)).requirements
    }

    private func inForce(_ bench: LiveBench) throws -> Requirement? { try requirements(bench).inForce }

    private func staged(_ bench: LiveBench) throws -> Requirement? { try requirements(bench).staged }

    private func release(_ bench: LiveBench) throws {
        try bench.store.decide(
            LiveBench.app, .released(nil), by: Signature(by: "operator", via: "release", at: bench.clock.now),
            in: RequirementMachine.Surroundings(now: bench.clock.now))
        bench.fanOut?.poke()
    }

    /// Lets paced pushes go until the condition holds.
    private func pace(_ bench: LiveBench, until condition: () throws -> Bool) throws {
        for _ in 0..<300 {
            if try bench.until(deadline: .milliseconds(100), condition) { return }
            bench.clock.advance(by: .milliseconds(500))
            bench.fanOut?.poke()
        }
        Issue.record("it did not come about: \(try bench.store.campaigns(before: nil, limit: 9))")
    }

    /// Starts at a pace that leaves most of a campaign pending.
    private func startPaced(_ bench: LiveBench) throws {
        try bench.start { $0.pace = Pace(ratePerSecond: 20) }
    }

    @Test func theOlderCampaignGoesOnBesideTheCanaryUntilItsRelease() throws {
        let bench = try bench()
        try startPaced(bench)
        try bench.raise("2.0")
        try pace(bench) { try record(bench, "2.0").figures.counts.accepted > 0 }
        try bench.raise("2.1", canary: Self.canary)
        try pace(bench) { try record(bench, "2.1").canary?.endedAt != nil }
        var (older, newer) = (try record(bench, "2.0"), try record(bench, "2.1"))
        #expect(older.state == .running && older.figures.counts.cancelled == 0 && older.figures.counts.pending > 0)
        #expect(newer.state == .running && newer.isCanary && newer.inForce == older.requirement.version)
        #expect(newer.figures.counts.accepted == 3 && newer.figures.counts.pending == 297)
        #expect(newer.figures.counts.filtered == 0 && newer.figures.counts.audience == 300)
        #expect(
            try inForce(bench)?.version == older.requirement.version
                && staged(bench)?.version == newer.requirement.version)
        #expect(try staged(bench)?.canary == Self.canary)
        #expect(
            try requirements(bench).announced?.version == older.requirement.version, "the others hear nothing of it")
        #expect(try bench.store.newestCampaigns().map(\.key) == [older.key], "the one that is in force for everybody")
        #expect(try bench.store.check { _ in true } == [])
        // The older one comes to its end, across a restart, and no device gets the newer one.
        bench.stop()
        try startPaced(bench)
        try pace(bench) { try record(bench, "2.0").state == .completed }
        older = try record(bench, "2.0")
        #expect(older.figures.counts.accepted == 300)
        #expect(try record(bench, "2.1").figures.counts == newer.figures.counts)
        #expect(bench.production.accepted().distinctIDs == 303)
        try release(bench)
        #expect(try inForce(bench)?.version == newer.requirement.version && staged(bench) == nil)
        try pace(bench) { try record(bench, "2.1").state == .completed }
        newer = try record(bench, "2.1")
        #expect(newer.figures.counts.accepted == 300 && newer.figures.counts.audience == 300)
        #expect(bench.production.accepted().distinctIDs == 600 && bench.production.figures.duplicates == 0)
        #expect(try bench.store.check { _ in true } == [])
        let all = try bench.store.deliveries(of: newer.key, DeliveryFilter(), after: 0, limit: 1_000)
        #expect(all.count == 300 && Set(all.map(\.device)).count == 300)
    }

    @Test func theReleaseSupersedesWhatIsStillBeingSent() throws {
        let bench = try bench()
        try bench.register(301...320, environment: .sandbox)
        try startPaced(bench)
        try bench.raise("2.0")
        try pace(bench) { try record(bench, "2.0").figures.counts.accepted > 0 }
        try bench.raise("2.1", canary: Self.canary + [LiveBench.telephone(301)])
        // Stopped as it begins.
        _ = try record(bench, "2.1")
        bench.stop()
        try startPaced(bench)
        try pace(bench) { try record(bench, "2.1").canary?.endedAt != nil }
        #expect(try record(bench, "2.1").figures.counts.accepted == 4)
        #expect(try record(bench, "2.0").state == .running)
        // Devices that register or are removed during the canary are counted as such.
        try bench.register(400...401)
        try bench.remove(6)
        #expect(try record(bench, "2.1").figures.counts.pending == 321 - 3)
        try release(bench)
        #expect(try record(bench, "2.0").state == .superseded)
        try pace(bench) { try record(bench, "2.1").state == .completed }
        let newer = try record(bench, "2.1")
        #expect(newer.figures.counts.accepted == 322)
        #expect(bench.production.figures.duplicates == 0)
        #expect(try bench.store.check { _ in true } == [])
    }

    @Test func aCanaryThatIsCancelledLeavesNothingInForce() throws {
        let bench = try bench(1...40)
        try bench.start()
        try bench.raise("2.0")
        _ = try bench.wait(for: .completed)
        try bench.raise("2.1", canary: Self.canary)
        #expect(try bench.until { try record(bench, "2.1").canary?.endedAt != nil })
        let canary = try record(bench, "2.1")
        #expect(try bench.store.move(canary.key, .cancelled, at: bench.clock.now))
        #expect(try staged(bench) == nil && inForce(bench)?.version.text == "2.0")
        let ended = try record(bench, "2.1")
        #expect(ended.figures.counts.accepted == 2 && ended.figures.counts.cancelled == 38)
        // Nor does a later bump, or the gate, bring it back.
        _ = try bench.store.apply(
            VersionBump(app: LiveBench.app, latest: try Version("3.0")), actor: "test", source: "test",
            at: bench.clock.now, draft: nil, receipt: nil, render: { _ in StoredAnswer(status: 200, body: []) })
        #expect(try staged(bench) == nil)
        #expect(try bench.store.version(of: LiveBench.app)?.requirements.waiting == [])
        #expect(bench.production.accepted().distinctIDs == 42)
        #expect(try bench.store.check { _ in true } == [])
    }

    /// FAULTS 1.2: the pause between waves released it to everybody.
    @Test func theRulesBetweenWavesNeverReleaseIt() throws {
        let bench = try bench()
        try bench.start {
            $0.waves = WavePlan(ends: [3_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.raise("2.0", canary: Self.canary)
        #expect(try bench.until { try record(bench, "2.0").canary?.endedAt != nil })
        bench.clock.advance(by: .seconds(1200))
        bench.fanOut?.poke()
        #expect(!bench.production.wait(forRequests: 4, deadline: .milliseconds(500)))
        try release(bench)
        #expect(try bench.until { try record(bench, "2.0").figures.waves.list.first?.endedAt != nil })
        let first = try record(bench, "2.0")
        #expect(first.figures.waves.list.map(\.devices).reduce(0, +) == 297, "the canary is of no wave")
        #expect(first.inForce == nil, "in force for the first wave alone")
        bench.clock.advance(by: .seconds(601))
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 300 && bench.production.figures.duplicates == 0)
        #expect(try bench.store.check { _ in true } == [])
    }

    @Test func itsTimeToLiveDoesNotRunOut() throws {
        let bench = try bench()
        try bench.start()
        try bench.raise("2.0", canary: Self.canary)
        #expect(try bench.until { try record(bench, "2.0").canary?.endedAt != nil })
        bench.clock.advance(by: .seconds(20 * 86_400))
        bench.fanOut?.poke()
        #expect(!bench.production.wait(forRequests: 4, deadline: .milliseconds(500)))
        #expect(try record(bench, "2.0").state == .running)
        try release(bench)
        #expect(try record(bench, "2.0").facts.expiresAt > bench.clock.now)
    }

    @Test func aCanaryThatNobodyIsInWaitsAndAnotherTakesItsPlace() throws {
        let bench = try bench(1...20)
        try bench.start {
            $0.waves = WavePlan(ends: [10_000])
            $0.waveRules = WaveRules(pause: .zero, needsApproval: true)
        }
        try bench.raise("2.0", canary: ["nobody"])
        #expect(try bench.until { try record(bench, "2.0").canary?.endedAt != nil })
        #expect(try record(bench, "2.0").state == .running)
        try bench.raise("2.1", canary: Self.canary)
        #expect(try bench.until { try record(bench, "2.1").canary?.endedAt != nil })
        let newer = try record(bench, "2.1")
        #expect(newer.state == .running && newer.figures.counts.accepted == 2)
        #expect(try record(bench, "2.0").state == .superseded)
        #expect(try staged(bench)?.version == newer.requirement.version)
        try release(bench)
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 20)
    }

    @Test func whoChangedHandsBeforeThePushComesWithTheOthers() throws {
        let bench = try bench(1...20)
        try bench.raise("2.0", canary: Self.canary)
        let made = try #require(
            try bench.store.reconcile(
                LiveBench.app, draft: CampaignDraft(downloadURL: "https://example.com", timeToLive: .seconds(86_400)),
                at: bench.clock.now
            ).campaign)
        for _ in 0..<2 { try bench.store.lineUpCanary(made.key, at: bench.clock.now) }
        #expect(try record(bench, "2.0").figures.counts.retrying == 2)
        try bench.register(5...5, telephone: { _ in "another" })
        try bench.start()
        #expect(try bench.until { try record(bench, "2.0").canary?.endedAt != nil })
        let canary = try record(bench, "2.0")
        #expect(canary.figures.counts.accepted == 1 && canary.figures.filteredBy == [.notInAudience: 1])
        try release(bench)
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 20 && end.figures.counts.filtered == 0)
        #expect(try bench.store.check { _ in true } == [])
    }
}
