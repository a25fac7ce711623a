// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import SeedApps
import TestPeers
import Testing

@testable import PushSimulator

/// The main job with real parts at every stop.
@Suite(.serialized, .ownThread) struct MainWayTests {
    @Test func aSignedWebhookReachesEveryPhoneThatNeedsIt() throws {
        let fleet = Fleet(count: 2_000, withoutTelephone: 10, current: 7)
        let dead = Set(fleet.behind.prefix(30).map(\.token))
        let bad = Set(fleet.behind.dropFirst(100).prefix(5).map(\.token))
        let bench = try Workbench {
            $0.faults.deadTokens = dead
            $0.faults.badTokens = bad
        }
        try bench.start()
        try bench.register(fleet)
        let answer = try bench.bump("2.0.0", id: "release-2")
        #expect(answer.status == 202)
        let campaign = try bench.campaign(of: answer)
        let end = try bench.follow(campaign) { $0.isFinal }

        #expect(end.state == "completed")
        #expect(end.addsUp)
        #expect(end.counts["audience"] == 2_000)
        #expect(end.counts["accepted"] == fleet.behind.count - 35)
        #expect(end.counts["unregistered"] == 30)
        #expect(end.counts["rejected"] == 5)
        #expect(end.rejectedBy == ["BadDeviceToken": 5])
        let noTelephone = fleet.devices.filter { $0.telephone == nil }.count
        #expect(end.filteredBy["noTelephone"] == noTelephone)
        #expect(end.filteredBy["alreadyCurrent"] == 2_000 - noTelephone - fleet.behind.count)

        // The push service's record: each phone once. The bench checks each payload against its user's phone.
        let record = try bench.record()
        #expect(record.count == fleet.behind.count - 35)
        #expect(Set(record.compactMap { $0["token"] as? String }).count == record.count)

        // The same webhook again: the same answer, and nothing moves.
        let replay = try bench.bump("2.0.0", id: "release-2")
        #expect(replay.status == 202)
        #expect(try bench.campaign(of: replay) == campaign)
        // The same version from another sender: no second campaign.
        let again = try bench.bump("2.0", id: "another")
        #expect(again.status == 200)
        #expect(again.json["campaign"] is NSNull)
        // A lower one is refused.
        let lower = try bench.bump("1.5", id: "lower")
        #expect(lower.status == 409)
        #expect(bench.simulator.figures.accepted == record.count)

        // The dead are known dead now.
        let second = try bench.follow(try bench.campaign(of: bench.bump("2.1.0"))) { $0.isFinal }
        #expect(second.filteredBy["knownDead"] == 30)
        #expect(second.addsUp)
    }

    @Test func aSecretThatIsNoTextVerifiesAsItIs() throws {
        let bench = try Workbench()
        // As "head -c 32 /dev/urandom" makes it: not UTF-8.
        let key = [0xFF, 0x00, 0xC3, 0x28] + Array(UInt8(0x80)...0x9B)
        try Data(key).write(to: URL(filePath: bench.path("webhook-secret")))
        try bench.start()
        let relay = try #require(bench.relay)
        let webhook = Workbench.webhook("2.0.0", id: "release-2", to: "http://\(relay.address)", key: key)
        let answer = try HTTPClient().send(webhook)
        #expect(answer.status == 202, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(try bench.bump("2.1.0").status == 401, "another secret")
    }

    @Test func theDryRunShowsWhatAPhoneWouldTake() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 20, withoutTelephone: 5))
        let body = #"{"required":"2.0.0","message":"\u00dcber \"2\" \ud83d\ude95","telephones":["13800000001"]}"#
        let plan = try bench.api("POST", "/v1/apps/\(Workbench.app)/ios/plan", body: Array(body.utf8))
        #expect(plan.status == 200)
        #expect(plan.json["toPush"] as? Int == 16 && plan.json["canary"] as? Int == 1)
        var phone = SeedClient(userTelephone: "13800000001")
        let sample = try JSONSerialization.data(withJSONObject: try #require(plan.json["samplePayload"]))
        #expect(
            phone.receive(sample)
                == .accepted(alert: "\u{dc}ber \"2\" \u{1f695}", downloadURL: "https://apps.apple.com/app/id1173193999")
        )
    }
}
