// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushSimulator
import SeedApps
import Signing
import SimulatorTools
import TestPeers
import Testing
import WireFormat

/// One relay on one bench: a folder of its own, a push service on loopback, a configuration, and the real binary.
final class Workbench {
    static let app = "com.example.app"
    static let teamID = "TEAM123456"
    static let keyID = "KEY1234567"

    let folder: URL
    let key: ES256PrivateKey
    private(set) var simulator: PushSimulator
    /// Follows the pushes that a fault of the script's shares hit.
    let journal = FaultJournal()
    private(set) var relay: RelayProcess?
    private let keepsRecord: Bool
    /// Judges every push of every test, when the bench is taken down.
    private var jury = PushJury(pushType: "mddy_needUpgrade")

    /// - Parameters:
    ///   - configure: changes the push service's configuration.
    ///   - iosKeys: further keys of the app's `ios`.
    ///   - relayKey: the key that the relay signs with; the push service's own unless a test needs a wrong one.
    init(
        relayKey: ES256PrivateKey? = nil, timeToLive: String = "7d",
        iosKeys: String = "", topics: Set<String> = [app], configure: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(
            topics: topics, teamID: Self.teamID, keys: [Self.keyID: key.publicKey])
        configuration.certificate = .generated(directory: folder.path)
        configuration.recordPath = folder.appending(path: "record.ndjson").path
        configuration.witness = journal
        configure(&configuration)
        keepsRecord = configuration.recordPath != nil
        simulator = try PushSimulator(configuration)
        try simulator.start()
        try write(relayKey ?? key)
        try Data("whsec_\(Base64.encode(Self.secret))".utf8).write(to: folder.appending(path: "webhook-secret"))
        let text = """
            {
              store: { sqlite: { path: "\(path("relay.db"))" } },
              listen: { address: "127.0.0.1:0", controlSocket: "\(path("control.sock"))" },
              webhooks: { secrets: [{ file: "\(path("webhook-secret"))" }] },
              apps: { "\(Self.app)": { ios: {
                downloadUrl: "https://apps.apple.com/app/id1173193999",
                \(iosKeys)
                push: { type: "mddy_needUpgrade", alert: "Upgrade, please.", timeToLive: "\(timeToLive)" },
                apns: {
                  teamId: "\(Self.teamID)", keyId: "\(Self.keyID)", key: { file: "\(path("key.p8"))" },
                  server: "https://127.0.0.1:\(simulator.port)",
                  trustedCertificates: "\(path("push-simulator-ca.pem"))",
                },
              } } },
            }
            """
        try Data(text.utf8).write(to: folder.appending(path: "config.json5"))
    }

