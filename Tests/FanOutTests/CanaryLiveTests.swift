// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
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
