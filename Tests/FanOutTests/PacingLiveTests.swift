// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import FanOut

/// The pace and the waves between a real store and a real push service.
@Suite(.serialized, .ownMachine) struct PacingLiveTests {
    private static func waves(_ ends: Int...) -> WavePlan? { WavePlan(ends: ends) }

    // MARK: The pace

    @Test func aSlowPaceSendsOneByOneAndDoesNotWriteForEachFilteredDevice() throws {
        let bench = try LiveBench()
        // Nineteen of twenty have no user.
        try bench.register(1...2_000) { $0 % 20 == 0 ? LiveBench.telephone($0) : nil }
        try bench.start { $0.pace = Pace(ratePerSecond: 50) }
        let began = ContinuousClock.now
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 100 && end.figures.counts.filtered == 1_900)
        #expect(ContinuousClock.now - began >= .milliseconds(1_850), "a hundred pushes at 50 a second")
        #expect(bench.store.figures().commits.count < 400, "about one for each batch, not for each device")
    }

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

    @Test func retriesTakeFromTheSameBucket() throws {
        var script = FaultScript()
        script.busyTokens = Set((1...60).map(LiveBench.token))
        script.busyTries = 1
        let bench = try LiveBench(script)
        try bench.register(1...60)
        try bench.start { $0.pace = Pace(ratePerSecond: 40) }
        try bench.raise()
        let all = try bench.until { try bench.newest?.figures.counts.retrying == 60 }
        #expect(all)
        bench.clock.advance(by: .seconds(60))
        let began = ContinuousClock.now
        bench.fanOut?.poke()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 60)
        #expect(ContinuousClock.now - began >= .milliseconds(1_350), "60 retries at 40 a second")
    }

    @Test func anotherPaceHoldsAtOnce() throws {
        let bench = try LiveBench()
        try bench.register(1...400)
        var route: AppRoute?
        try bench.start {
            $0.pace = Pace(ratePerSecond: 2)
            route = $0
        }
        try bench.raise()
        try #require(bench.production.wait(forRequests: 3, deadline: .seconds(60)))
        #expect(bench.production.figures.requests < 100)
        #expect(bench.fanOut?.work.rateLimits[LiveBench.app] == 2)
        var faster = try #require(route)
        faster.pace = Pace(ratePerSecond: 2_000)
        bench.fanOut?.reroute([faster])
        let end = try bench.wait(for: .completed, deadline: .seconds(60))
        #expect(end.figures.counts.accepted == 400)
    }

    @Test func theStatusForetellsTheEnd() throws {
        let bench = try LiveBench()
        // A fifth has no user and takes no time.
        try bench.register(1...500) { $0 % 5 == 0 ? nil : LiveBench.telephone($0) }
        try bench.start { $0.pace = Pace(ratePerSecond: 50) }
        try bench.raise()
        try #require(bench.production.wait(forRequests: 120, deadline: .seconds(60)))
        var told: (left: Int64, rate: Double)?
        let isTold = try bench.until {
            let record = try bench.campaign()
            guard let figures = bench.fanOut?.figures(of: record.key), record.figures.counts.accepted >= 120 else {
                return false
            }
            let left = figures.secondsLeft(
                figures.counts(record.figures.counts), waves: record.figures.waves, at: bench.clock.now)
            told = left.map { ($0, figures.rateLimit ?? 0) }
            return told != nil
        }
        let asked = ContinuousClock.now
        #expect(isTold && told?.rate == 50)
        _ = try bench.wait(for: .completed)
        let took = (ContinuousClock.now - asked) / .seconds(1)
        let left = Double(try #require(told?.left))
        // Within a tenth; the status shows whole seconds. A machine that stands still takes longer, never less.
        #expect(took >= left * 0.9 - 1 && took <= left * 2 + 10, "\(left) s foretold, \(took) s taken")
    }

    // MARK: Waves

    @Test func theAudienceGoesOutInPartsWithPausesBetween() throws {
        let bench = try LiveBench()
        try bench.register(1...1_000)
        try bench.start {
            $0.waves = Self.waves(500, 3_000, 10_000)
            $0.waveRules = WaveRules(pause: .seconds(600))
        }
        try bench.raise()
        var sent: Int64 = 0
        for wave in 0..<2 {
            let isOver = try bench.until { try bench.newest?.figures.waves.list[safe: wave]?.endedAt != nil }
            try #require(isOver)
            let record = try bench.campaign()
            let current = try #require(record.figures.waves.current)
            #expect(current.number == wave && current.accepted == current.devices && current.failed == 0)
            sent += current.devices
            #expect(record.figures.counts.accepted == sent)
            #expect(bench.production.figures.requests == Int(sent))
            // The next wave does not begin before its time.
            bench.clock.advance(by: .seconds(590))
            bench.fanOut?.poke()
            #expect(!bench.production.wait(forRequests: Int(sent) + 1, deadline: .milliseconds(500)))
            bench.clock.advance(by: .seconds(11))
            bench.fanOut?.poke()
        }
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 1_000)
        #expect(end.figures.waves.list.map(\.accepted) == end.figures.waves.list.map(\.devices))
        // About five percent, and not the first five that were registered.
        #expect((20...90).contains(end.figures.waves.list[0].devices))
    }

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

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
