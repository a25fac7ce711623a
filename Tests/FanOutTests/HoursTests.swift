// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Testing
import UpgradeRules

@testable import FanOut
@testable import HTTP2

/// An app's hours hold work that would begin, and nothing else.
@Suite struct HoursTests {
    private static let production = "production"

    /// Hours from 08:00 to 22:00, in a zone in which it is `hour` when the test begins.
    private func bench(at hour: Int64, change: (inout AppRoute) -> Void = { _ in }) throws -> DispatcherBench {
        let start = try FanOutBench().clock.now.seconds
        let zone = LocalZone(name: "Test/Zone") { _ in hour * 3600 - start % 86_400 }
        let (from, to) = (try #require(SendingHours.DayTime("08:00")), try #require(SendingHours.DayTime("22:00")))
        let hours = try #require(SendingHours(from: from, to: to, zone: zone))
        return try DispatcherBench {
            $0.hours = hours
            change(&$0)
        }
    }

    /// Passes to the moment at which hours begin or end.
    private func pass(_ bench: DispatcherBench) throws {
        let now = bench.now
        let window = try #require(bench.route.hours).window(at: now)
        bench.pass((window.opens > now ? window.opens : window.closes) - now)
    }

    @Test func nothingLeavesBeforeTheyBeginAndAllDoesThen() throws {
        let bench = try bench(at: 3)
        try bench.register(1...100)
        try bench.raise()
        #expect(bench.lane.waiting(at: Self.production) == 0)
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .running && campaign.figures.counts.pending == 100)
        // The turn before the moment, and the turn at it.
        try pass(bench)
        bench.pass(.milliseconds(-1))
        _ = bench.dispatcher.turn([])
        #expect(bench.lane.waiting(at: Self.production) == 0)
        bench.pass(.milliseconds(1))
        bench.turn()
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().state == .completed && bench.counts.accepted == 100)
    }

    @Test func whatIsOnItsWayEndsAndItsRetryWaitsForTheMorning() throws {
        let bench = try bench(at: 21)
        try bench.register(1...500)
        try bench.raise()
        let out = bench.lane.waiting(at: Self.production)
        #expect(out > 0 && out < 500, "a probe")
        try pass(bench)
        // Two of them are due for a retry within seconds.
        bench.turn(
            bench.lane.answer(Self.production) { place, _ in
                TestLane.Reply(status: place < 2 ? 429 : 200, reason: place < 2 ? "TooManyRequests" : "")
            })
        #expect(try bench.counts.accepted == Int64(out - 2) && bench.counts.retrying == 2)
        for _ in 0..<10 {
            bench.pass(.seconds(1800))
            bench.turn()
            #expect(bench.lane.waiting(at: Self.production) == 0)
        }
        try pass(bench)
        bench.turn()
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().state == .completed && bench.counts.accepted == 500)
    }

    @Test func whatIsWantedAtOnceIsSentAlsoAfterARestart() throws {
        let bench = try bench(at: 3)
        try bench.register(1...500)
        try bench.raise()
        let campaign = try bench.bench.campaign().key
        let isHurried = try bench.bench.store.move(campaign, .hurried, at: bench.now)
        #expect(isHurried)
        bench.turn([.poke])
        #expect(bench.lane.waiting(at: Self.production) > 0)
        try bench.restart()
        bench.turn()
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().state == .completed && bench.counts.accepted == 500)
    }

    /// A pause cancels the hurry: an operator who has the time to pause has the time to wait.
    @Test func aPauseEndsTheHurry() throws {
        let bench = try bench(at: 3)
        try bench.register(1...500)
        try bench.raise()
        let campaign = try bench.bench.campaign().key
        _ = try bench.bench.store.move(campaign, .hurried, at: bench.now)
        _ = try bench.bench.store.move(campaign, .paused, at: bench.now)
        bench.turn([.poke])
        try bench.resume()
        #expect(bench.lane.waiting(at: Self.production) == 0)
    }

    @Test func noReminderBeginsAtNight() throws {
        let bench = try bench(at: 21) { $0.reminders = ReminderSchedule([.seconds(3600)]) }
        try bench.register(1...10)
        try bench.raise()
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().state == .completed)
        for _ in 0..<18 {
            bench.pass(.seconds(1800))
            bench.turn()
            #expect(try bench.bench.campaign().figures.rounds.isEmpty)
        }
        try pass(bench)
        bench.turn()
        #expect(try bench.bench.campaign().figures.rounds.map(\.kind) == [.reminder])
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().state == .completed)
    }

    /// Each wave comes into force with its first pushes.
    @Test func noWaveBeginsAtNight() throws {
        let bench = try bench(at: 21) {
            $0.waves = WavePlan(ends: [5_000, 10_000])
            $0.waveRules = WaveRules(pause: .seconds(3600))
        }
        try bench.register(1...40)
        try bench.raise()
        bench.serve(Self.production)
        #expect(try bench.bench.campaign().figures.waves.current?.endedAt != nil)
        for _ in 0..<18 {
            bench.pass(.seconds(1800))
            bench.turn()
            #expect(try bench.bench.campaign().figures.waves.current?.number == 0)
        }
        try pass(bench)
        bench.turn()
        #expect(try bench.bench.campaign().figures.waves.current?.number == 1)
        bench.serve(Self.production)
        #expect(try bench.counts.accepted == 40)
    }

    @Test func anotherConfigurationHoldsAtOnce() throws {
        let bench = try bench(at: 3)
        try bench.register(1...100)
        try bench.raise()
        var route = bench.route
        route.hours = nil
        bench.turn([.reroute([route])])
        bench.serve(Self.production)
        #expect(try bench.counts.accepted == 100)
    }
}
