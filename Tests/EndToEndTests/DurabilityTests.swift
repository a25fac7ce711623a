// SPDX-License-Identifier: Apache-2.0
import APNsSimulator
import Foundation
import Signing
import Testing

/// Signals, crashes and bad credentials: what is recorded is what happened.
@Suite(.serialized) struct DurabilityTests {
    /// `KILL_DEVICES=100000 swift test --filter tenKills` does it with a larger fleet.
    @Test func tenKillsInOneCampaignLoseNothing() throws {
        let size = ProcessInfo.processInfo.environment["KILL_DEVICES"].flatMap { Int($0) } ?? 20_000
        let fleet = Fleet(count: size, withoutTelephone: 20)
        let bench = try Workbench { $0.latency = .milliseconds(20) }
        try bench.start()
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        // Killed in mid-flight: when the push service has just taken another share of the fleet, recorded or not.
        for kill in 1...10 {
            let share = fleet.behind.count * kill / 12
            try #require(bench.simulator.wait(forRequests: share, deadline: .seconds(30)))
            bench.kill()
            try bench.start()
        }
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.state == "completed")
        #expect(end.addsUp)
        #expect(end.counts["accepted"] == fleet.behind.count)
        let figures = bench.simulator.figures
        #expect(figures.distinctTokens == fleet.behind.count, "nobody was left out")
        // Sixteen batches of 500 can be in flight at each kill (`fanOut.batch`).
        #expect(figures.duplicates <= 10 * 16 * 500)
        print("\(size) devices, 10 kills: \(figures.accepted) accepted, \(figures.duplicates) of them sent twice")

        // The ledger names exactly what the push service took, and a second sending carried the same id.
        let recorded = try bench.record()
        var idsByToken: [String: Set<String>] = [:]
        for push in recorded {
            idsByToken[try #require(push["token"] as? String), default: []]
                .insert(try #require(push["apnsId"] as? String))
        }
        #expect(idsByToken.values.allSatisfy { $0.count == 1 })
        let ledger = try bench.deliveries(id).filter { $0["state"] as? String == "accepted" }
        #expect(
            Set(ledger.compactMap { $0["apnsId"] as? String })
                == idsByToken.values.reduce(into: []) { $0.formUnion($1) })
        #expect(try bench.api("GET", "/v1/campaigns").json["items"].map { ($0 as? [Any])?.count } == 1)
    }

    @Test func sigtermFinishesWhatIsInFlightAndTheNextStartGoesOn() throws {
        let bench = try Workbench { $0.latency = .milliseconds(500) }
        try bench.start()
        try bench.register(Fleet(count: 8_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["inFlight"] ?? 0 > 500 }
        let relay = try #require(bench.relay)
        let start = ContinuousClock.now
        relay.send(SIGTERM)
        let exit = relay.wait()
        #expect(exit.status == 0)
        #expect(!exit.wasKilled)
        #expect(ContinuousClock.now - start < .seconds(10))
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 8_000)
        #expect(bench.simulator.figures.duplicates == 0, "an orderly stop sends nothing twice")
    }

    @Test func aSecondSigtermEndsAtOnce() throws {
        let bench = try Workbench { $0.latency = .seconds(5) }
        try bench.start()
        try bench.register(Fleet(count: 100))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["inFlight"] ?? 0 > 0 }
        let relay = try #require(bench.relay)
        relay.send(SIGTERM)
        #expect(relay.waitForLine(" stopping", within: .seconds(5)) != nil)
        let start = ContinuousClock.now
        relay.send(SIGTERM)
        #expect(relay.wait().status == 128 + SIGTERM)
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test func aBadKeySuspendsTheCampaignAndCostsNoToken() throws {
        let wrong = try ES256PrivateKey.generate()
        let bench = try Workbench(relayKey: wrong)
        try bench.start()
        let fleet = Fleet(count: 3_000)
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let stopped = try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }
        #expect(stopped.reason?.contains("InvalidProviderToken") == true)
        #expect(stopped.addsUp)
        #expect(stopped.counts["rejected"] == 0)
        #expect(stopped.counts["unregistered"] == 0)
        #expect(bench.simulator.figures.requests < 100, "a bad key costs a few pushes, not a campaign")

        // The right key, a restart, and on it goes.
        bench.kill()
        try bench.write(bench.key)
        try bench.start()
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/resume").status == 200)
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 3_000)
    }

    @Test func mostlyBadTokensFromTheStartSuspendTheCampaign() throws {
        let bench = try Workbench { $0.faults.badShare = 1 }
        try bench.start()
        try bench.register(Fleet(count: 3_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let stopped = try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }
        #expect(stopped.reason?.contains("BadDeviceToken") == true)
        #expect(stopped.counts["rejected"] == 0, "they are tried again after the repair")
        #expect(stopped.addsUp)
        #expect(bench.simulator.figures.requests <= 64)
    }

    @Test func theProviderTokenOutlivesARestart() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 10))
        try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        let first = try bench.sql("SELECT token FROM provider_token")
        #expect(first.output.hasPrefix("ey"))
        bench.kill()
        try bench.start()
        try bench.follow(try bench.campaign(of: bench.bump("2.1.0"))) { $0.isFinal }
        #expect(try bench.sql("SELECT token FROM provider_token").output == first.output)
        #expect(bench.simulator.figures.accepted == 20)
    }
}
