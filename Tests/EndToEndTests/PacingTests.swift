// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// The pace and the waves as an operator sees them, with the real binary and the push service's own record of arrivals.
@Suite(.serialized, .ownMachine) struct PacingTests {
    /// The arrivals of all pushes, in milliseconds since 1970.
    private func arrivals(_ bench: Workbench) throws -> [Double] {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try bench.record().map { line in
            let text = try #require(line["at"] as? String)
            return try format.parse(text).timeIntervalSince1970 * 1000
        }.sorted()
    }

    /// The most arrivals in any second.
    private func busiest(_ times: [Double]) -> Int {
        var (most, first) = (0, 0)
        for index in times.indices {
            while times[index] - times[first] >= 1000 { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    private func json(_ bench: Workbench, _ id: String) throws -> [String: Any] {
        try bench.api("GET", "/v1/campaigns/\(id)").json
    }

    private func wave(_ bench: Workbench, _ id: String) throws -> [String: Any] {
        try #require(try json(bench, id)["wave"] as? [String: Any])
    }

    @Test(.enabled(if: Patience.isShort, "a sanitizer slows what is measured"))
    func theRateHoldsAtArrivalAndAPauseSavesNothingUp() throws {
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 100 },") { $0.latency = .milliseconds(50) }
        try bench.start()
        let fleet = Fleet(count: 960, withoutTelephone: 6)
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 250, deadline: .seconds(60)))
        let status = try json(bench, id)
        let rate = try #require(status["ratePerSecond"] as? Double)
        // A machine that stalls for a moment sends less, never more: a pace saves nothing up.
        #expect((50...110).contains(rate), "\(rate)")
        #expect(status["rateLimit"] as? Double == 100)

        #expect(try bench.command("campaigns", "pause", id).status == 0)
        try bench.follow(id) { $0.state == "paused" && $0.counts["inFlight"] == 0 }
        let seen = bench.simulator.figures.requests
        #expect(
            !bench.simulator.wait(forRequests: seen + 1, deadline: .seconds(2)), "nothing is sent while it is paused")
        #expect(try bench.command("campaigns", "resume", id).status == 0)
        try #require(bench.simulator.wait(forRequests: seen + 50, deadline: .seconds(60)))
        let text = try bench.command("campaigns", "show", id).output
        #expect(text.contains("at most 100/s"), "\(text)")
        let left = try #require(try json(bench, id)["secondsLeft"] as? Int)
        let asked = ContinuousClock.now

        let end = try bench.follow(id, within: .seconds(60)) { $0.isFinal }
        let took = (ContinuousClock.now - asked) / .seconds(1)
        #expect(
            took >= Double(left) * 0.9 - 1 && took <= Double(left) * 2 + 10, "\(left) s foretold, \(took) s taken")
        #expect(end.counts["accepted"] == 800 && end.addsUp)
        let times = try arrivals(bench)
        // The bucket's own bound is 111. A push service that got no processor for a moment sees the pushes of that moment together.
        // The pause lasted more than two seconds and is left out.
        let stall = zip(times.dropFirst(), times).map { $0 - $1 }.filter { $0 < 1500 }.max() ?? 0
        #expect(busiest(times) <= 125 + Int(stall / 10), "\(busiest(times)) in one second, \(stall) ms without any")
        let metrics = try Scrape(of: #require(bench.relay))
        #expect(metrics["upgrade_relay_push_rate_limit_per_second", "app", Workbench.app] == 100)
    }

    @Test func aReloadChangesTheRateAtOnce() throws {
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 1 },")
        try bench.start()
        try bench.register(Fleet(count: 300))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 3, deadline: .seconds(60)))
        #expect(bench.simulator.figures.requests < 20)
        try bench.reconfigure("ratePerSecond: 1 ", "ratePerSecond: 1000 ")
        try bench.reload()
        let end = try bench.follow(id, within: .seconds(60)) { $0.isFinal }
        #expect(end.counts["accepted"] == 300)
    }

    @Test func killsBetweenWavesKeepTheWaveAndItsApproval() throws {
        let bench = try Workbench(
            iosKeys: "pace: { waves: [10, 40, 100], betweenWaves: { approval: true } },")
        try bench.start()
        try bench.register(Fleet(count: 600))
        let plan = try bench.command("plan", Workbench.app, "ios", "--required", "2.0.0").output
        #expect(plan.contains("in waves, and forced with them: 10 %, 40 %, 100 % of the users\n"), "\(plan)")
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        var sent = 0
        for number in 1...2 {
            try bench.follow(id) { $0.state == "suspended" && $0.counts["accepted"] ?? 0 > sent }
            let before = try wave(bench, id)
            sent = try #require(try json(bench, id)["counts"] as? [String: Int])["accepted"] ?? 0
            bench.kill()
            try bench.start()
            let after = try wave(bench, id)
            #expect(before.mapValues { "\($0)" } == after.mapValues { "\($0)" })
            #expect(after["number"] as? Int == number && after["pending"] as? Int == 0)
            let reason = try #require(try json(bench, id)["reason"] as? String)
            #expect(reason.hasPrefix("WaveDone: wave \(number) of 3"), "\(reason)")
            #expect(!bench.simulator.wait(forRequests: sent + 1, deadline: .milliseconds(700)))
            #expect(try bench.command("campaigns", "resume", id, "--yes").status == 0)
        }
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.state == "completed" && end.counts["accepted"] == 600 && end.addsUp)
        #expect(bench.simulator.figures.distinctTokens == 600)
        #expect(bench.simulator.figures.duplicates == 0)
    }

    @Test func aKillInAPauseBetweenWavesKeepsItsEndAndReleaseShortensIt() throws {
        let bench = try Workbench(iosKeys: "pace: { waves: [20, 100], betweenWaves: { pause: \"1h\" } },")
        try bench.start()
        try bench.register(Fleet(count: 200))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.reason?.hasPrefix("wave 1 of 2 is done; the next begins at ") == true }
        let before = try #require(try wave(bench, id)["nextAt"] as? String)
        let sent = bench.simulator.figures.requests
        bench.kill()
        try bench.start()
        try bench.follow(id) { $0.reason?.contains(before) == true }
        #expect(bench.simulator.figures.requests == sent)
        let left = try #require(try json(bench, id)["secondsLeft"] as? Int)
        #expect((3_500...3_660).contains(left))
        #expect(try bench.command("campaigns", "release", id, "--yes").status == 0)
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 200)
        #expect(bench.simulator.figures.duplicates == 0)
    }
}
