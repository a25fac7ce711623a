// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import PushSimulator

/// A phone is one device, dead tokens flow back, and version counts are kept: with the daemon itself, over a kill.
@Suite(.serialized, .ownThread) struct OneRowTests {
    private static let devices = "/v1/apps/\(Workbench.app)/ios/devices"

    private static func dead(_ since: String, _ bench: Workbench) throws -> (tokens: [String], since: String) {
        let answer = try bench.api("GET", "\(devices)?dead=true&since=\(since)")
        let items = try #require(answer.json["items"] as? [[String: Any]], "\(answer)")
        return (items.compactMap { $0["token"] as? String }, try #require(answer.json["since"] as? String))
    }

    @Test func aPhoneIsPushedToOnceUnderItsNewTokenAndDeadTokensAreListedOverAKill() throws {
        let bench = try Workbench()
        try bench.start()
        var fleet = Fleet(count: 3)
        try bench.register(fleet)
        let old = fleet.devices[0].token
        let new = String(old.reversed())
        // The app has a new token, and pushes must go to this one.
        fleet.devices[0].token = new
        let user = try #require(fleet.devices[0].telephone)
        let body = #"{"telephone":"\#(user)","version":"1.9.0","replaces":"\#(old)"}"#
        let moved = try bench.api("PUT", "\(Self.devices)/\(new)", body: Array(body.utf8))
        #expect(moved.status == 201 && moved.json["replaced"] as? String == "moved", "\(moved)")
        // Registers nothing new, but makes the token known to the jury.
        try bench.register(fleet)
        bench.kill()
        try bench.start()
        #expect(try bench.api("GET", "\(Self.devices)/\(old)").status == 404)
        let campaign = try bench.campaign(
            of: bench.api("PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(#"{"required":"2.0.0"}"#.utf8)))
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.counts["accepted"] == 3 && end.addsUp, "\(end)")
        let pushed = try bench.record().compactMap { $0["token"] as? String }
        #expect(pushed.sorted() == fleet.devices.map(\.token).sorted())

        let first = try Self.dead("2020-01-01T00:00:00Z", bench)
        #expect(first.tokens.isEmpty)
        func die(_ number: Int) throws {
            let line = #"{"token":"\#(fleet.devices[number].token)","deadSince":"2099-01-01T00:00:00Z"}"#
            #expect(try bench.api("POST", Self.devices, body: Array(line.utf8)).status == 200)
        }
        try die(1)
        let second = try Self.dead(first.since, bench)
        #expect(second.tokens == [fleet.devices[1].token])
        bench.kill()
        try bench.start()
        try die(2)
        #expect(try Self.dead(second.since, bench).tokens == [fleet.devices[2].token])
        #expect(try Self.dead(first.since, bench).tokens == [fleet.devices[1].token, fleet.devices[2].token])
    }

    @Test func versionsAreCountedAMinuteAfterTheStartAndKeptOverAKill() throws {
        let bench = try Workbench()
        try bench.start()
        let fleet = Fleet(count: 200, current: 2)
        try bench.register(fleet)
        let campaign = try bench.campaign(
            of: bench.api("PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(#"{"required":"2.0.0"}"#.utf8)))
        _ = try bench.follow(campaign) { $0.isFinal }
        bench.kill()
        try bench.start()
        func versions() throws -> [String: Any]? {
            let answer = try bench.api("GET", "/v1/campaigns/\(campaign)/adoption")
            return answer.json["versions"] as? [String: Any]
        }
        // Right after the start campaigns go on, and nothing is counted.
        let counted = try bench.until(within: .seconds(150), "nothing was counted") { try versions() }
        #expect(counted["seen"] as? Int == 200)
        let items = try #require(counted["items"] as? [[String: Any]])
        #expect(items.compactMap { $0["version"] as? String } == ["2.0.0", "1.9.0"])
        #expect(items.compactMap { $0["orOlder"] as? Int } == [200, 100])
        bench.kill()
        try bench.start()
        #expect(try versions()?["countedAt"] as? String == counted["countedAt"] as? String)
    }
}
