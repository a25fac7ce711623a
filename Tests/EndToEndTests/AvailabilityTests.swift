// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// A force waits for the store (DESIGN, rule 8), with the real binary.
@Suite(.serialized, .ownThread) struct AvailabilityTests {
    private func keys(_ lookup: LookupStand, hold: Int = 0, policy: String = "manual") -> String {
        """
        holdHours: \(hold), forcePolicy: "\(policy)",
        sources: [{ appStore: {
          id: 1173193999, bundleId: "\(Workbench.app)", every: "1s", lookupServer: "http://127.0.0.1:\(lookup.port)",
        } }],
        """
    }

    private func json(_ bench: Workbench, _ id: String) throws -> [String: Any] {
        try bench.api("GET", "/v1/campaigns/\(id)").json
    }

    /// Whether a user of 1.9 must upgrade at login, at launch, and at a proxy.
    private func forces(_ bench: Workbench) throws -> [Bool] {
        let query = "app=\(Workbench.app)&platform=ios&version=1.9"
        let body = try bench.api("GET", "/v1/check?\(query)").json["body"] as? [String: Any]
        let document = try bench.api("GET", "/v1/apps/\(Workbench.app)/launchgate.json").json
        let ios = document["ios"] as? [String: Any]
        return [
            body?["needUpgrade"] as? String == "1", ios?["requiredUpdate"] != nil,
            try bench.api("GET", "/v1/enforce?\(query)").status == 426,
        ]
    }

    @Test func aCampaignWaitsUntilTheStoreOffersItsVersionAcrossARestart() throws {
        let lookup = try LookupStand()
        defer { lookup.stop() }
        lookup.list("1.9.0")
        let fleet = Fleet(count: 50)
        let bench = try Workbench(iosKeys: keys(lookup))
        try bench.start()
        try bench.register(fleet)
        try lookup.wait(forQuestions: 3)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        try lookup.wait(forQuestions: 3)
        let waiting = try json(bench, campaign)
        #expect(waiting["state"] as? String == "waiting")
        #expect(
            (waiting["reason"] as? String)?.hasPrefix(
                "waiting until the App Store offers 2.0.0; it shows 1.9.0, last asked at 20") == true, "\(waiting)")
        #expect(waiting["waitingUntil"] is NSNull)
        #expect(waiting["startedAt"] is NSNull)
        #expect(try forces(bench) == [false, false, false])

        bench.kill()
        try bench.start()
        try lookup.wait(forQuestions: 3)
        #expect(try json(bench, campaign)["state"] as? String == "waiting")
        #expect(bench.simulator.figures.accepted == 0)
        #expect(try forces(bench) == [false, false, false])

        // Paused and resumed, it still waits.
        #expect(try bench.api("POST", "/v1/campaigns/\(campaign)/pause").json["state"] as? String == "paused")
        #expect(try bench.api("POST", "/v1/campaigns/\(campaign)/resume").json["state"] as? String == "waiting")

