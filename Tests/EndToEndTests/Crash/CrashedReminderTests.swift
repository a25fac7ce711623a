// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// SIGKILL at random moments of a reminder: while devices are queued, and while they are pushed to.
@Suite(.serialized, .ownThread) struct CrashedReminderTests {
    @Test func killsInAReminderLoseNobodyAndSendOnlyWhatWasNotRecordedOnceMore() throws {
        var plan = CrashPlan()
        let fleet = Fleet(count: plan.devices, withoutTelephone: 20, current: 33)
        let behind = fleet.behind.count
        let bench = try Workbench { $0.latency = .milliseconds(20) }
        try bench.reconfigure("timeToLive: \"7d\"", "timeToLive: \"7d\", remind: [\"3d\", \"7d\"]")
        try bench.start()
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        #expect(try bench.follow(id) { $0.isFinal }.counts["accepted"] == behind)
        #expect(bench.simulator.figures.requests == behind)
        // Four days later.
        #expect(try bench.sql("UPDATE campaign SET started_at = started_at - 4 * 86400000").status == 0)
        var unrecorded = 0
        for number in 1...plan.kills {
            let rest = max(1, 2 * behind - bench.simulator.figures.requests)
            let more = Int.random(in: 0...(rest / (plan.kills - number + 2)), using: &plan.random)
            _ = bench.simulator.wait(
                forRequests: max(bench.simulator.figures.requests, behind) + more, deadline: .seconds(60))
            plan.pass(upTo: .milliseconds(25))
            bench.kill()
            let comment = "\(plan), kill \(number)"
            // The push service also takes the requests that the dead daemon's sockets still held.
            try #require(bench.simulator.wait(deadline: .seconds(60)) { $0.connectionsOpen == 0 }, "\(comment)")
            let taken = bench.simulator.accepted().tokensByCount.reduce(0) { $0 + ($1.key > 1 ? $1.value : 0) }
            let image = try StoreImage(of: bench.path("relay.db"))
            defer { image.remove() }
            let recorded = try image.number("SELECT count(*) FROM delivery WHERE state = 2 AND attempts > 1")
            #expect(recorded <= taken, "\(comment): recorded and never taken")
            unrecorded += taken - recorded
            try image.expectSound(comment)
            try image.expectCountsToAddUp(comment)
            try bench.start()
        }
        let end = try bench.until("the reminder does not end: \(plan)") { () -> [String: Any]? in
            let campaign = try bench.api("GET", "/v1/campaigns/\(id)").json
            let isOver = campaign["state"] as? String == "completed" && (campaign["rounds"] as? [Any])?.count == 1
            return isOver ? campaign : nil
        }
        let round = try #require((end["rounds"] as? [[String: Any]])?.first)
        #expect(round["type"] as? String == "reminder" && round["devices"] as? Int == behind, "\(plan): \(round)")
        #expect((end["nextReminderAt"] as? String)?.hasSuffix("Z") == true, "the second one is to come")
        #expect((end["counts"] as? [String: Any])?["accepted"] as? Int == behind, "\(plan)")
        let twice = bench.simulator.figures.requests - 2 * behind
        #expect(twice >= 0 && twice <= unrecorded, "\(plan): \(twice) of \(unrecorded)")
        var ids: [String: [String]] = [:]
        for push in try bench.record() {
            ids[try #require(push["token"] as? String), default: []].append(try #require(push["apnsId"] as? String))
        }
        #expect(Set(ids.keys) == Set(fleet.behind.map(\.token)), "\(plan): each of them, and nobody else")
        #expect(ids.values.allSatisfy { $0.count >= 2 && Set($0).count == 1 }, "\(plan): with the id that it had")
        print("reminder, \(plan): \(behind) reminded, lost 0, sent once more \(twice) of \(unrecorded) not recorded")
    }
}
