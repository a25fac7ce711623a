// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import Signing
import UpgradeRules

/// A temporary directory with a key and an authority, the push service's stand-in, and the daemon. The last two are processes of
/// their own, so that their CPU can be counted.
final class Stage {
    /// The platform of the suites that measure only one.
    static let platform = "ios"

    let platform: String
    /// The app's `ratePerSecond` under `pace`; nil: it has none.
    let ratePerSecond: Int?
    let folder: URL
    let relay: String
    let sink: Child
    let port: UInt16
    private(set) var daemon: Child?
    /// The server of the daemon's store; nil: the store is in a file.
    let server: StageServer?
    /// The relay's name in the database; nil: the machine's.
    let node: String?

    /// - Parameters:
    ///   - relay: the path of the upgrade-relay binary.
    ///   - latency: the milliseconds from request to answer.
    ///   - faults: the JSON of a script for the strict simulator; nil: the sink that takes everything.
    ///   - server: the server of the store, which ends with the stage; nil: the store is in a file.
    init(
        relay: String, latency: Int = 0, platform: String = Stage.platform, faults: String? = nil,
        ratePerSecond: Int? = nil, server: StageServer? = nil, node: String? = nil
    ) throws {
        self.relay = relay
        self.node = node
        self.server = server
        self.ratePerSecond = ratePerSecond
        self.platform = platform
        folder = FileManager.default.temporaryDirectory.appending(path: "relay-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let words = ["sink", platform, folder.path, "\(latency)"]
        sink = try Child(BenchOptions.program, words + (faults.map { [$0] } ?? []))
        port = try JSONDecoder().decode(Sink.Ready.self, from: Data(sink.firstLine().utf8)).port
    }

    /// The APNs key.
    var key: ES256PrivateKey {
        get throws { try ES256PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: keyPath)))) }
    }

    /// The daemon's settings for its push service. With FCM it sends as fast as it can, because Google's limits are not measured.
    private var service: String {
        let own = "server: \"https://127.0.0.1:\(port)\", trustedCertificates: \"\(authorityPath)\""
        return platform == "ios"
            ? "apns: { teamId: \"\(Sender.teamID)\", keyId: \"\(Sender.keyID)\", key: { file: \"\(keyPath)\" }, \(own), "
            : "fcm: { serviceAccount: { file: \"\(keyPath)\" }, quotaPerMinute: 600000000, avoidQuarterHours: false, \(own), "
    }

    /// Stops the simulator, and returns its final figures.
    func stopSink() throws -> Sink.Figures {
        try JSONDecoder().decode(Sink.Figures.self, from: sink.stop())
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }
    var keyPath: String { path(Sink.keyName) }
    var authorityPath: String { path(Sink.authorityName) }
    var socketPath: String { path("control.sock") }
    private var logPath: String { path("daemon.log") }

    func tearDown() {
        daemon?.stop()
        sink.stop()
        server?.end()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: The daemon

    /// Starts the daemon on the existing store, after stopping a running one in order. The figures of the earlier daemon no longer
    /// count.
    /// - Parameter connections: the daemon's limit; nil: its default.
    /// - Returns: the seconds from its start until `/readyz` answers 200.
    @discardableResult
    func start(connections: Int? = nil) throws -> Double {
        stop()
        try configure(connections: connections)
        let began = ContinuousClock.now
        daemon = try Child(relay, ["serve", "--config", configurationPath, "--stop-at-eof"], log: logPath)
        try wait("the daemon is ready", pause: 1000) { (try? api("GET", "/readyz")) != nil }
        return (ContinuousClock.now - began) / .seconds(1)
    }

    /// Stops the daemon in order.
    func stop() {
        daemon?.stop()
        daemon = nil
    }

    var store: StageStore { server == nil ? .sqlite : .postgres }
    var storePath: String { path("relay.db") }
    var configurationPath: String { path("config.json5") }

    /// Writes the daemon's configuration.
    /// - Parameter store: replaces the stage's own store.
    func configure(connections: Int? = nil, store: String? = nil) throws {
        let name = node.map { ", node: \"\($0)\"" } ?? ""
        let own = server.map { "postgres: { url: \"\($0.conninfo)\"\(name) }" } ?? "sqlite: { path: \"\(storePath)\" }"
        let configuration = """
            {
              store: { \(store ?? own) },
              listen: { address: "127.0.0.1:0", controlSocket: "\(socketPath)" },
              apps: { "\(Sender.topic)": { \(platform): {
                downloadUrl: "https://apps.apple.com/app/id1173193999",
                push: { type: "\(Sender.payload.type)" },
                \(ratePerSecond.map { "pace: { ratePerSecond: \($0) }," } ?? "")
                \(service)\(connections.map { "connections: \($0)" } ?? "") },
              } } },
            }
            """
        try configuration.write(toFile: configurationPath, atomically: false, encoding: .utf8)
    }

    /// Ends the daemon like a power failure.
    func kill() {
        daemon?.kill()
        daemon = nil
    }

    /// The port on which the daemon listens, from its log.
    func apiPort() throws -> UInt16 {
        let words = try String(contentsOfFile: logPath, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        guard let word = words.first(where: { $0.hasPrefix("listen=") }),
            let port = word.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw BenchError("the daemon's log does not say where it listens") }
        return port
    }

    /// Bytes of the store's write-ahead log.
    var logBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(storePath)-wal")
        return attributes?[.size] as? Int ?? 0
    }

    /// - Returns: the secret of a new API token.
    func createToken(scope: String) throws -> String {
        struct Made: Decodable { var token: String }
        let words = ["tokens", "create", "--name", "bench", "--scope", scope, "--json", "--socket", socketPath]
        return try JSONDecoder().decode(Made.self, from: Child(relay, words).result()).token
    }

    /// - Returns: the body of the answer.
    /// - Throws: if the answer is not 2xx, for example if a campaign was over before it could be paused.
    @discardableResult
    func api(_ method: String, _ path: String, _ body: [String: String]? = nil) throws -> Data {
        var request = HTTPRequest(method, "http://relay\(path)")
        if let body {
            request.headers = [(name: "content-type", value: "application/json")]
            request.body = Array(try JSONEncoder().encode(body))
        }
        let answer = try HTTPClient(unixSocket: socketPath).send(request)
        guard (200..<300).contains(answer.status) else {
            throw BenchError("\(method) \(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
        return Data(answer.body)
    }

    /// The sum of a metric over its labels.
    func metric(_ name: String) throws -> Int {
        let text = String(decoding: try api("GET", "/metrics"), as: UTF8.self)
        let values = text.split(separator: "\n").filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") }
        guard !values.isEmpty else { throw BenchError("the daemon does not show \(name)") }
        return Int(values.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +))
    }

    /// Asks until the condition holds.
    /// - Parameter pause: the microseconds between two questions.
    func wait(_ what: String, pause: UInt32 = 20_000, until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(900)
        while try !condition() {
            if let daemon, !daemon.isRunning {
                let log = try? String(contentsOfFile: logPath, encoding: .utf8)
                throw BenchError("the daemon ended: \(log?.split(separator: "\n").last ?? "it said nothing")")
            }
            guard ContinuousClock.now < end else { throw BenchError("waited 15 minutes until \(what)") }
            usleep(pause)
        }
    }

    // MARK: Campaigns

    struct Campaign: Decodable {
        var id: String
        var state: String
        var counts: [String: Int]

        var accepted: Int { counts["accepted"] ?? 0 }
    }

    func campaign(_ id: String) throws -> Campaign {
        try JSONDecoder().decode(Campaign.self, from: api("GET", "/v1/campaigns/\(id)"))
    }

    /// Raises the required version; returns the campaign's id.
    func raise(to version: Int) throws -> String {
        let path = "/v1/apps/\(Sender.topic)/\(platform)/version"
        let answer = try api("PUT", path, ["required": "\(version).0.0", "latest": "\(version).0.0"])
        struct Raised: Decodable { var campaign: Campaign }
        return try JSONDecoder().decode(Raised.self, from: answer).campaign.id
    }

    /// Raises the version and waits until its first push has been accepted.
    func beginCampaign(version: Int) throws -> String {
        let id = try raise(to: version)
        try wait("the campaign begins", pause: 2000) { try campaign(id).accepted > 0 }
        return id
    }

    /// The number of pushes so far, and the nanoseconds of each process.
    struct Moment {
        fileprivate var time: ContinuousClock.Instant
        var accepted: Int
        var daemon: UInt64
        /// The part of `daemon` that the fan-out's thread and its lanes used.
        var fanOut: UInt64
        var sink: UInt64
        /// nil: the store is in a file.
        var server: StageServer.Usage?
        var seconds = 0.0

        var rate: Double { Double(accepted) / seconds }

        /// Adds the rate, and the costs per push that go with it.
        func addCosts(to row: inout BenchReport.Row) {
            let perPush = 1 / Double(max(accepted, 1)) / 1000
            row.add("pushesPerSecond", "pushes/s", rate, decimals: 0)
            row.add("cpuMicroseconds", "µs/push", Double(daemon) * perPush)
            row.add("simulatorCPUMicroseconds", "simulator µs", Double(sink) * perPush)
        }

        /// Adds the database's server: its processor time, and the bytes of its write-ahead log.
        func addServerCosts(to row: inout BenchReport.Row) {
            let pushes = Double(max(accepted, 1))
            row.add("serverCPUMicroseconds", "server µs", server.map { Double($0.processorTime) / pushes / 1000 })
            row.add("serverLogBytesPerPush", "log bytes", server.map { Double($0.log) / pushes })
        }
    }

    /// - Parameters:
    ///   - campaign: the campaign that counts; nil: none has begun.
    ///   - isFirst: whether this is the first of two moments.
    func moment(_ campaign: String? = nil, isFirst: Bool = true) throws -> Moment {
        let accepted = try campaign.map { try self.campaign($0).accepted } ?? 0
        guard let daemon else { throw BenchError("no daemon runs") }
        let threads = ThreadUsage.all(of: daemon.identifier).filter(\.isOfFanOut)
        return Moment(
            time: .now, accepted: accepted, daemon: try ProcessUsage(of: daemon.identifier).processorTime,
            fanOut: threads.reduce(0) { $0 + $1.processorTime },
            sink: try ProcessUsage(of: sink.identifier).processorTime,
            server: try server?.usage(asksFirst: isFirst))
    }

    /// The pushes and costs since `before`.
    func spent(since before: Moment, _ campaign: String?) throws -> Moment {
        var spent = try moment(campaign, isFirst: false)
        spent.seconds = (spent.time - before.time) / .seconds(1)
        spent.accepted -= before.accepted
        spent.daemon -= before.daemon
        spent.fanOut -= before.fanOut
        spent.sink -= before.sink
        if let used = spent.server, let earlier = before.server { spent.server = used - earlier }
        return spent
    }

    /// The same as `spent(since:)`, for a campaign that must run all the time.
    func spent(on campaign: String, while body: () throws -> Void) throws -> Moment {
        let before = try moment(campaign)
        try body()
        let spent = try spent(since: before, campaign)
        guard try self.campaign(campaign).state != "completed" else {
            throw BenchError("the campaign was over too soon: give more devices, or less time to each figure")
        }
        return spent
    }
}
