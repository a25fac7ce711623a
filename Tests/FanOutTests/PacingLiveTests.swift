// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import FanOut

/// The pace and the waves between a real store and a real push service.
@Suite(.serialized, .ownMachine) struct PacingLiveTests {
    private static func waves(_ ends: Int...) -> WavePlan? { WavePlan(ends: ends) }

    // MARK: The pace

    @Test func withoutAPaceNothingIsCut() throws {
        let bench = try LiveBench()
        try bench.register(1...3_000)
        try bench.start()
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 3_000)
        #expect(end.figures.waves.isEmpty)
        #expect(bench.fanOut?.work.rateLimits == [:])
    }

    // MARK: Waves

    @Test func aWaveThatFailedHoldsTheNextUntilAnOperatorSaysSo() throws {
        var script = FaultScript()
        script.badTokens = Set((1...200).filter { $0 % 4 == 0 }.map(LiveBench.token))
        let bench = try LiveBench(script)
        try bench.register(1...200)
        try bench.start {
            $0.waves = Self.waves(5_000, 10_000)
            $0.waveRules = WaveRules(pause: .zero, failedShare: 0.05)
        }
        try bench.raise()
        let held = try bench.wait(for: .suspended)
        let wave = try #require(held.figures.waves.current)
        #expect(wave.number == 0 && wave.failed > 5 && wave.heldAt != nil)
        #expect(
            held.facts.reason?.hasPrefix("WaveFailed: \(wave.failed) of \(wave.devices) pushes of wave 1 of 2") == true)
        #expect(bench.production.figures.requests == Int(wave.devices))
        try bench.resume()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 150 && end.figures.counts.rejected == 50)
        #expect(end.figures.waves.list.map(\.failed).reduce(0, +) == 50)
    }

    @Test func whatIsTriedAgainInThePauseIsNotAFailure() throws {
        var script = FaultScript()
        script.busyTokens = Set((1...200).map(LiveBench.token))
        script.busyTries = 1
        let bench = try LiveBench(script)
        try bench.register(1...200)
        try bench.start {
            $0.waves = Self.waves(5_000, 10_000)
            $0.waveRules = WaveRules(pause: .seconds(60), failedShare: 0)
        }
        try bench.raise()
        try #require(try bench.until { try bench.newest?.figures.waves.current?.endedAt != nil })
        let before = try #require(try bench.campaign().figures.waves.current)
        #expect(before.failed == 0 && before.retrying > 50 && before.pushes == before.devices, "\(before)")
        bench.clock.advance(by: .seconds(10))
        bench.fanOut?.poke()
        try #require(try bench.until { try bench.newest?.figures.waves.current?.retrying == 0 })
        #expect(try bench.campaign().figures.waves.current?.failed == 0)
        let end = try bench.passTime(to: .completed, by: .seconds(70))
        #expect(end.figures.counts.accepted == 200)
    }

    @Test func aNewerRequirementEndsAPauseBetweenWaves() throws {
        let bench = try LiveBench()
        try bench.register(1...300)
        try bench.start {
            $0.waves = Self.waves(1_000, 10_000)
            $0.waveRules = WaveRules(pause: .seconds(86_000))
        }
        try bench.raise()
        try #require(try bench.until { try bench.newest?.figures.waves.current?.endedAt != nil })
        let first = try bench.campaign()
        try bench.raise("3.0")
        try #require(
            try bench.until { try bench.newest.map { $0.key != first.key && $0.figures.waves.areBetween } ?? false })
        let older = try #require(try bench.store.campaign(first.key))
        #expect(older.state == .superseded && older.figures.counts.audience == 300)
        #expect(older.figures.counts.cancelled == 300 - older.figures.counts.accepted)
    }
}

extension LiveBench {
    /// nil before the requirement was announced.
    fileprivate var newest: CampaignRecord? {
        get throws { try store.campaigns(before: nil, limit: 1).first }
    }
}
