// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HookReceiver
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// Several real relays on one database and one push service, and the checks that must hold whatever happens to them.
///
/// The judge compares the push service's record with the ledger: each device of the audience, no other, each with one id.
final class RelayTrial {
    static let other = "com.example.other"

    let bench: Workbench
    /// The server that the judge asks: another one after a failover.
    var server: PostgresServer
    let fleet: Fleet
    /// The push service of both apps' Android side, which share a project.
    let fcm: PushSimulator
    /// The receiver of the leader's notifications of each campaign.
    let receiver: HookReceiver
    /// nil: it does not run.
    private(set) var relays: [RelayProcess?] = []
    private let begun = ContinuousClock.now
    /// The most pushes that two relays may have had in flight when one was interrupted (`BatchBudget`).
    static let inFlight = 32_000

    /// - Parameters:
    ///   - seconds: how long a campaign of all devices takes at least.
    ///   - quotaPerMinute: the FCM project's quota.
    ///   - ways: by relay, its connection to the database in place of the server's socket.
    init(
        relays count: Int = 2, devices: Int = 2_000, seconds: Int, on server: PostgresServer? = nil,
        quotaPerMinute: Int = 600_000_000, ways: [Int: String] = [:]
    ) throws {
        self.server = try server ?? PostgresServer.durable()
        fleet = Fleet(count: devices)
        let rate = max(1, devices / seconds)
        bench = try Workbench(
            iosKeys: "pace: { ratePerSecond: \(rate) },", topics: [Workbench.app, Self.other]
        ) {
            $0.latency = .milliseconds(20)
        }
        let text = try String(contentsOf: bench.folder.appending(path: "config.json5"), encoding: .utf8)
        var android = SimulatorConfiguration(try FCMProject())
        let folder = bench.folder.appending(path: "fcm")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        android.certificate = .generated(directory: folder.path)
        android.latency = .milliseconds(20)
        android.recordPath = folder.appending(path: "record.ndjson").path
        fcm = try PushSimulator(android)
        try fcm.start()
        try Data(fcm.accountFile ?? []).write(to: folder.appending(path: "account.json"))
        receiver = try HookReceiver()
        try Data(HookReceiver.secret.utf8).write(to: folder.appending(path: "hook-secret"))
        let notify = """
            notify: [{ url: "\(receiver.url)", secret: { file: "\(folder.path)/hook-secret" } }],
            apps:
            """
        let side = """
            , android: {
              downloadUrl: "https://play.google.com/store/apps/details?id=app",
              push: { type: "needUpgrade" }, pace: { ratePerSecond: \(rate) },
              fcm: {
                serviceAccount: { file: "\(folder.path)/account.json" }, server: "https://127.0.0.1:\(fcm.port)",
                trustedCertificates: "\(folder.path)/push-simulator-ca.pem",
                avoidQuarterHours: false, quotaPerMinute: \(quotaPerMinute),
              },
            }
            """
        for number in 0..<count {
            let way = ways[number] ?? self.server.conninfo()
            let own =
                text.replacing(
                    "sqlite: { path: \"\(bench.path("relay.db"))\" }",
                    with: "postgres: { url: \"\(way)\", node: \"relay-\(number)\" }"
                ).replacing("control.sock", with: "control-\(number).sock").replacing("apps:", with: notify)
            // The same app once more, under another name and topic.
            let first = own.range(of: "\"\(Workbench.app)\": {").map { own[$0.lowerBound...] } ?? ""
            let entry = first.range(of: "} } },").map { first[..<$0.lowerBound] } ?? ""
            let twin = entry.replacing(Workbench.app, with: Self.other)
            let both = own.replacing(
                entry + "} } },", with: entry + "}\(side) },\n" + twin + "}\(side) } },")
            try Data(both.utf8).write(to: bench.folder.appending(path: "relay-\(number).json5"))
        }
        relays = Array(repeating: nil, count: count)
    }

    deinit {
        for relay in relays { relay?.kill() }
        fcm.stop()
        receiver.stop()
    }

    /// - Parameter environment: variables in addition to the tests' own.
    func start(_ number: Int, environment: [String: String] = [:]) throws {
        let relay = try RelayProcess(
            launching: bench.path("relay-\(number).json5"), arguments: ["--log-level", "info"],
            environment: environment)
        relays[number] = relay
        try relay.waitUntilReady()
    }

    func startAll() throws { for number in relays.indices { try start(number) } }

