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

/// Reminders between a real store and a real push service, on a clock that the test moves.
@Suite(.serialized, .ownMachine) struct ReminderLiveTests {
    private static let day = Duration.seconds(86_400)

    private func bench(_ devices: ClosedRange<Int>, _ faults: FaultScript = FaultScript()) throws -> LiveBench {
        let bench = try LiveBench(faults)
        try bench.register(devices)
        return bench
    }

    private func start(_ bench: LiveBench, _ days: Int..., change: (inout AppRoute) -> Void = { _ in }) throws {
        try bench.start {
            $0.reminders = ReminderSchedule(days.map { Self.day * $0 })
            change(&$0)
        }
    }

    private func upgrade(_ bench: LiveBench, _ numbers: some Collection<Int>, to version: String = "2.0") throws {
        let version = try Version(version)
        try bench.store.sawVersions(
            numbers.map { Sighting(app: LiveBench.app, token: LiveBench.token($0), version: version) },
            at: bench.clock.now)
    }

    /// Lets time pass, for the push service too, which checks the age of tokens.
    private func pass(_ bench: LiveBench, _ time: Duration, _ faults: FaultScript = FaultScript()) throws {
        let before = try #require(try bench.store.version(of: LiveBench.app)?.updatedAt)
        bench.clock.advance(by: time)
        var faults = faults
        faults.clockAhead = (bench.clock.now - before).milliseconds / 1000
        try bench.production.play(faults)
        bench.fanOut?.poke()
    }

    /// Returns the campaign once `rounds` rounds of it are over.
    private func wait(_ bench: LiveBench, rounds: Int) throws -> CampaignRecord {
        let isThere = try bench.until {
            let campaign = try bench.campaign()
            return campaign.figures.rounds.count == rounds && campaign.state == .completed
        }
        let last = try bench.campaign()
        try #require(isThere, "\(last)")
        return last
    }

    @Test func thoseStillBehindArePushedToOnceMoreUnderTheSameIdAndNobodyElse() throws {
        var script = FaultScript()
        script.badTokens = [LiveBench.token(2_500)]
        let bench = try bench(1...2_500, script)
        try bench.register(2_501...2_600, environment: .sandbox)
        try start(bench, 3, 7)
        try bench.raise()
        let first = try bench.wait(for: .completed)
        #expect(first.figures.counts.accepted == 2_599 && first.figures.rounds.isEmpty)
        // 1,502 of the 2,599 have upgraded, are gone or have no user.
        try upgrade(bench, Array(1...1_500))
        try bench.remove(1_501)
        try bench.register(1_502...1_502, telephone: { _ in nil })
        try pass(bench, Self.day * 3 - .seconds(1))
        let isEarly = try bench.until(deadline: .milliseconds(700)) { try !bench.campaign().figures.rounds.isEmpty }
        #expect(!isEarly)
        try pass(bench, .seconds(1))
        let reminded = try wait(bench, rounds: 1)
        let round = try #require(reminded.figures.rounds.first)
        #expect(round.kind == .reminder && round.devices == 1_097)
        #expect(round.dueAt == first.facts.startedAt.map { $0 + Self.day * 3 })
        #expect(reminded.figures.counts.accepted == 2_599 && reminded.figures.counts.rejected == 1)
        #expect(reminded.figures.upgraded == 1_500)
        let taken = bench.production.accepted()
        #expect(taken.duplicates == 1_097 && taken.distinctIDs == 2_599, "the same ids")
        #expect((1...1_502).allSatisfy { taken.count(ofToken: LiveBench.token($0)) == 1 })
        #expect((1_503...2_499).allSatisfy { taken.count(ofToken: LiveBench.token($0)) == 2 })
        #expect((2_501...2_600).allSatisfy { taken.count(ofToken: LiveBench.token($0)) == 2 })
        #expect(try bench.store.check { _ in true } == [])
        // The second reminder finds its devices among the ledger's rows.
        try upgrade(bench, Array(1_503...2_000))
        try pass(bench, Self.day * 4)
        let last = try wait(bench, rounds: 2)
        #expect(last.figures.rounds[1].devices == 599 && last.figures.counts.accepted == 2_599)
        #expect(bench.production.accepted().tokensByCount == [1: 1_502, 2: 498, 3: 599])
        #expect(try bench.store.check { _ in true } == [])
        // No further reminder follows.
        try pass(bench, Self.day * 30)
        #expect(
            try bench.until(deadline: .milliseconds(700)) { try bench.campaign().figures.rounds.count > 2 } == false)
    }

    @Test func aRequirementThatIsNotTheNewestIsNotRemindedOf() throws {
        let bench = try bench(1...50)
        try start(bench, 1)
        try bench.raise("2.0")
        _ = try bench.wait(for: .completed)
        try bench.raise("3.0")
        _ = try bench.wait(for: .completed)
        try pass(bench, Self.day * 2)
        let reminded = try wait(bench, rounds: 1)
        #expect(reminded.requirement.version.text == "3.0")
        let all = try bench.store.campaigns(before: nil, limit: 9)
        #expect(all.map(\.figures.rounds.count) == [1, 0])
    }

    @Test func aReminderThatIsRefusedIsWhatTheServiceSays() throws {
        let bench = try bench(1...100)
        try start(bench, 1)
        try bench.raise()
        _ = try bench.wait(for: .completed)
        var script = FaultScript()
        script.deadTokens = [LiveBench.token(7)]
        script.badTokens = [LiveBench.token(8)]
        try pass(bench, Self.day, script)
        let end = try wait(bench, rounds: 1)
        #expect(
            end.figures.counts.accepted == 98 && end.figures.counts.unregistered == 1
                && end.figures.counts.rejected == 1)
        #expect(end.figures.rounds[0].devices == 100)
        #expect(try bench.device(7).retiredAt != nil)
        #expect(try bench.store.check { _ in true } == [])
    }

    @Test func wavesCountEachPushOnceAndAreNotBegunAnew() throws {
        let bench = try bench(1...1_000)
        try start(bench, 1) {
            $0.waves = WavePlan(ends: [1_000, 10_000])
            $0.waveRules = WaveRules(pause: .zero)
        }
        try bench.raise()
        let first = try bench.wait(for: .completed)
        try pass(bench, Self.day)
        let end = try wait(bench, rounds: 1)
        #expect(end.figures.counts.accepted == 1_000 && end.figures.rounds[0].devices == 1_000)
        #expect(end.figures.waves == first.figures.waves)
        #expect(bench.production.accepted().tokensByCount == [2: 1_000])
    }
}
