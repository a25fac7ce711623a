// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import PushSimulator

/// A force that each phone can obey: not before its moment, and not where the version does not run.
@Suite(.serialized, .ownThread) struct ObeyTests {
    /// The app reports the system of its phone.
    private static func tell(_ osVersion: String, of token: String, _ bench: Workbench) throws {
        let answer = try bench.api(
            "PATCH", "/v1/apps/\(Workbench.app)/ios/devices/\(token)",
            body: Array(#"{"osVersion":"\#(osVersion)"}"#.utf8))
        #expect(answer.status == 200 && answer.json["osVersion"] as? String == osVersion, "\(answer)")
    }

    /// The answer to a phone's check at login.
    private static func check(_ os: String, _ bench: Workbench) throws -> [String: Any] {
        let path = "/v1/check?app=\(Workbench.app)&platform=ios&version=1.9.0&os=\(os)"
        return try #require(try bench.api("GET", path).json["body"] as? [String: Any])
    }

    @Test func whoseSystemIsTooOldIsNeitherPushedToNorForcedAndNobodyIsBeforeTheMoment() throws {
        let bench = try Workbench()
        try bench.start()
        let fleet = Fleet(count: 3)
        try bench.register(fleet)
        let (new, old, silent) = (fleet.devices[0].token, fleet.devices[1].token, fleet.devices[2].token)
        try Self.tell("15.2", of: new, bench)
        try Self.tell("14.8.1", of: old, bench)
        let moment = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up) + 3)
        let text = ISO8601DateFormatter().string(from: moment)
        let words = #""message":"From {requiredFrom} on.""#
        let body = #"{"required":"2.0.0","minimumOs":"15.0","requiredFrom":"\#(text)",\#(words)}"#
        let plan = try bench.api("POST", "/v1/apps/\(Workbench.app)/ios/plan", body: Array(body.utf8)).json
        #expect(
            plan["toPush"] as? Int == 2 && (plan["filteredBy"] as? [String: Any])?["osTooOld"] as? Int == 1, "\(plan)")
        #expect((plan["waitingReason"] as? String)?.hasPrefix("required from ") == true, "\(plan)")
        let warnings = try #require(plan["warnings"] as? [String])
        #expect(
            warnings.contains { $0.contains("have a system older than 15.0 and can never get 2.0.0") }, "\(warnings)")
        let answer = try bench.api("PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(body.utf8))
        #expect(answer.status == 202, "\(answer)")
        let campaign = try bench.campaign(of: answer)

        // Announced until then, to phones on which it runs.
        let before = try Self.check("15.2", bench)
        #expect(before["hasNewVersion"] as? String == "1" && before["needUpgrade"] as? String == "0", "\(before)")
        let from = try #require(before["requiredFrom"] as? String)
        // No zone is configured, and the text has no named language.
        #expect(before["message"] as? String == "From \(from.prefix(10)) \(from.dropFirst(11).prefix(5)) UTC on.")
        #expect(try Self.check("14.8.1", bench)["hasNewVersion"] as? String == "0")
        let waiting = try bench.view(campaign)
        if Date() < moment {
            #expect(waiting.state == "waiting" && bench.simulator.figures.requests == 0, "\(waiting)")
        }

        // The campaign begins by itself.
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(Date() >= moment)
        #expect(end.state == "completed" && end.addsUp)
        #expect(end.counts["accepted"] == 2 && end.filteredBy["osTooOld"] == 1, "\(end)")
        let pushed = Set(try bench.record().compactMap { $0["token"] as? String })
        #expect(pushed == [new, silent])
        #expect(try Self.check("15.2", bench)["needUpgrade"] as? String == "1")
        #expect(try Self.check("14.8.1", bench)["hasNewVersion"] as? String == "0")

        // The proxy's question names the phone's system. The document requires only what runs everywhere: nothing here.
        let path = "/v1/enforce?app=\(Workbench.app)&platform=ios&version=1.9.0&os="
        #expect(try bench.api("GET", path + "15.2").status == 426)
        #expect(try bench.api("GET", path + "14.8.1").status == 204)
        let document = try bench.api("GET", "/v1/apps/\(Workbench.app)/launchgate.json").json
        #expect((document["ios"] as? [String: Any])?["requiredUpdate"] == nil, "\(document)")
    }

    @Test func oneBadBuildIsLeftByThoseWhoRunItBesideTheFloorsCampaign() throws {
        let bench = try Workbench()
        try bench.start()
        let fleet = Fleet(count: 4)
        try bench.register(fleet)
        let versions = ["2.1.5", "2.1.4", "1.9.0", "2.1.5"]
        for (device, version) in zip(fleet.devices, versions) {
            let answer = try bench.api(
                "PATCH", "/v1/apps/\(Workbench.app)/ios/devices/\(device.token)",
                body: Array(#"{"version":"\#(version)"}"#.utf8))
            #expect(answer.status == 200, "\(answer)")
        }
        let floor = try bench.campaign(of: try bench.bump("2.0.0"))
        _ = try bench.follow(floor) { $0.isFinal }
        let early = try bench.command("version", "block", Workbench.app, "ios", "2.1.5")
        #expect(early.status == 1 && early.errors.contains("its users would find no other version"), "\(early)")
        let set = try bench.command("version", "set", Workbench.app, "ios", "--latest", "2.2.0", "--yes")
        #expect(set.status == 0, "\(set)")
        let plan = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/plan", body: Array(#"{"blocked":["2.1.5","2.1.7"]}"#.utf8)
        ).json
        #expect(plan["toPush"] as? Int == 2 && plan["required"] is NSNull, "\(plan)")
        let blocks = try #require(plan["blocks"] as? [[String: Any]])
        #expect(blocks.map { $0["version"] as? String } == ["2.1.5", "2.1.7"], "\(blocks)")
        #expect(blocks.map { $0["toPush"] as? Int } == [2, 0], "\(blocks)")
        let warnings = try #require(plan["warnings"] as? [String])
        #expect(warnings.first == "no device was seen with 2.1.7", "\(warnings)")
        #expect(!warnings.contains { $0.contains("launch document") }, "no app asks for it: \(warnings)")
        let blocked = try bench.command(
            "version", "block", Workbench.app, "ios", "2.1.5", "--message", "Leave it.", "--json")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(blocked.output.utf8)) as? [String: Any])
        let campaign = try #require((json["blockCampaigns"] as? [[String: Any]])?.first?["id"] as? String)
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.state == "completed" && end.addsUp && end.counts["accepted"] == 2, "\(end)")
        #expect(end.filteredBy["alreadyCurrent"] == 2, "\(end)")
        let pushes = try bench.record().compactMap { record -> (String, [String: Any])? in
            guard let token = record["token"] as? String, let payload = record["payload"] as? [String: Any],
                let page = payload["page"] as? [String: Any]
            else { return nil }
            return (token, page)
        }
        let ofBlock = pushes.filter { $0.1["blocked"] as? String == "2.1.5" && $0.1["required"] == nil }.map(\.0)
        #expect(Set(ofBlock) == [fleet.devices[0].token, fleet.devices[3].token], "\(pushes)")
        let path = "/v1/enforce?app=\(Workbench.app)&platform=ios&version="
        #expect(try bench.api("GET", path + "2.1.5").status == 426)
        #expect(try bench.api("GET", path + "2.1.4").status == 204)

        // The block is kept over a restart, and ends by an operator's command.
        bench.kill()
        try bench.start()
        #expect(try bench.api("GET", path + "2.1.5").status == 426)
        let shown = try bench.command("version", "show", Workbench.app)
        #expect(shown.output.contains("2.1.5 is blocked since"), "\(shown)")
        let unblocked = try bench.command("version", "unblock", Workbench.app, "ios", "2.1.5", "--yes")
        // The sentence of every act (ActWords): the object, then the result.
        #expect(
            unblocked.status == 0 && unblocked.output.contains("2.1.5 of \(Workbench.app) ios: may be used again"),
            "\(unblocked)")
        #expect(try bench.api("GET", path + "2.1.5").status == 204)
    }
}