    /// Starts all of them, and a campaign of all devices; returns when the push service has seen `sent` pushes.
    func beginCampaign(sent: Int = 200) throws -> (campaign: String, owner: Int) {
        try startAll()
        try register(fleet.devices)
        let campaign = try bump()
        let owner = try awaitOwner(of: campaign)
        try #require(bench.simulator.wait(forRequests: sent, deadline: .seconds(60)), "\(log)")
        return (campaign, owner)
    }

    func relay(_ number: Int) throws -> RelayProcess { try #require(relays[number], "relay-\(number) runs") }

    func kill(_ number: Int) {
        relays[number]?.kill()
        relays[number] = nil
    }

    /// SIGTERM; waits for an orderly end.
    func stop(_ number: Int) throws {
        let relay = try relay(number)
        relay.send(SIGTERM)
        let end = relay.wait()
        #expect(end.status == 0 && !end.wasKilled, "\(relay.log)")
        relays[number] = nil
    }

    var log: String {
        relays.enumerated().map { "relay-\($0):\n\($1?.log ?? "(killed)")" }.joined(separator: "\n\n")
    }

    // MARK: The API

    func api(
        _ number: Int, _ method: String, _ path: String, body: String? = nil
    ) throws -> (status: Int, json: [String: Any]) {
        var request = HTTPRequest(method, "http://localhost\(path)")
        if let body { request.body = Array(body.utf8) }
        let response = try HTTPClient(unixSocket: bench.path("control-\(number).sock")).send(request)
        let json = response.body.isEmpty ? nil : try? JSONSerialization.jsonObject(with: Data(response.body))
        return (response.status, json as? [String: Any] ?? [:])
    }

    /// Asks /readyz until it answers `status`.
    func readiness(_ status: Int, of number: Int) throws {
        _ = try until("relay-\(number) does not answer \(status)") {
            try api(number, "GET", "/readyz").status == status ? true : nil
        }
    }

    /// - Returns: how many devices were stored.
    static func post(_ path: String, _ body: [UInt8], to socket: String) throws -> Int {
        var request = HTTPRequest("POST", "http://localhost\(path)")
        request.body = body
        let response = try HTTPClient(unixSocket: socket).send(request)
        let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return json?["stored"] as? Int ?? 0
    }

    static func webhook(_ required: String, id: String, to address: String) throws -> Int {
        try HTTPClient().send(Workbench.webhook(required, id: id, to: "http://\(address)")).status
    }

    func register(
        _ devices: [Fleet.Device], app: String = Workbench.app, platform: String = "ios", by number: Int = 0
    ) throws {
        let answer = try api(
            number, "POST", "/v1/apps/\(app)/\(platform)/devices", body: devices.map(\.json).joined(separator: "\n"))
        guard answer.json["stored"] as? Int == devices.count else { throw Unexpected("import: \(answer)") }
        bench.knows(devices)
    }

    /// - Returns: the campaign's id.
    func bump(
        _ required: String = "2.0.0", app: String = Workbench.app, platform: String = "ios", by number: Int = 0
    ) throws -> String {
        let answer = try api(
            number, "PUT", "/v1/apps/\(app)/\(platform)/version",
            body: #"{"required":"\#(required)","latest":"\#(required)","confirm":true}"#)
        return try bench.campaign(of: answer)
    }

    func view(_ campaign: String, by number: Int = 0) throws -> CampaignView {
        try CampaignView(json: api(number, "GET", "/v1/campaigns/\(campaign)").json)
    }

    /// The number of the relay that owns a campaign by the database; nil: no relay does.
    func owner(of campaign: String) throws -> Int? {
        let name = try server.sql(
            """
            SELECT o.name FROM upgrade_relay.campaign_run AS n JOIN upgrade_relay.campaign AS c ON c.id = n.campaign_id
            JOIN upgrade_relay.node AS o ON o.id = n.owner WHERE c.public_id = '\(campaign)'
            """)
        return name.split(separator: "-").last.flatMap { Int($0) }
    }

    func leader() throws -> Int? {
        let name = try server.sql(
            "SELECT o.name FROM upgrade_relay.leader AS l JOIN upgrade_relay.node AS o ON o.id = l.node")
        return name.split(separator: "-").last.flatMap { Int($0) }
    }

    /// Calls `look` until it finds something, and returns that.
    func until<Found>(_ fault: String, within limit: Duration = .seconds(60), _ look: () throws -> Found?) throws
        -> Found
    {
        let deadline = ContinuousClock.now + limit * Patience.factor
        while true {
            if let found = try look() { return found }
            guard ContinuousClock.now < deadline else { throw Unexpected("\(fault), within \(limit)\n\(log)") }
            // The database sends the test no signal: a look each 5 ms, since times are measured here.
            usleep(5000)
        }
    }

    /// Waits until a relay other than `former` owns the campaign.
    func awaitOwner(of campaign: String, after former: Int? = nil) throws -> Int {
        try until("nobody sends \(campaign)") { try owner(of: campaign).flatMap { $0 == former ? nil : $0 } }
    }

    func finish(_ campaign: String, by number: Int, within limit: Duration = .seconds(120)) throws -> CampaignView {
        try until("\(campaign) does not end", within: limit) {
            guard let view = try? view(campaign, by: number), view.isFinal else { return nil }
            return view
        }
    }

    // MARK: The verdict

    /// Compares the ledger with the pushes that the phones got.
    ///
    /// - Parameters:
    ///   - campaigns: each with the devices that it was for.
    ///   - number: the relay that is asked.
    ///   - interruptions: how often a relay that sent was stopped, or cut off.
    func judge(
        _ name: String, _ campaigns: [(id: String, audience: [Fleet.Device])], by number: Int, interruptions: Int,
        note: String = ""
    ) throws {
        var pushed: [String: Set<String>] = [:]
        for push in try bench.record() {
            pushed[try #require(push["token"] as? String), default: []]
                .insert(try #require(push["apnsId"] as? String))
        }
        var ledger: [String: Set<String>] = [:]
        for (id, audience) in campaigns {
            let view = try view(id, by: number)
            #expect(view.state == "completed" && view.addsUp, "\(name): \(view)\n\(log)")
            #expect(view.counts["accepted"] == audience.count, "\(name): \(view)")
            for delivery in try deliveries(id, by: number) where delivery["state"] as? String == "accepted" {
                ledger[try #require(delivery["token"] as? String), default: []]
                    .insert(try #require(delivery["apnsId"] as? String))
            }
        }
        let wanted = Set(campaigns.flatMap { $0.audience.map(\.token) })
        #expect(Set(pushed.keys) == wanted, "\(name): each of them, and nobody else")
        #expect(pushed.values.allSatisfy { $0.count == 1 }, "\(name): sent again with the same id")
        #expect(ledger == pushed, "\(name): the ledger is the record")
        let figures = bench.simulator.figures
        #expect(figures.duplicates <= Self.inFlight * interruptions, "\(name): told twice")
        try judgeWebhooks(name, campaigns.map(\.id), interruptions: interruptions)
        let check = try bench.command("store", "check", "--config", bench.path("relay-\(number).json5"))
        #expect(check.output.contains("the store is sound"), "\(name): \(check)")
        print(
            """
            | \(name) | \(wanted.count) | \(interruptions) | \(wanted.count - Set(pushed.keys).count) \
            | \(figures.duplicates) | \(note) | \(Int((ContinuousClock.now - begun) / .milliseconds(1))) ms |
            """)
    }

    /// Each event of a campaign has one id, whichever relay was the leader, and comes again only where a leader was interrupted.
    private func judgeWebhooks(_ name: String, _ campaigns: [String], interruptions: Int) throws {
        for campaign in campaigns {
            func isEnd(_ hook: HookReceiver.Delivery) -> Bool {
                hook.type == "campaign.completed" && hook.data["id"] as? String == campaign
            }
            #expect(
                receiver.wait { $0.contains(where: isEnd) }, "\(name): nobody is told of the end of \(campaign)\n\(log)"
            )
            let told = receiver.deliveries.filter { $0.data["id"] as? String == campaign }
            #expect(told.allSatisfy { $0.isVerified }, "\(name)")
            #expect(Set(told.filter(isEnd).map(\.id)).count == 1, "\(name): the end is told as two")
            let (all, events) = (told.count, Set(told.map(\.id)).count)
            #expect(events >= 2, "\(name): begun and completed")
            #expect(all - events <= interruptions, "\(name): \(all) webhooks of \(events) events")
        }
    }

    private func deliveries(_ campaign: String, by number: Int) throws -> [[String: Any]] {
        var all: [[String: Any]] = []
        var cursor: String?
        repeat {
            let rest = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try api(number, "GET", "/v1/campaigns/\(campaign)/deliveries?limit=1000\(rest)")
            all += page.json["items"] as? [[String: Any]] ?? []
            cursor = page.json["next"] as? String
        } while cursor != nil
        return all
    }
}
