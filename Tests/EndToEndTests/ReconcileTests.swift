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
}
