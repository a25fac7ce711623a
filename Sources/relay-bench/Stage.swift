// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import Signing
import UpgradeRules

/// A temporary directory with a key and an authority, the push service's stand-in, and the daemon: all of them
/// processes of their own, so that each one's CPU can be told.
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

    var keyPath: String { folder.appending(path: "key.p8").path }
    var authorityPath: String { folder.appending(path: "ca.pem").path }
    private var configurationPath: String { folder.appending(path: "config.json5").path }
    private var logPath: String { folder.appending(path: "daemon.log").path }
    var socketPath: String { folder.appending(path: "control.sock").path }

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
            "store": ["sqlite": ["path": folder.appending(path: "relay.db").path]],
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
    /// - Returns: seconds from its start until `/readyz` says 200; it is not asked before the daemon says that it is ready.
    @discardableResult
    func start() throws -> Double {
        let listener = try ReadyListener(path: folder.appending(path: "notify").path)
        let began = ContinuousClock.now
        let daemon = try Child(
            relay, ["serve", "--config", configurationPath, "--stop-at-eof"], log: logPath,
            environment: ["NOTIFY_SOCKET": listener.path])
        self.daemon = daemon
        try listener.wait()
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
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: "relay.db-wal").path)
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

    func figures() throws -> ProcessFigures {
        guard let daemon else { throw BenchError("no daemon runs") }
        return try ProcessFigures(of: daemon.identifier)
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
        guard !values.isEmpty else { throw BenchError("the daemon does not tell of \(name)") }
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

    struct Campaign: Decodable {
        var state: String
        var counts: [String: Int]

        var accepted: Int { counts["accepted"] ?? 0 }
    }

    func campaign(_ id: String) throws -> Campaign {
        try JSONDecoder().decode(Campaign.self, from: Data(api("GET", "/v1/campaigns/\(id)").body))
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
    /// - Parameter writer: writes meanwhile, and tells how long each time took.
    func importDevices(
        _ numbers: Range<Int>, as format: Format, beside writer: OtherWriter? = nil
    ) throws -> BenchReport.Import {
        let path = folder.appending(path: "devices.\(format.rawValue)")
        try Self.write(numbers, as: format, to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let before = try figures()
        let commandsBefore = ProcessClock.children()
        try writer?.begin()
        let began = ContinuousClock.now
        _ = try Child(
            relay,
            [
                "devices", "import", path.path, "--app", Sender.topic, "--platform", Self.platform, "--socket",
                socketPath, "--quiet",
            ]
        ).result()
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let waits = try writer?.end()
        let commands = ProcessClock.children() - commandsBefore
        let after = try figures()
        let rows = Double(numbers.count)
        return BenchReport.Import(
            format: format, rows: numbers.count, registry: numbers.lowerBound, rowsPerSecond: rows / elapsed,
            cpuMicroseconds: Double(after.processorTime - before.processorTime) / rows / 1000,
            commandCPUMicroseconds: Double(commands) / rows / 1000,
            writtenBytesPerRow: Double(after.written - before.written) / rows, peakMemoryBytes: after.peakMemory,
            otherWrites: waits?.count, otherMedianMilliseconds: waits?.median, otherWorstMilliseconds: waits?.worst)
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
            switch format {
            case .csv: text += token + [0x2C] + telephone + ",1.0.0\n".utf8
            case .ndjson:
                text += "{\"token\":\"".utf8
                text += token
                text += "\",\"telephone\":\"".utf8
                text += telephone
                text += "\",\"version\":\"1.0.0\"}\n".utf8
            }
            if text.count > 1 << 20 {
                try file.write(contentsOf: Data(text))
                text.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: Data(text))
        try file.close()
    }
}