        lookup.list("2.0")
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.state == "completed")
        #expect(end.counts["accepted"] == 50)
        #expect(try forces(bench) == [true, true, true])
        #expect(try bench.api("GET", "/v1/apps/\(Workbench.app)/ios/version").json["latest"] as? String == "2.0.0")
    }

    /// FAULTS 1.13: it forced a version at once that the store did not offer, and reported nothing.
    @Test func aReloadWithoutTheStoreSaysWhatGoesOnWaiting() throws {
        let lookup = try LookupStand()
        defer { lookup.stop() }
        lookup.list("1.9.0")
        let bench = try Workbench(iosKeys: keys(lookup))
        try bench.start()
        try bench.register(Fleet(count: 20))
        try lookup.wait(forQuestions: 3)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.edit { $0.replacing(keys(lookup), with: "") }
        let reload = try bench.command("reload")
        #expect(reload.status == 0)
        #expect(
            reload.errors.contains(
                "warning: 2.0.0 of \(Workbench.app) ios waits for a store that is not in the configuration any more; put the "
                    + "source back, or \"upgrade-relay version release \(Workbench.app) ios\""), "\(reload)")
        let waiting = try json(bench, campaign)
        #expect(waiting["state"] as? String == "waiting")
        #expect((waiting["reason"] as? String)?.hasPrefix("the store that it waited for is not") == true, "\(waiting)")
        #expect(try forces(bench) == [false, false, false])
        #expect(try bench.command("version", "release", Workbench.app, "ios", "--yes").status == 0)
        #expect(try bench.follow(campaign) { $0.isFinal }.counts["accepted"] == 20)
    }

    /// Otherwise a relay that restarts each day would never force an upgrade.
    @Test func aHoldGoesOnOverARestart() throws {
        let lookup = try LookupStand()
        defer { lookup.stop() }
        // The store gives no date: only the relay knows since when it offers this version.
        lookup.list("2.0.0", released: nil)
        let bench = try Workbench(iosKeys: keys(lookup, hold: 24))
        try bench.start()
        try bench.register(Fleet(count: 20))
        try lookup.wait(forQuestions: 3)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        let held = try json(bench, campaign)
        #expect((held["reason"] as? String)?.contains("2.0.0 is in the App Store, first seen at") == true, "\(held)")
        let until = try #require(held["waitingUntil"] as? String)

        bench.kill()
        try bench.start()
        try lookup.wait(forQuestions: 3)
        #expect(try json(bench, campaign)["waitingUntil"] as? String == until)

        // With another query to the store, which may mean another app, the hold begins anew.
        bench.kill()
        try bench.edit { $0.replacing("id: 1173193999, bundleId", with: "bundleId") }
        try bench.start()
        try lookup.wait(forQuestions: 3)
        let anew = try #require(try json(bench, campaign)["waitingUntil"] as? String)
        #expect(anew > until)
    }

    @Test func theHoldIsShownAndAnOperatorMayOverrideIt() throws {
        let lookup = try LookupStand()
        defer { lookup.stop() }
        let released = Date.now.addingTimeInterval(-3600).formatted(.iso8601)
        lookup.list("2.0.0", released: released)
        let bench = try Workbench(iosKeys: keys(lookup, hold: 24))
        try bench.start()
        try bench.register(Fleet(count: 20))
        try lookup.wait(forQuestions: 3)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        let held = try json(bench, campaign)
        #expect(held["state"] as? String == "waiting")
        #expect((held["reason"] as? String)?.contains("2.0.0 is in the App Store, released at") == true, "\(held)")
        let until = try #require(held["waitingUntil"] as? String)
        let end = try Date(released, strategy: .iso8601).addingTimeInterval(86_400)
        #expect(until == end.formatted(.iso8601).replacing("Z", with: ".000Z"))

        let answer = try bench.command("campaigns", "release", campaign, "--yes")
        #expect(answer.status == 0, "\(answer)")
        #expect(try forces(bench) == [true, true, true])
        #expect(try bench.follow(campaign) { $0.isFinal }.counts["accepted"] == 20)
        #expect(try bench.api("POST", "/v1/campaigns/\(campaign)/release").status == 409)
        #expect(try bench.api("POST", "/v1/campaigns/000000000000/release").status == 404)
    }

    @Test func aRiseInTheStoreForcesByThePolicyAndAFaultShowsInReadiness() throws {
        let lookup = try LookupStand()
        defer { lookup.stop() }
        lookup.list("1.9.0")
        let bench = try Workbench(iosKeys: keys(lookup, policy: "minor"))
        try bench.start()
        try bench.register(Fleet(count: 10))
        let path = "/v1/apps/\(Workbench.app)/ios/version"
        try lookup.wait(forQuestions: 3)
        #expect(try bench.api("GET", path).json["latest"] as? String == "1.9.0")
        lookup.list("1.9.1")
        try lookup.wait(forQuestions: 3)
        #expect(try bench.api("GET", path).json["latest"] as? String == "1.9.1")
        #expect(try bench.api("GET", path).json["required"] is NSNull)
        lookup.list("1.10.0")
        #expect(bench.relay?.waitForLine("what is required changed", within: .seconds(60)) != nil)
        #expect(try bench.api("GET", path).json["required"] as? String == "1.10.0")
        let list = try bench.api("GET", "/v1/campaigns").json["items"] as? [[String: Any]]
        let campaign = try #require(list?.first?["id"] as? String)
        try bench.follow(campaign) { $0.isFinal }

        lookup.list(nil)
        #expect(bench.relay?.waitForLine("a source of versions fails", within: .seconds(60)) != nil)
        #expect("\(try bench.readiness(200, isDegraded: true))".contains("source:\(Workbench.app)/ios:appStore"))
        lookup.list("1.10.0")
        #expect(bench.relay?.waitForLine("a source of versions is well again", within: .seconds(60)) != nil)
        try bench.readiness(200)
    }
}
