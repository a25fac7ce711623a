// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Testing
import UpgradeRules

@testable import FanOut
@testable import PushSimulator

/// Campaigns that are sent again by hand, between a real store and a real push service.
@Suite(.serialized, .ownMachine) struct RetryLiveTests {
    private static let everything = Set(CampaignRound.retried)

    private func retry(
        _ bench: LiveBench, _ states: Set<DeliveryState> = everything, timeToLive: Duration = .seconds(86_400)
    ) throws -> Reopening {
        let draft = RoundDraft(.retry(states), timeToLive: timeToLive)
        let answer = try bench.store.reopen(bench.campaign().key, for: draft, at: bench.clock.now)
        bench.fanOut?.poke()
        return answer
    }

    private func id(_ number: Int, _ bench: LiveBench) throws -> String {
        PushID.text(campaign: try bench.campaign().id, device: try bench.device(number).id)
    }

    @Test func whatWasRejectedGoesOutAgainWithTheSameIdAndWhoHasUpgradedIsFiltered() throws {
        var script = FaultScript()
        script.badTokens = Set((1...5).map(LiveBench.token))
        let bench = try LiveBench(script)
        try bench.register(1...100)
        try bench.start()
        try bench.raise()
        let first = try bench.wait(for: .completed)
        #expect(first.figures.counts.accepted == 95 && first.figures.counts.rejected == 5)
        let started = try #require(first.facts.startedAt)
        // Devices that have upgraded, were removed and moved to another user since.
        try bench.register(1...1, version: "2.0")
        try bench.remove(2)
        try bench.register(3...3, telephone: { _ in "another" })
        try bench.production.play(FaultScript())
        bench.clock.advance(by: .seconds(10))
        #expect(try retry(bench, [.rejected]) == .opened)
        let end = try bench.wait(for: .completed)
        #expect(
            end.figures.counts.accepted == 98 && end.figures.counts.rejected == 0 && end.figures.counts.filtered == 2)
        #expect(end.figures.filteredBy[.alreadyCurrent] == 1 && end.figures.filteredBy[.noTelephone] == 1)
        #expect(
            end.figures.rejectedBy.values.reduce(0, +) == 0
                && end.figures.counts.audience == 100)
        #expect(end.figures.rounds.map(\.devices) == [5] && end.facts.startedAt == started)
        #expect(end.facts.expiresAt == bench.clock.now + .seconds(86_400), "the whole time to live once more")
        for number in 3...5 {
            let delivery = try bench.delivery(number)
            #expect(delivery.state == .accepted && delivery.attempts == 2)
            #expect(bench.production.accepted().contains(id: try id(number, bench)), "the id that it had")
        }
        #expect(try bench.delivery(3).telephone == "another")
        #expect(bench.production.figures.requests == 103, "nobody else was pushed to")
        #expect(try bench.store.check { _ in true } == [])
        #expect(try retry(bench, [.rejected]) == .nothingLeft)
    }

    @Test func whatExpiredGoesOutAgainWhereItsTimeCountsAnew() throws {
        var script = FaultScript()
        script.busyTokens = Set((1...20).map(LiveBench.token))
        script.busyTries = 1_000
        let bench = try LiveBench(script)
        try bench.register(1...100)
        try bench.start { $0.timeToLive = .seconds(600) }
        try bench.raise()
        // Waits for the other 80, too: a push without a turn until then would expire with those.
        let isSent = try bench.until {
            let counts = try bench.store.campaigns(before: nil, limit: 1).first?.figures.counts
            return counts?.retrying == 20 && counts?.accepted == 80
        }
        try #require(isSent)
        bench.clock.advance(by: .seconds(601))
        bench.fanOut?.poke()
        let first = try bench.wait(for: .completed)
        #expect(first.figures.counts.accepted == 80 && first.figures.counts.expired == 20)
        var repaired = FaultScript()
        repaired.clockAhead = 601
        try bench.production.play(repaired)
        #expect(try retry(bench, [.expired], timeToLive: .seconds(600)) == .opened)
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 100 && end.figures.counts.expired == 0)
        #expect(bench.production.figures.duplicates == 0, "none had been taken")
        #expect(try bench.store.check { _ in true } == [])
    }

    @Test func aServiceThatIsDownWhenMuchIsSentAgainIsHeldBackFrom() throws {
        var script = FaultScript()
        script.badTokens = Set(stride(from: 3, through: 6_000, by: 3).map(LiveBench.token))
        let bench = try LiveBench(script)
        try bench.register(1...6_000)
        try bench.start()
        try bench.raise()
        #expect(try bench.wait(for: .completed).figures.counts.rejected == 2_000)
        let before = bench.production.figures.requests
        var down = FaultScript()
        down.serviceErrors = FaultScript.ServiceErrorBurst(afterN: 0, count: .max)
        try bench.production.play(down)
        #expect(try retry(bench) == .opened)
        let isHeld = bench.until { bench.fanOut?.faults().values.contains { $0.contains("sending waits") } ?? false }
        #expect(isHeld, "each had been tried once before, and that says nothing of the service now")
        #expect(bench.production.figures.requests - before < 1_000)
    }
}
