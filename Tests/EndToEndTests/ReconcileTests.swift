// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// DESIGN, rule 2: a rise makes one campaign, however it came.
@Suite(.serialized, .ownThread) struct ReconcileTests {
    private static let insert =
        "INSERT INTO version(app, platform, required, download_url) VALUES('com.example.app', 'ios', '2.0.0', 'https://x.example')"

    private func campaigns(_ bench: Workbench) throws -> [[String: Any]] {
        try bench.api("GET", "/v1/campaigns").json["items"] as? [[String: Any]] ?? []
    }

    /// Within a second on an idle machine, as CONTRACT says; ten times that on a busy one.
    @Test func aRowWrittenByAnotherProgramStartsItsCampaignSoon() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 100))
        let start = ContinuousClock.now
        #expect(try bench.sql(Self.insert).status == 0)
        // The log line is the signal: it is written when the row is taken up, with its campaign.
        let line = bench.relay?.waitForLine("what is required changed", within: .seconds(60))
        #expect(line != nil)
        #expect(ContinuousClock.now - start < .seconds(10))
        let all = try campaigns(bench)
        #expect(all.count == 1)
        let end = try bench.follow(try #require(all.first?["id"] as? String)) { $0.isFinal }
        #expect(end.counts["accepted"] == 100)
    }

    @Test func aRowWrittenWhileTheDaemonWasDownIsAnnouncedOnceAtTheNextStart() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 100))
        bench.kill()
        #expect(try bench.sql(Self.insert).status == 0)
        for _ in 0..<3 {
            try bench.start()
            let all = try campaigns(bench)
            if let id = all.first?["id"] as? String {
                try bench.follow(id) { $0.isFinal }
            } else {
                #expect(bench.relay?.waitForLine("what is required changed", within: .seconds(60)) != nil)
            }
            bench.kill()
        }
        try bench.start()
        let all = try campaigns(bench)
        #expect(all.count == 1)
        let end = try bench.follow(try #require(all.first?["id"] as? String)) { $0.isFinal }
        #expect(end.counts["accepted"] == 100)
        #expect(bench.simulator.figures.distinctTokens == 100)
    }

    @Test func theDatabaseItselfRefusesAFallingVersion() throws {
        let bench = try Workbench()
        try bench.start()
        #expect(try bench.sql(Self.insert).status == 0)
        for version in ["1.9.9", "1.10", "0", "1.99999999"] {
            let answer = try bench.sql("UPDATE version SET required = '\(version)'")
            #expect(answer.status != 0, "\(version) is lower")
        }
        let nonsense = try bench.sql("UPDATE version SET required = '3.x'")
        #expect(nonsense.status != 0)
        #expect(try bench.sql("UPDATE version SET required = '2.0.10'").status == 0)
    }

    @Test func aNewerRequirementSupersedesTheOlder() throws {
        let bench = try Workbench { $0.latency = .milliseconds(500) }
        try bench.start()
        try bench.register(Fleet(count: 5_000))
        let first = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(first) { $0.state == "running" }
        let second = try bench.campaign(of: bench.bump("2.1.0"))
        let old = try bench.follow(first) { $0.isFinal && $0.counts["inFlight"] == 0 }
        #expect(old.state == "superseded")
        #expect(old.addsUp)
        #expect(old.counts["pending"] == 0)
        let new = try bench.follow(second) { $0.isFinal }
        #expect(new.state == "completed")
        #expect(new.counts["accepted"] == 5_000)
    }

    @Test func aCampaignCanBePausedResumedAndCancelled() throws {
        // Ten seconds of sending: time enough to pause and cancel.
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 2000 },") { $0.latency = .milliseconds(100) }
        try bench.start()
        try bench.register(Fleet(count: 20_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["accepted"] ?? 0 > 0 }
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/pause").status == 200)
        let paused = try bench.follow(id) { $0.state == "paused" && $0.counts["inFlight"] == 0 }
        #expect(paused.addsUp)
        #expect(paused.counts["accepted"] ?? 0 < 20_000)
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/resume").status == 200)
        try bench.follow(id) { $0.counts["accepted"] ?? 0 > paused.counts["accepted"] ?? 0 }
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/cancel").status == 200)
        let end = try bench.follow(id) { $0.isFinal && $0.counts["inFlight"] == 0 }
        #expect(end.state == "cancelled")
        #expect(end.addsUp)
        #expect(end.counts["pending"] == 0)
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/resume").status == 409)
    }
}
