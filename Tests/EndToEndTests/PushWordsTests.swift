// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing
import WireFormat

/// The texts of `push.alert` and its neighbours, as the push services took them.
@Suite(.ownThread) struct PushWordsTests {
    @Test func anIOSAppGetsThemAndAReloadChangesThem() throws {
        let bench = try Workbench()
        let plain = #"alert: "Upgrade, please.""#
        try bench.reconfigure(
            plain, plain + #", sound: "default", interruptionLevel: "time-sensitive", threadId: "upgrades""#)
        try bench.start()
        try bench.register(Fleet(count: 5))
        _ = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        let aps = try #require(try bench.record().first?["payload"] as? [String: Any])["aps"] as? NSDictionary
        #expect(
            aps == [
                "alert": "Upgrade, please.", "sound": "default", "interruption-level": "time-sensitive",
                "thread-id": "upgrades",
            ] as NSDictionary)

        let keys = #"alert: { titleLocKey: "TITLE", locKey: "TEXT", locArgs: ["1"] }"#
        try bench.reconfigure(plain, keys)
        try bench.reload()
        func sample(_ message: String = "") throws -> NSDictionary? {
            let plan = try bench.api(
                "POST", "/v1/apps/\(Workbench.app)/ios/plan", body: Array(#"{"required":"3.0.0"\#(message)}"#.utf8))
            let aps = (plan.json["samplePayload"] as? [String: Any])?["aps"] as? [String: Any]
            return aps?["alert"] as? NSDictionary
        }
        #expect(
            try sample()
                == ["title-loc-key": "TITLE", "loc-key": "TEXT", "loc-args": ["1"]] as NSDictionary)
        #expect(
            try sample(#","message":"Now!""#) == ["title-loc-key": "TITLE", "body": "Now!"] as NSDictionary)
    }

    @Test func anAndroidAppGetsThem() throws {
        let bench = try AndroidBench(
            push: #"sound: "ping", alert: { title: "Example", locKey: "text", locArgs: ["1"] }"#,
            fcm: #"""
                notification: {}, analyticsLabel: "upgrade-{campaign}", bandwidthConstrainedOk: true,
                restrictedSatelliteOk: true,
                """#)
        try bench.start()
        try bench.register(Fleet(count: 5))
        let id = try bench.require("2.0.0")
        #expect(try bench.end(of: id).counts["accepted"] == 5)
        let message = try #require(try bench.record().first?["payload"]?["message"])
        #expect(message["notification"] == ["title": .string("Example")])
        let android = try #require(message["android"])
        #expect(
            android["notification"] == [
                "body_loc_key": .string("text"), "body_loc_args": .array([.string("1")]), "sound": .string("ping"),
            ])
        #expect(android["fcm_options"] == ["analytics_label": .string("upgrade-\(id)")])
        #expect(android["bandwidth_constrained_ok"] == .bool(true) && android["restricted_satellite_ok"] == .bool(true))
    }
}
