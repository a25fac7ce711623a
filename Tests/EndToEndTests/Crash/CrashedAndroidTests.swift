// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing
import WireFormat

/// SIGKILL at random moments of an Android campaign. FCM has no idempotency key: pushes in flight are sent again, and the app
/// recognises them by `data.pushId`.
@Suite(.serialized, .ownThread) struct CrashedAndroidTests {
    @Test func killsInACampaignLoseNothing() throws {
        var plan = CrashPlan()
        let fleet = Fleet(count: plan.devices, withoutTelephone: 20, current: 33)
        let behind = fleet.behind
        let dead = Set(behind.prefix(20).map(\.token))
        let bench = try AndroidBench {
            $0.latency = .milliseconds(20)
            $0.faults.deadTokens = dead
        }
        try bench.start()
        try bench.register(fleet)
        let id = try bench.require("2.0.0")
        var (unrecorded, told) = (0, "Android campaign, \(plan)\nkill | taken | recorded | next push after\n")
        for number in 1...plan.kills {
            let figures = bench.simulator.figures
            let rest = max(1, behind.count - figures.distinctTokens)
            let more = Int.random(in: 0...(rest * 5 / 4 / (plan.kills - number + 1)), using: &plan.random)
            _ = bench.simulator.wait(forRequests: figures.requests + min(more, rest), deadline: .seconds(60))
            plan.pass(upTo: .milliseconds(25))
            bench.kill()
            let killed = ContinuousClock.now
            // The push service also takes the requests that the dead daemon's sockets still held.
            try #require(
                bench.simulator.wait(deadline: .seconds(60)) { $0.connectionsOpen == 0 }, "\(plan), kill \(number)")
            let taken = bench.simulator.figures.distinctIDs
            let image = try StoreImage(of: bench.path("relay.db"))
            defer { image.remove() }
            let recorded = try image.accepted()
            #expect(recorded <= taken, "\(plan), kill \(number): recorded and never taken")
            try image.expectSound("\(plan), kill \(number)")
            unrecorded += taken - recorded
            let seen = bench.simulator.figures.requests
            try bench.start()
            var pause = "-"
            if taken < behind.count - dead.count {
                try #require(
                    bench.simulator.wait(forRequests: seen + 1, deadline: .seconds(60)), "\(plan), kill \(number)")
                pause = "\(Int((.now - killed) / .milliseconds(1))) ms"
            }
            told += "\(number) | \(taken) | \(recorded) | \(pause)\n"
        }
        let end = try bench.end(of: id)
        let figures = bench.simulator.figures
        print(
            "\(told)accepted \(figures.distinctIDs), twice \(figures.duplicates), access tokens \(figures.providerTokens)"
        )
        #expect(end.state == "completed" && end.addsUp, "\(plan): \(end)")
        #expect(end.counts["accepted"] == behind.count - dead.count, "\(plan): \(end)")
        #expect(end.counts["unregistered"] == dead.count, "\(plan): UNREGISTERED, and nothing else, ends a token")
        #expect(figures.duplicates <= unrecorded, "\(plan): only what was not recorded at a kill is sent again")
        #expect(figures.rejectedBy.keys.allSatisfy { $0 == "UNREGISTERED" }, "\(plan): \(figures.rejectedBy)")
        var ids: [String: Set<String>] = [:]
        for push in try bench.record() {
            ids[try #require(push["token"]?.string), default: []].insert(try #require(push["pushId"]?.string))
        }
        #expect(Set(ids.keys) == Set(behind.map(\.token)).subtracting(dead), "\(plan): each of them, and nobody else")
        #expect(ids.values.allSatisfy { $0.count == 1 }, "\(plan): sent again with the same id")
    }
}
