// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// SIGKILL at random moments of a campaign, also while the daemon still recovers from the kill before.
@Suite(.serialized, .ownThread) struct CrashedCampaignTests {
    /// One kill, as a row of the printed table.
    private struct Kill {
        var moment: String
        /// Distinct pushes that the service had taken, and those that the ledger had recorded.
        var taken: Int
        var recorded: Int
        /// Opened by the daemon that was killed.
        var connections = 0
        /// From the kill to the first push after it.
        var pause: Duration?
    }

    /// The most pushes that can be in flight: `fanOut.batch` times the batches at once, and the streams of each connection that the
    /// daemon had opened, rounded up to a batch.
    private static func inFlight(connections: Int) -> Int { 16 * 500 + (connections * 1000 + 499) / 500 * 500 }

    @Test func killsInACampaignLoseNothing() throws {
        var plan = CrashPlan()
        let fleet = Fleet(count: plan.devices, withoutTelephone: 20, current: 33)
        let behind = fleet.behind.count
        let bench = try Workbench { $0.latency = .milliseconds(20) }
        try bench.start()
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        var kills: [Kill] = []
        var openedBefore = 0
        for number in 1...plan.kills {
            var kill = try die(bench, &plan, behind: behind, left: plan.kills - number)
            let killed = ContinuousClock.now
            try look(bench, &kill, "\(plan), kill \(number)")
            kill.connections = bench.simulator.figures.connectionsOpened - openedBefore
            let seen = bench.simulator.figures.requests
            openedBefore = bench.simulator.figures.connectionsOpened
            // After every fifth kill another one comes while the daemon recovers.
            if number % 5 == 0 {
                try bench.launch()
                plan.pass(upTo: .milliseconds(120))
                bench.kill()
            }
            try bench.start()
            if kill.recorded < behind {
                try #require(bench.simulator.wait(forRequests: seen + 1, deadline: .seconds(60)), "\(plan)")
                kill.pause = .now - killed
            }
            kills.append(kill)
        }
        let end = try bench.follow(id) { $0.isFinal }
        let twice = bench.simulator.figures.duplicates
        tell(plan, kills, twice: twice)
        #expect(end.state == "completed" && end.addsUp, "\(plan): \(end)")
        #expect(end.counts["accepted"] == behind, "\(plan)")
        let unrecorded = kills.reduce(0) { $0 + $1.taken - $1.recorded }
        #expect(twice <= unrecorded, "\(plan): only what was not recorded at a kill is sent again")
        #expect(
            kills.allSatisfy { $0.taken - $0.recorded <= Self.inFlight(connections: $0.connections) }, "\(plan)")
        #expect(try (bench.api("GET", "/v1/campaigns").json["items"] as? [Any])?.count == 1, "\(plan)")
        try compare(bench, id, fleet, plan)
    }

    /// Kills after a random count of pushes, and a random time after that.
    private func die(_ bench: Workbench, _ plan: inout CrashPlan, behind: Int, left: Int) throws -> Kill {
        let figures = bench.simulator.figures
        let rest = max(1, behind - figures.distinctTokens)
        // Sized so that even the last kill is likely to interrupt something.
        let more = Int.random(in: 0...(rest * 5 / 4 / (left + 1)), using: &plan.random)
        let reached = bench.simulator.wait(forRequests: figures.requests + min(more, rest), deadline: .seconds(60))
        let time = plan.pass(upTo: .milliseconds(25))
        bench.kill()
        return Kill(
            moment: "\(more) pushes\(reached ? "" : " (not reached)") and \(time / .milliseconds(1)) ms", taken: 0,
            recorded: 0)
    }

    /// Checks the store after a kill: it is sound and records no push that the service did not take.
    private func look(_ bench: Workbench, _ kill: inout Kill, _ comment: String) throws {
        // The push service also takes the requests that the dead daemon's sockets still held.
        try #require(
            bench.simulator.wait(deadline: .seconds(60)) { $0.connectionsOpen == 0 },
            "\(comment): its connections stay open")
        kill.taken = bench.simulator.figures.distinctIDs
        let image = try StoreImage(of: bench.path("relay.db"))
        defer { image.remove() }
        kill.recorded = try image.accepted()
        #expect(kill.recorded <= kill.taken, "\(comment): recorded and never taken")
        try image.expectSound(comment)
        try image.expectCountsToAddUp(comment)
    }

    /// Compares the ledger with the record, push by push.
    private func compare(_ bench: Workbench, _ id: String, _ fleet: Fleet, _ plan: CrashPlan) throws {
        var idsByToken: [String: Set<String>] = [:]
        for push in try bench.record() {
            idsByToken[try #require(push["token"] as? String), default: []]
                .insert(try #require(push["apnsId"] as? String))
        }
        #expect(Set(idsByToken.keys) == Set(fleet.behind.map(\.token)), "\(plan): each of them, and nobody else")
        #expect(idsByToken.values.allSatisfy { $0.count == 1 }, "\(plan): sent again with the same id")
        var ledger: [String: Set<String>] = [:]
        for delivery in try bench.deliveries(id) where delivery["state"] as? String == "accepted" {
            ledger[try #require(delivery["token"] as? String), default: []]
                .insert(try #require(delivery["apnsId"] as? String))
        }
        #expect(ledger == idsByToken, "\(plan): the ledger is the record")
    }

    private func tell(_ plan: CrashPlan, _ kills: [Kill], twice: Int) {
        var text = "campaign, \(plan)\nkill | moment | taken | recorded | in between | next push after\n"
        for (number, kill) in kills.enumerated() {
            let pause = kill.pause.map { "\($0 / .milliseconds(1)) ms" } ?? "-"
            text +=
                "\(number + 1) | \(kill.moment) | \(kill.taken) | \(kill.recorded) | \(kill.taken - kill.recorded) | \(pause)\n"
        }
        print(text + "lost 0, sent twice \(twice)")
    }
}
