// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import TestPeers
import Testing

/// The open paths of the real daemon: the check at login and the LaunchGate document.
@Suite(.serialized, .ownThread) struct LoginTests {
    private func get(_ bench: Workbench, _ path: String) throws -> HTTPResponse {
        guard let relay = bench.relay else { throw Unexpected("no daemon runs") }
        return try HTTPClient().send(HTTPRequest("GET", "http://\(relay.address)\(path)"))
    }

    private func check(_ bench: Workbench, _ version: String, token: String) throws -> [String: Any] {
        let response = try get(bench, "/v1/check?app=\(Workbench.app)&platform=ios&version=\(version)&token=\(token)")
        let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return json?["body"] as? [String: Any] ?? [:]
    }

    @Test func whoeverHasUpgradedAtLoginIsNotPushedAndWhoeverUpgradesThenIsCounted() throws {
        let fleet = Fleet(count: 20)
        let bench = try Workbench()
        try bench.start()
        try bench.register(fleet)
        let early = fleet.devices[0]
        _ = try check(bench, "2.0.0", token: early.token)
        try bench.until {
            let device = try bench.api("GET", "/v1/apps/\(Workbench.app)/ios/devices/\(early.token)").json
            return device["version"] as? String == "2.0.0" ? () : nil
        }
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.filteredBy["alreadyCurrent"] == 1)
        #expect(try bench.record().allSatisfy { $0["token"] as? String != early.token })

        let late = fleet.devices[1]
        let forced = try check(bench, "1.9.0", token: late.token)
        #expect(forced["needUpgrade"] as? String == "1")
        #expect(forced["downloadUrl"] as? String == "https://apps.apple.com/app/id1173193999")
        #expect(try check(bench, "2.0.0", token: late.token)["hasNewVersion"] as? String == "0")
        try bench.until {
            try bench.api("GET", "/v1/campaigns/\(campaign)").json["upgraded"] as? Int == 1 ? () : nil
        }
        let device = try bench.api("GET", "/v1/apps/\(Workbench.app)/ios/devices/\(late.token)").json
        #expect(device["telephone"] as? String == late.telephone)
    }

    @Test func aVersionThatAnotherProgramStoresIsAnsweredFromMemory() throws {
        let bench = try Workbench()
        try bench.start()
        let insert = "INSERT INTO version (app, platform, required) VALUES ('\(Workbench.app)', 'ios', '3.0')"
        #expect(try bench.sql(insert).status == 0)
        let stored = ContinuousClock.now
        try bench.until { try check(bench, "2.9", token: "aa")["required"] as? String == "3.0" ? () : nil }
        // The watcher looks each second. When only the look of each minute noticed, this took about a minute.
        #expect(ContinuousClock.now - stored < .seconds(30) * Patience.factor)
    }

    @Test func alertsAreSetAndClearedAtTheCommandLine() throws {
        let bench = try Workbench()
        try bench.start()
        let path = "/v1/apps/\(Workbench.app)/launchgate.json"
        let endless = try bench.command("alerts", "set", Workbench.app, "ios", "--message", "Back soon", "--blocking")
        #expect(endless.status == 2)
        let set = try bench.command(
            "alerts", "set", Workbench.app, "ios", "--message", "Back soon", "--blocking", "--for", "2h", "--yes")
        #expect(set.status == 0)
        #expect(
            String(decoding: try get(bench, path).body, as: UTF8.self)
                == #"{"ios":{"alert":{"message":"Back soon","blocking":true}},"android":{}}"#)
        #expect(try bench.command("alerts", "show", Workbench.app, "ios").output.contains("Back soon"))
        #expect(try bench.command("alerts", "clear", Workbench.app, "ios").status == 0)
        #expect(String(decoding: try get(bench, path).body, as: UTF8.self) == #"{"ios":{},"android":{}}"#)
    }
}
