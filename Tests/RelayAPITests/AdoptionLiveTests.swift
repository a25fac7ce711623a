// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("Who obeyed a campaign, live", .ownThread)
struct AdoptionLiveTests {
    private static func path(_ id: String) -> String { "/v1/campaigns/\(id)/adoption" }

    /// Two devices with 1.9 and a campaign for 2.0 whose ledger has both: a push for the first was accepted.
    private static func bench(_ trust: CheckTrust = .device) throws -> (Bench, id: String) {
        let bench = try Bench(checkTrust: trust)
        for token in ["abcd01", "abcd02"] {
            _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/\(token)", #"{"telephone":"138","version":"1.9"}"#)
        }
        let id = try bench.campaign(required: "2.0")
        let store = bench.store
        let campaign = try #require(try store.campaign(id: id)).key
        try store.planShards(campaign, shardSize: 100, waves: nil, at: Bench.now)
        var devices = DeviceRows()
        try store.readDevices(
            Bench.app, channel: .production, after: 0, through: .max, limit: 9, into: &devices)
        let rows = devices.rows.map { device in
            device.id == devices.rows.first?.id
                ? LedgerRow(device: device.id, state: .accepted, attempts: 1)
                : LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "BadDeviceToken")
        }
        try store.commitAnew(
            [
                LedgerCommit(
                    campaign: campaign, shard: try store.firstShard(of: campaign), cursor: rows.last?.device ?? 0,
                    shardDone: true, rows: rows,
                    devices: devices, retirements: [])
            ], at: Bench.now)
        return (bench, id)
    }

    private static func told(_ bench: Bench, _ id: String) throws -> String? {
        try bench.ask("GET", path(id)).number("toldAtLogin")
    }

    @Test("it is empty before anybody has upgraded, and says what the campaign stands at")
    func empty() throws {
        let (bench, id) = try Self.bench()
        let answer = try bench.ask("GET", Self.path(id))
        #expect(answer.status == 200)
        #expect(answer.text("campaign") == id)
        #expect(answer.text("app") == Bench.app.app && answer.text("platform") == "ios")
        #expect(answer.text("required") == "2.0" && answer.text("state") == "running")
        #expect(answer.text("begunAt") == answer.text("at"))
        for (field, count) in [
            ("audience", "2"), ("alreadyCurrent", "0"), ("accepted", "1"), ("toldAtLogin", "0"), ("upgraded", "0"),
        ] {
            #expect(answer.number(field) == count, "\(field)")
        }
        #expect(answer.count("items") == 0)
    }

    @Test("a device is notified at login once, and counts where it upgrades; the curve has the moment")
    func login() throws {
        let (bench, id) = try Self.bench()
        for _ in 0..<3 {
            let answer = try bench.askNetwork("GET", CheckLiveTests.path("1.9", more: "&token=abcd02"))
            #expect(answer.text("body", "needUpgrade") == "1")
            try bench.until { try Self.told(bench, id) == "1" }
        }
        // Devices that have the version get no prompt.
        for token in ["abcd01", "abcd02"] {
            _ = try bench.askNetwork("GET", CheckLiveTests.path("2.0", more: "&token=\(token)"))
        }
        try bench.until { try bench.ask("GET", Self.path(id)).number("upgraded") == "2" }
        try bench.store.followAdoption(at: Bench.now + .seconds(60))
        let answer = try bench.ask("GET", Self.path(id))
        #expect(answer.number("toldAtLogin") == "1")
        #expect(answer.number("reachedBy", "push") == "1" && answer.number("reachedBy", "login") == "1")
        #expect(answer.number("reachedBy", "both") == "0" && answer.number("reachedBy", "unknown") == "0")
        #expect(answer.count("items") == 1)
        #expect(answer.number("items", "0", "upgraded") == "2")
        #expect(answer.text("items", "0", "at") == "2023-11-14T22:14:20.000Z")
    }

    @Test("who is told and upgrades before the queue is stored was told")
    func within() throws {
        let (bench, id) = try Self.bench()
        for version in ["1.9", "2.0"] {
            _ = try bench.askNetwork("GET", CheckLiveTests.path(version, more: "&token=abcd01"))
        }
        bench.server.stop()
        let record = try #require(try bench.store.campaign(id: id))
        #expect(record.figures.upgraded == 1)
        #expect(record.figures.reach == CampaignReach(toldAtLogin: 1, both: 1))
    }

    @Test("where only the authorised are believed, nobody else's word makes a device one that was told")
    func trust() throws {
        let (bench, id) = try Self.bench(.authorized)
        let check = CheckLiveTests.path("1.9", more: "&token=abcd01")
        #expect(try bench.askNetwork("GET", check).text("body", "needUpgrade") == "1")
        // Sightings are stored in order: this one is stored after the first.
        let token = try bench.newToken(.devices)
        _ = try bench.askNetwork(
            "GET", CheckLiveTests.path("1.9", more: "&token=abcd02"), headers: [("Authorization", "Bearer \(token)")])
        bench.server.stop()
        #expect(try bench.store.campaign(id: id)?.figures.reach.toldAtLogin == 1)
    }

    @Test("it is for who may read campaigns, and a 404 where there is none")
    func rights() throws {
        let (bench, id) = try Self.bench()
        func ask(_ token: String?) throws -> Int {
            try bench.askNetwork(
                "GET", Self.path(id), headers: token.map { [("Authorization", "Bearer \($0)")] } ?? []
            ).status
        }
        bench.control.hasOther.withLock { $0 = true }
        #expect(try ask(nil) == 401)
        #expect(try ask(bench.newToken(.devices)) == 403)
        #expect(try ask(bench.newToken(.status)) == 200)
        #expect(try ask(bench.newToken(.status, apps: [Bench.other.app])) == 404)
        #expect(try bench.ask("GET", Self.path("000000000000")).status == 404)
    }

    @Test("the versions of the devices seen lately come with it, the newest first, once they were counted")
    func versions() throws {
        let (bench, id) = try Self.bench()
        #expect(try bench.ask("GET", Self.path(id)).value("versions") == .null)
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd03", #"{"telephone":"139"}"#)
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd04", #"{"telephone":"139","version":"2.0"}"#)
        var rules = RetirementRules()
        rules.retireBelow = 0.5
        #expect(try bench.store.followVersions(of: Bench.app, by: rules, at: Bench.now))
        let versions = try #require(try bench.ask("GET", Self.path(id)).value("versions"))
        #expect(versions["seen"]?.integer == 4 && versions["unknown"]?.integer == 1)
        #expect(versions["countedAt"]?.string == Bench.now.internetTime)
        #expect(versions["retireBelow"]?.number == 0.5)
        let items = try #require(versions["items"]?.array)
        #expect(items.compactMap { $0["version"]?.string } == ["2.0", "1.9"])
        #expect(items.compactMap { $0["orOlder"]?.integer } == [4, 3])
        #expect(items.compactMap { $0["orOlderShare"]?.number } == [1, 0.75])
        #expect(items.map { $0["belowSince"] } == [.null, .null])
    }

    @Test("an app's versions are counted over time, for who may read its status")
    func course() throws {
        let (bench, _) = try Self.bench()
        let path = "/v1/apps/\(Bench.app.app)/ios/adoption"
        let empty = try bench.ask("GET", path)
        #expect(empty.status == 200 && empty.value("versions") == .null && empty.count("items") == 0)
        #expect(empty.text("app") == Bench.app.app && empty.text("at") == Bench.now.internetTime)
        #expect(try bench.store.followVersions(of: Bench.app, by: RetirementRules(), at: Bench.now - .seconds(7200)))
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd03", #"{"telephone":"139","version":"2.0"}"#)
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd04", #"{"telephone":"139"}"#)
        #expect(try bench.store.followVersions(of: Bench.app, by: RetirementRules(), at: Bench.now))
        let answer = try bench.ask("GET", path)
        #expect(answer.number("versions", "seen") == "4")
        #expect(answer.count("items") == 2)
        #expect(answer.text("items", "1", "at") == Bench.now.internetTime)
        #expect(answer.number("items", "0", "seen") == "2" && answer.number("items", "1", "seen") == "4")
        let last = try #require(answer.value("items")?.array?.last)
        #expect(last["versions"]?.array?.compactMap { $0["version"]?.string } == ["2.0", "1.9"])
        #expect(last["versions"]?.array?.compactMap { $0["share"]?.number } == [0.25, 0.5])
        #expect(last["others"]?.integer == 0 && last["unknown"]?.integer == 1)
        bench.control.hasOther.withLock { $0 = true }
        for (token, status) in [
            (try bench.newToken(.status), 200), (try bench.newToken(.devices), 403),
            (try bench.newToken(.status, apps: [Bench.other.app]), 403),
        ] {
            #expect(
                try bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(token)")]).status == status)
        }
        #expect(try bench.ask("GET", "/v1/apps/com.example.none/ios/adoption").status == 404)
    }

    @Test("that a version is given up is told as the document has it, and a chat what to do")
    func retirable() throws {
        let row = VersionShares.Row(
            version: try Version("1.9.0"), devices: 80, orOlder: 94, belowSince: Bench.now, isNotified: true)
        let event = RelayEvent(
            id: "0f4ad1b2", type: .retirable, at: Bench.now,
            subject: .retirable(Bench.app, row, devices: 10_000, retireBelow: 0.01))
        let post = try #require(DocumentCheck.document["webhooks"]?["versionFell"]?["post"])
        let schema = try #require(post["requestBody"]?["content"]?["application/json"]?["schema"])
        let sent = try JSONReader.read(NotificationDocument.json(of: event))
        #expect(DocumentCheck.check.faults(sent, schema).isEmpty)
        #expect(sent["data"]?["orOlderShare"]?.number == 0.0094)
        let text = String(decoding: NotificationDocument.slack(of: event), as: UTF8.self)
        #expect(
            text.contains(
                "*com.example.app ios 1.9.0* and older: 94 of 10000 devices seen lately, less than 1%: what serves these versions alone may go"
            ))
    }
}