    deinit {
        relay?.kill()
        simulator.stop()
        if keepsRecord { judge() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Checks all pushes against the phones of the registered devices' users.
    private func judge() {
        do {
            let faults = try jury.verdict(onRecord: Data(contentsOf: folder.appending(path: "record.ndjson"))).faults
            if let first = faults.first { Issue.record("\(faults.count) pushes were wrong, the first: \(first)") }
        } catch {
            Issue.record(error, "the record of pushes")
        }
    }

    static let secret = Array("a secret of thirty-two bytes, 32".utf8)

    func path(_ name: String) -> String {
        folder.appending(path: name).path
    }

    func write(_ key: ES256PrivateKey) throws {
        try Data(key.pem).write(to: folder.appending(path: "key.p8"))
    }

    /// Moves the store to another folder; before `start`.
    func keepStore(in folder: URL) throws {
        try edit { $0.replacing(path("relay.db"), with: folder.appending(path: "relay.db").path) }
    }

    /// Puts the store into a database; before `start`.
    ///
    /// - Parameter conninfo: libpq's text for it.
    func keepStore(inPostgres conninfo: String) throws {
        try reconfigure("sqlite: { path: \"\(path("relay.db"))\" }", "postgres: { url: \"\(conninfo)\" }")
    }

    /// Changes the configuration; a running daemon reads it at SIGHUP.
    func edit(_ change: (String) -> String) throws {
        let file = folder.appending(path: "config.json5")
        try Data(change(String(contentsOf: file, encoding: .utf8)).utf8).write(to: file)
    }

    /// Points the relay at a push service of the test's own.
    func push(to server: String, trusting certificates: String? = nil) throws {
        try edit { text in
            text.replacing("https://127.0.0.1:\(simulator.port)\"", with: "\(server)\"")
                .replacing(path("push-simulator-ca.pem"), with: certificates ?? path("push-simulator-ca.pem"))
        }
    }

    /// Changes one place of the configuration; before `start`.
    func reconfigure(_ place: String, _ text: String) throws {
        let file = folder.appending(path: "config.json5")
        let old = try String(contentsOf: file, encoding: .utf8)
        guard old.contains(place) else { throw Unexpected("no \(place) in the configuration") }
        try Data(old.replacing(place, with: text, maxReplacements: 1).utf8).write(to: file)
    }

    // MARK: The daemon

    /// SIGHUP; returns when the configuration was taken.
    func reload() throws {
        guard let relay else { throw Unexpected("no daemon runs") }
        // Lines of earlier reloads prove nothing about this one.
        let before = relay.log.split(separator: "\n").count { $0.contains("reloaded") }
        relay.send(SIGHUP)
        guard relay.waitForLine("reloaded", times: before + 1, within: .seconds(60)),
            relay.log.split(separator: "\n").filter({ $0.contains("reloaded") })[before].contains(" not reloaded")
                == false
        else { throw Unexpected("not reloaded:\n\(relay.log)") }
    }

    /// - Parameter logLevel: nil: the configuration's level.
    func start(logLevel: String? = "info") throws {
        try launch(logLevel: logLevel)
        try relay?.waitUntilReady()
    }

    /// Starts it without waiting for it.
    func launch(logLevel: String? = "info", environment: [String: String] = [:]) throws {
        relay = try RelayProcess(
            launching: path("config.json5"), arguments: logLevel.map { ["--log-level", $0] } ?? [],
            environment: environment)
    }

    func kill() {
        relay?.kill()
        relay = nil
    }

    /// Runs a command of the same binary against this bench.
    func command(_ arguments: String..., input: String? = nil) throws -> CommandResult {
        let isNamed = arguments.contains("--config")
        return try CommandResult.of(arguments + (isNamed ? [] : ["--config", path("config.json5")]), input: input)
    }

    /// Reads or writes the store as any other program may: with plain SQL.
    func sql(_ statement: String) throws -> CommandResult {
        try CommandResult.of(
            ["-cmd", ".timeout 5000", path("relay.db"), statement], program: URL(filePath: "/usr/bin/sqlite3"))
    }

    // MARK: The API

    /// One request over the control socket; the answer as JSON.
    func api(_ method: String, _ path: String, body: [UInt8]? = nil) throws -> (status: Int, json: [String: Any]) {
        var request = HTTPRequest(method, "http://localhost\(path)")
        if let body { request.body = body }
        let response = try HTTPClient(unixSocket: self.path("control.sock")).send(request)
        let json =
            response.body.isEmpty
            ? nil : try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return (response.status, json ?? [:])
    }

    /// Asks /readyz until it answers `status`: the answer may be a second old.
    ///
    /// - Parameter isDegraded: whether a 200 must report degraded parts.
    @discardableResult
    func readiness(_ status: Int, isDegraded: Bool = false) throws -> [String: Any] {
        var last = ""
        return try until("still \(last)") {
            let answer = try api("GET", "/readyz")
            last = "\(answer)"
            let degraded = answer.json["degraded"] as? [Any] ?? []
            return answer.status == status && (status != 200 || degraded.isEmpty != isDegraded) ? answer.json : nil
        }
    }

    /// Calls `look` until it finds something, and returns that. It looks again at each line of the daemon's log and every 50 ms,
    /// since values that may be a second old change without a line.
    func until<Found>(
        within limit: Duration = .seconds(60), _ fault: @autoclosure () -> String = "", _ look: () throws -> Found?
    ) throws -> Found {
        let deadline = ContinuousClock.now + limit * Patience.factor
        while true {
            if let found = try look() { return found }
            guard ContinuousClock.now < deadline else {
                throw Unexpected("it did not happen within \(limit); \(fault())\n\(relay?.log ?? "")")
            }
            if let relay { relay.waitForNextLine(atMost: .milliseconds(50)) } else { sched_yield() }
        }
    }

    func register(_ fleet: Fleet) throws {
        for start in stride(from: 0, to: fleet.devices.count, by: 20_000) {
            let part = fleet.devices[start..<min(start + 20_000, fleet.devices.count)]
            let answer = try api(
                "POST", "/v1/apps/\(Self.app)/ios/devices", body: Array(part.map(\.json).joined(separator: "\n").utf8))
            guard answer.json["stored"] as? Int == part.count else { throw Unexpected("import: \(answer)") }
        }
        knows(fleet.devices)
    }

    /// Makes the devices' users known to the jury.
    func knows(_ devices: [Fleet.Device]) {
        for device in devices {
            if let telephone = device.telephone { jury.telephones[device.token, default: []].insert(telephone) }
        }
    }

    /// Sends the signed webhook over TCP, as a release pipeline does.
    func bump(_ required: String, id: String = UUID().uuidString) throws -> (status: Int, json: [String: Any]) {
        guard let relay else { throw Unexpected("no daemon runs") }
        let response = try HTTPClient().send(Self.webhook(required, id: id, to: "http://\(relay.address)"))
        let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return (response.status, json ?? [:])
    }

    static func webhook(
        _ required: String, id: String, to address: String, key: [UInt8] = secret
    ) -> HTTPRequest {
        let body = Array(#"{"app":"\#(app)","platform":"ios","required":"\#(required)","confirm":true}"#.utf8)
        let now = String(Int(Date.now.timeIntervalSince1970))
        let code = HMACSHA256.code(Array("\(id).\(now).".utf8) + body, key: key)
        var request = HTTPRequest("POST", "\(address)/v1/webhooks/version")
        request.headers = [
            ("webhook-id", id), ("webhook-timestamp", now), ("webhook-signature", "v1,\(Base64.encode(code))"),
        ]
        request.body = body
        return request
    }

    /// The campaign that a bump started.
    func campaign(of answer: (status: Int, json: [String: Any])) throws -> String {
        guard let campaign = answer.json["campaign"] as? [String: Any], let id = campaign["id"] as? String else {
            throw Unexpected("no campaign in \(answer)")
        }
        return id
    }

    /// Follows a campaign's events until one satisfies `condition`; each event is a signal, so nothing sleeps.
    ///
    /// - Throws: `Unexpected` when the stream ends or `deadline` passes before that.
    @discardableResult
    func follow(_ campaign: String, within deadline: Duration = .seconds(60), until condition: (CampaignView) -> Bool)
        throws -> CampaignView
    {
        var request = HTTPRequest("GET", "http://localhost/v1/campaigns/\(campaign)/events")
        request.timeout = deadline * Patience.factor
        var last: CampaignView?
        var found: CampaignView?
        do {
            _ = try withoutActuallyEscaping(condition) { condition in
                try HTTPClient(unixSocket: path("control.sock")).lines(request) { line in
                    guard line.starts(with: Array("data:".utf8)) else { return true }
                    let view = try CampaignView(Array(line.dropFirst(5)))
                    last = view
                    if condition(view) { found = view }
                    return found == nil
                }
            }
        } catch  where found == nil {
            throw Unexpected(
                "\(error); the campaign stood at \(last.map { "\($0)" } ?? "nothing")\n\(relay?.log ?? "")")
        } catch {
            // The stream was ended early on purpose.
        }
        guard let found else { throw Unexpected("the campaign stayed at \(last.map { "\($0)" } ?? "nothing")") }
        return found
    }

    func view(_ campaign: String) throws -> CampaignView {
        try CampaignView(json: api("GET", "/v1/campaigns/\(campaign)").json)
    }

    /// All deliveries of a campaign, page by page.
    func deliveries(_ campaign: String) throws -> [[String: Any]] {
        var all: [[String: Any]] = []
        var cursor: String?
        repeat {
            let page = try api(
                "GET", "/v1/campaigns/\(campaign)/deliveries?limit=1000" + (cursor.map { "&cursor=\($0)" } ?? ""))
            all += page.json["items"] as? [[String: Any]] ?? []
            cursor = page.json["next"] as? String
        } while cursor != nil
        return all
    }

    // MARK: What the push service saw

    /// The push service's record, line by line.
    func record() throws -> [[String: Any]] {
        let text = try String(contentsOf: folder.appending(path: "record.ndjson"), encoding: .utf8)
        return try text.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
