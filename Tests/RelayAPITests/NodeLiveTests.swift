// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("The relays of a store, live", .ownThread)
struct NodeLiveTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func campaign(of app: AppKey = Bench.app) throws -> CampaignRecord {
        #expect(try bench.ask("PUT", "/v1/apps/\(app.app)/ios/version", #"{"required":"2.0"}"#).status == 202)
        return try #require(try bench.store.campaigns(before: nil, limit: 1).first)
    }

    private func join(_ name: String, configuration: String, lease: Duration = .seconds(60)) throws -> NodeLease {
        try bench.store.join(
            NodeDescription(name: name, release: "1.2.3", address: "127.0.0.1:80", configuration: configuration),
            for: lease
        ).0
    }

    /// Makes `node` the relay that answers.
    private func become(_ node: NodeLease) {
        bench.store.membership.beginFleet(clock: { MonotonicTime(nanoseconds: 1) })
        bench.store.membership.note(node, trustedUntil: MonotonicTime(nanoseconds: .max))
    }

    @Test("a relay that is alone names itself, with what it sends")
    func alone() throws {
        let campaign = try campaign()
        let answer = try bench.ask("GET", "/v1/nodes")
        #expect(answer.status == 200 && answer.count("items") == 1)
        #expect(answer.text("items", "0", "name") == "relay-1")
        #expect(answer.text("items", "0", "state") == "alive")
        #expect(answer.text("items", "0", "joinedAt") == Bench.now.internetTime)
        #expect(answer.value("items", "0", "aliveUntil") == .null)
        #expect(answer.value("items", "0", "isLeader") == .bool(true))
        #expect(answer.value("items", "0", "isThis") == .bool(true))
        #expect(answer.value("items", "0", "differs") == .bool(false))
        #expect(answer.value("items", "0", "campaigns")?.array == [.string(campaign.id)])
        #expect(try bench.ask("GET", "/v1/nodes?limit=1").status == 422)
    }

    @Test("of several it is said who leads, who sends what, and whose configuration differs")
    func several() throws {
        let campaign = try campaign()
        let other = try join("relay-0", configuration: "d1")
        let this = try join("relay-1", configuration: "d2")
        let gone = try join("relay-2", configuration: "d3")
        #expect(try bench.store.lead(other))
        try bench.store.leave(gone)
        become(this)
        #expect(try bench.store.claimRun(campaign.key) != nil)
        _ = try bench.store.beat(
            this, for: .seconds(60), configuration: "d2", clockAhead: .milliseconds(-70), figures: "")
        let answer = try bench.ask("GET", "/v1/nodes")
        #expect(answer.count("items") == 3)
        for (index, (leads, isThis, differs)) in [(true, false, false), (false, true, true), (false, false, false)]
            .enumerated()
        {
            let item = try #require(answer.value("items", String(index)))
            #expect(item[.isLeader] == .bool(leads) && item[.isThis] == .bool(isThis), "\(item)")
            #expect(item[.differs] == .bool(differs), "\(item)")
        }
        #expect(answer.number("items", "1", "clockAheadMs") == "-70")
        #expect(answer.value("items", "1", "campaigns")?.array == [.string(campaign.id)])
        #expect(answer.value("items", "0", "campaigns")?.array == [])
        #expect(answer.text("items", "1", "aliveUntil") != nil)
        #expect(answer.text("items", "2", "state") == "stopped")
        // A relay that gave up its lease still finds itself by its name.
        bench.store.membership.note(nil, trustedUntil: nil)
        #expect(try bench.ask("GET", "/v1/nodes").value("items", "1", "isThis") == .bool(true))
    }

    @Test("one that is not heard of is lapsed")
    func lapsed() throws {
        become(try join("relay-1", configuration: "", lease: .milliseconds(-1)))
        try bench.until { try bench.ask("GET", "/v1/nodes").text("items", "0", "state") == "lapsed" }
    }

    @Test("it needs the scope status, and a bound token is told of the campaigns of its own apps")
    func rights() throws {
        bench.control.hasOther.withLock { $0 = true }
        let own = try campaign(of: Bench.other)
        let foreign = try campaign()
        #expect(try bench.askNetwork("GET", "/v1/nodes").status == 401)
        func ask(_ token: String) throws -> Answer {
            try bench.askNetwork("GET", "/v1/nodes", headers: [("Authorization", "Bearer \(token)")])
        }
        #expect(try ask(bench.newToken(.versions)).status == 403)
        let bound = try bench.newToken(.status, apps: [Bench.other.app])
        #expect(try ask(bound).value("items", "0", "campaigns")?.array == [.string(own.id)])
        become(try join("relay-1", configuration: ""))
        for campaign in [own, foreign] { #expect(try bench.store.claimRun(campaign.key) != nil) }
        #expect(try ask(bound).value("items", "0", "campaigns")?.array == [.string(own.id)])
        #expect(try bench.ask("GET", "/v1/nodes").count("items", "0", "campaigns") == 2)
    }
}
