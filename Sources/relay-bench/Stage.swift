// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import Signing
import UpgradeRules

/// A temporary directory with a key and an authority, the push service's stand-in, and the daemon: each a process of its
/// own, so that its CPU can be counted.
final class Stage {
    static let platform = "ios"

    let folder: URL
    let relay: String
    let key: ES256PrivateKey
    let sink: Child
    let port: UInt16
    /// The daemon's limit; nil: its default.
    private var connections: Int?
    private(set) var daemon: Child?

    /// - Parameters:
    ///   - relay: the path of the upgrade-relay binary.
    ///   - latency: milliseconds from request to answer.
    init(relay: String, latency: Int = 0) throws {
        self.relay = relay
        folder = FileManager.default.temporaryDirectory.appending(path: "relay-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let paths = (key: folder.appending(path: "key.p8").path, authority: folder.appending(path: "ca.pem").path)
        sink = try Child(
            relay,
            [
                "simulate-apns", "--listen", "127.0.0.1:0", "--topic", Sender.topic, "--team-id", Sender.teamID,
                "--key-id", Sender.keyID, "--write-key", paths.key, "--write-ca", paths.authority, "--bare", "--json",
                "--latency", "\(latency)ms",
            ])
        struct Ready: Decodable { var port: UInt16 }
        port = try JSONDecoder().decode(Ready.self, from: Data(sink.firstLine().utf8)).port
        key = try ES256PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: paths.key))))
        try writeConfiguration()
    }

    /// What the simulator says of itself at its end.
    struct SinkFigures: Decodable {
        var accepted: Int
        var connectionsOpened: Int
    }

    func stopSink() throws -> SinkFigures {
        try JSONDecoder().decode(SinkFigures.self, from: sink.stop())
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }
    var keyPath: String { path("key.p8") }
    var authorityPath: String { path("ca.pem") }
    var socketPath: String { path("control.sock") }
    private var configurationPath: String { path("config.json5") }
    private var logPath: String { path("daemon.log") }

    private func writeConfiguration() throws {
        var apns: [String: Any] = [
            "teamId": Sender.teamID, "keyId": Sender.keyID, "key": ["file": keyPath],
            "server": "https://127.0.0.1:\(port)", "trustedCertificates": authorityPath,
        ]
        if let connections { apns["connections"] = connections }
        let app: [String: Any] = [
            Self.platform: [
                "downloadUrl": "https://apps.apple.com/app/id1173193999",
                "push": ["type": Sender.payload.type], "apns": apns,
            ]
        ]
        let configuration: [String: Any] = [
            "store": ["sqlite": ["path": path("relay.db")]],
            "listen": ["address": "127.0.0.1:0", "controlSocket": socketPath], "apps": [Sender.topic: app],
        ]
        try JSONSerialization.data(withJSONObject: configuration).write(to: URL(fileURLWithPath: configurationPath))
    }

    /// Takes effect when the daemon is started anew.
    func limit(connections: Int?) throws {
        self.connections = connections
        try writeConfiguration()
    }

    func tearDown() {
        daemon?.stop()
        sink.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: The daemon

    /// Starts the daemon.
    /// - Returns: seconds from its start until `/readyz` says 200.
    @discardableResult
    func start() throws -> Double {
        let began = ContinuousClock.now
        daemon = try Child(relay, ["serve", "--config", configurationPath, "--stop-at-eof"], log: logPath)
        try wait("the daemon is ready", pause: 1000) { (try? api("GET", "/readyz"))?.status == 200 }
        return (ContinuousClock.now - began) / .seconds(1)
    }

    /// Where the daemon listens, as its log says.
    func apiPort() throws -> UInt16 {
        let words = try String(contentsOfFile: logPath, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        guard let word = words.first(where: { $0.hasPrefix("listen=") }),
            let port = word.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw BenchError("the daemon's log does not say where it listens") }
        return port
    }

    /// Bytes of the store's write-ahead log.
    var logBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path("relay.db-wal"))
        return attributes?[.size] as? Int ?? 0
    }

    /// - Returns: the secret of a new API token.
    func createToken(scope: String) throws -> String {
        struct Made: Decodable { var token: String }
        let words = ["tokens", "create", "--name", "bench", "--scope", scope, "--json", "--socket", socketPath]
        return try JSONDecoder().decode(Made.self, from: Child(relay, words).result()).token
    }

    /// Ends the daemon in order and starts it over the same store: what it did before counts no more.
    func startAnew() throws {
        daemon?.stop()
        daemon = nil
        try start()
    }

    /// As power fails.
    func kill() {
        daemon?.kill()
        daemon = nil
    }

    func usage() throws -> ProcessUsage {
        guard let daemon else { throw BenchError("no daemon runs") }
        return try ProcessUsage(of: daemon.identifier)
    }

    func api(_ method: String, _ path: String, _ body: [String: String]? = nil) throws -> HTTPResponse {
        var request = HTTPRequest(method, "http://relay\(path)")
        if let body {
            request.headers = [(name: "content-type", value: "application/json")]
            request.body = .bytes(Array(try JSONEncoder().encode(body)))
        }
        return try HTTPClient(unixSocket: socketPath).send(request)
    }

    /// The sum of a metric over its labels.
    func metric(_ name: String) throws -> Int {
        let text = String(decoding: try api("GET", "/metrics").body, as: UTF8.self)
        let values = text.split(separator: "\n").filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") }
        guard !values.isEmpty else { throw BenchError("the daemon does not show \(name)") }
        return Int(values.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +))
    }

    /// Raises the required version; returns the campaign's id.
    func raise(to version: String) throws -> String {
        let path = "/v1/apps/\(Sender.topic)/\(Self.platform)/version"
        let answer = try api("PUT", path, ["required": version, "latest": version])
        let tree = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let campaign = tree?["campaign"]
        guard let id = campaign as? String ?? (campaign as? [String: Any])?["id"] as? String else {
            throw BenchError("no campaign began: \(String(decoding: answer.body, as: UTF8.self))")
        }
        return id
    }

    /// As `raise`, once its first push has been accepted.
    func beginCampaign(version: Int) throws -> String {
        let id = try raise(to: "\(version).0.0")
        try wait("the campaign begins", pause: 2000) { try campaign(id).accepted > 0 }
        return id
    }

    struct Campaign: Decodable {
        var state: String
        var counts: [String: Int]

        var accepted: Int { counts["accepted"] ?? 0 }
    }

    func campaign(_ id: String) throws -> Campaign {
        try JSONDecoder().decode(Campaign.self, from: Data(api("GET", "/v1/campaigns/\(id)").body))
    }

    /// What a campaign has done so far, and who has worked for how many nanoseconds.
    struct Moment {
        private let time: ContinuousClock.Instant
        var accepted: Int
        var daemon: UInt64
        /// Of the daemon's, the fan-out's thread and its lanes.
        var fanOut: UInt64
        var sink: UInt64
        var seconds = 0.0

        fileprivate init(of campaign: Int, daemon: Child, sink: Child) throws {
            accepted = campaign
            time = .now
            fanOut = ThreadUsage.all(of: daemon.identifier).filter(Stage.isOfFanOut).reduce(0) { $0 + $1.processorTime }
            self.daemon = try ProcessUsage(of: daemon.identifier).processorTime
            self.sink = try ProcessUsage(of: sink.identifier).processorTime
        }

        func since(_ before: Moment) -> Moment {
            var spent = self
            spent.seconds = (time - before.time) / .seconds(1)
            spent.accepted -= before.accepted
            spent.daemon -= before.daemon
            spent.fanOut -= before.fanOut
            spent.sink -= before.sink
            return spent
        }
    }

    static func isOfFanOut(_ thread: ThreadUsage) -> Bool { thread.name == "fan-out" || thread.name.hasPrefix("lane-") }

    func moment(_ id: String) throws -> Moment {
        let state = try campaign(id)
        guard state.state != "completed", let daemon else {
            throw BenchError("the campaign was over too soon: give more devices, or fewer --api-seconds")
        }
        return try Moment(of: state.accepted, daemon: daemon, sink: sink)
    }

    /// Asks until it is so.
    /// - Parameter pause: microseconds between two questions.
    func wait(_ what: String, pause: UInt32 = 20_000, until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(900)
        while try !condition() {
            if let daemon, !daemon.isRunning { throw BenchError("the daemon ended: \(lastWords)") }
            guard ContinuousClock.now < end else { throw BenchError("waited 15 minutes until \(what)") }
            usleep(pause)
        }
    }

    private var lastWords: String {
        let log = try? String(contentsOfFile: logPath, encoding: .utf8)
        return log?.split(separator: "\n").last.map(String.init) ?? "it said nothing"
    }

    // MARK: Devices

    enum Format: String, Codable {
        case ndjson
        case csv
    }

    /// Imports devices by the command that an operator uses; the first of them is 0, so that their number is known.
    /// - Parameter writer: writes meanwhile, and counts how long each time took.
    func importDevices(
        _ numbers: Range<Int>, as format: Format, beside writer: OtherWriter? = nil
    ) throws -> BenchReport.Row {
        let path = folder.appending(path: "devices.\(format.rawValue)")
        try Self.write(numbers, as: format, to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let before = try usage()
        let commandBefore = ProcessUsage.childrensTime
        try writer?.begin()
        let began = ContinuousClock.now
        let words = ["devices", "import", path.path, "--app", Sender.topic, "--platform", Self.platform]
        _ = try Child(relay, words + ["--socket", socketPath, "--quiet"]).result()
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let waits = try writer?.end()
        let command = ProcessUsage.childrensTime - commandBefore
        let after = try usage()
        let rows = Double(numbers.count)
        var row = BenchReport.Row()
        row.add("format", "format", .word(format.rawValue))
        row.add("rows", "rows", .count(numbers.count))
        row.add("registry", "registry before", .count(numbers.lowerBound))
        // From the command's start to its end.
        row.add("rowsPerSecond", "rows/s", .rate(rows / elapsed))
        row.add("cpuMicroseconds", "µs/row", .decimal(Double(after.processorTime - before.processorTime) / rows / 1000))
        row.add("commandCPUMicroseconds", "command µs", .decimal(Double(command) / rows / 1000))
        row.add("writtenBytesPerRow", "bytes written", .decimal(Double(after.written - before.written) / rows))
        // Of the daemon since its start.
        row.add("peakMemoryBytes", "peak MiB", .memory(after.peakMemory))
        // One device registered after another meanwhile, each with its answer awaited.
        row.add("otherWrites", "other writes", .count(waits?.count))
        row.add("otherMedianMilliseconds", "median ms", .decimal(waits.map { $0[$0.count / 2] }))
        row.add("otherWorstMilliseconds", "worst ms", .decimal(waits?.last))
        return row
    }

    private static func write(_ numbers: Range<Int>, as format: Format, to path: URL) throws {
        try Data().write(to: path)
        let file = try FileHandle(forWritingTo: path)
        var text: [UInt8] = format == .csv ? Array("token,telephone,version\n".utf8) : []
        var device: [UInt8] = []
        for number in numbers {
            device.removeAll(keepingCapacity: true)
            Sender.appendDevice(number, to: &device)
            let (token, telephone) = (device.prefix(Sender.tokenLength), device.dropFirst(Sender.tokenLength))
            let parts: (StaticString, StaticString, StaticString) =
                format == .csv
                ? ("", ",", ",1.0.0\n")
                : ("{\"token\":\"", "\",\"telephone\":\"", "\",\"version\":\"1.0.0\"}\n")
            text += parts.0.description.utf8
            text += token
            text += parts.1.description.utf8
            text += telephone
            text += parts.2.description.utf8
            if text.count > 1 << 20 {
                try file.write(contentsOf: Data(text))
                text.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: Data(text))
        try file.close()
    }
}
