// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import StatusPage
import StoreConformance
import Synchronization
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules
import VersionSources
import WireFormat

final class BenchClock: Sendable {
    private let time = Mutex(Bench.now)

    var now: Timestamp { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// A running server on a store of its own, and clients for both of its doors.
final class Bench: Sendable {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    static let app = AppKey(app: "com.example.app", platform: .ios)
    /// Another team's app; configured if `ControlDouble.hasOther` is true.
    static let other = AppKey(app: "com.example.other", platform: .ios)
    /// The server's clock stands still, unless a test moves it.
    static let now = Timestamp(seconds: 1_700_000_000)

    let directory: URL
    let store: any TestStore
    let control: ControlDouble
    let server: APIServer
    let clock = BenchClock()
    /// The server's log lines: level, message, and fields as "name=value".
    let logged = LogLines()
    /// How often the webhook secrets were asked for: once for each verification.
    let verifications: Counter

    final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    var socketPath: String { directory.appending(path: "control.sock").path }

    /// - Parameter secrets: the secrets that verify webhooks; nil: one, for all apps.
    init(
        limits: APILimits = APILimits(), checkTrust: CheckTrust = .device, secrets: [WebhookSecret]? = nil,
        enforce: EnforceRules = EnforceRules(), operations: Bool = false, webOrigins: WebOrigins = .none,
        hasPage: Bool = false, identity: @escaping @Sendable () -> ProxyIdentity? = { nil }
    ) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "relay-api-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        store = try openStore(directory.appending(path: "relay.db").path)
        control = ControlDouble(store: store)
        let secrets = try secrets ?? [WebhookSecret(Self.secret)]
        verifications = Counter()
        var settings = APISettings(
            listen: ListenAddress(host: "127.0.0.1", port: 0),
            controlSocket: directory.appending(path: "control.sock").path,
            webhookSecrets: { [verifications] in
                verifications.count.add(1, ordering: .relaxed)
                return secrets
            },
            limits: limits, clock: { [clock] in clock.now }, log: logged.log)
        settings.checkTrust = checkTrust
        settings.enforce = { enforce }
        settings.webOrigins = webOrigins
        settings.identity = identity
        if operations { settings.server.operations = ListenAddress(host: "127.0.0.1", port: 0) }
        if hasPage { settings.rendering = StatusPage.rendering }
        server = APIServer(
            store: store, control: control, settings: settings, page: hasPage ? StatusPage.routes : [])
        try server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Asks until `condition` holds, at each line of the log and every 20 ms, as the server's work of each second is not
    /// logged. Fails after a minute.
    func until(_ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, "it did not happen within a minute")
            logged.waitForNext(atMost: 20)
        }
    }

    // MARK: Clients

    var client: HTTPClient { HTTPClient(unixSocket: socketPath) }

    /// Over the control socket.
    func ask(
        _ method: String, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
    ) throws -> Answer {
        var request = HTTPRequest(method, "http://relay\(path)")
        request.headers = headers.map { (name: $0.0, value: $0.1) }
        if let body { request.body = Array(body.utf8) }
        return hold(method, path, sent: body.map { Array($0.utf8) }, try client.send(request))
    }

    /// Over TCP.
    func askNetwork(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, headers: [(String, String)] = []
    ) throws -> Answer {
        var request = HTTPRequest(method, "http://127.0.0.1:\(server.port ?? 0)\(path)")
        request.headers = headers.map { (name: $0.0, value: $0.1) }
        if let body { request.body = body }
        return hold(method, path, sent: body, try HTTPClient().send(request))
    }

    /// At the address for operations, which the document describes in part.
    func askOperations(
        _ method: String, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
    ) throws -> Answer {
        var request = HTTPRequest(method, "http://127.0.0.1:\(server.operationsPort ?? 0)\(path)")
        request.headers = headers.map { (name: $0.0, value: $0.1) }
        if let body { request.body = Array(body.utf8) }
        return Answer(try HTTPClient().send(request))
    }

    func webhook(
        _ body: String, id: String = "msg_1", age: Int64 = 0, path: String = "/v1/webhooks/version",
        headers: [(String, String)] = []
    ) throws -> Answer {
        let time = Self.now.seconds - age
        let key = Base64.decode(String(Self.secret.dropFirst(6))) ?? []
        let code = HMACSHA256.code(Array("\(id).\(time).\(body)".utf8), key: key)
        return try askNetwork(
            "POST", path, Array(body.utf8),
            headers: [
                ("webhook-id", id), ("webhook-timestamp", String(time)),
                ("webhook-signature", "v1,\(Base64.encode(code))"), ("content-type", "application/json"),
            ] + headers)
    }

    func newToken(_ scopes: Scope..., apps: [String]? = nil) throws -> String { try newToken(of: scopes, apps: apps) }

    func newToken(of scopes: [Scope], apps: [String]? = nil) throws -> String {
        let name = "t-\(scopes.map(\.rawValue).joined(separator: "-"))-\(UUID().uuidString.prefix(8))"
        let list = scopes.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        let bound = apps.map { "[\($0.map { "\"\($0)\"" }.joined(separator: ","))]" } ?? "null"
        let answer = try ask("POST", "/v1/tokens", "{\"name\":\"\(name)\",\"scopes\":[\(list)],\"apps\":\(bound)}")
        return answer.text("token") ?? ""
    }

    /// Raises the requirement for one user, and returns the id of the campaign, which waits for its release.
    func canary(required: String) throws -> String {
        let answer = try ask(
            "PUT", "/v1/apps/com.example.app/ios/version", #"{"required":"\#(required)","telephones":["138"]}"#)
        return answer.text("campaign", "id") ?? ""
    }

    /// Raises the requirement and returns the campaign's id.
    func campaign(required: String) throws -> String {
        let answer = try ask(
            "PUT", "/v1/apps/com.example.app/ios/version", "{\"required\":\"\(required)\"}")
        return answer.text("campaign", "id") ?? ""
    }

    /// Records a campaign as sent to all devices of `app` in production, ten at most, each of which accepts its push.
    ///
    /// - Throws: where there is no such campaign, or the store refuses.
    func send(_ campaign: String) throws {
        let key = try #require(try store.campaign(id: campaign)).key
        try store.planShards(key, shardSize: 10, waves: nil, at: Self.now)
        var rows = DeviceRows()
        try store.readDevices(Self.app, channel: .production, after: 0, through: .max, limit: 10, into: &rows)
        let outcomes = rows.rows.map {
            LedgerRow(device: $0.id, state: .accepted, attempts: 1, telephone: $0.telephone)
        }
        try store.commitAnew(
            [
                LedgerCommit(
                    campaign: key, shard: try store.firstShard(of: key), cursor: rows.rows.last?.id ?? 0,
                    shardDone: true, rows: outcomes, devices: rows, retirements: [])
            ], at: Self.now)
    }
}

/// Keeps log lines.
final class LogLines: Sendable {
    private let lines = Watched<[String]>([])

    var all: [String] { lines.now }

    /// Whether a line with `text` in it has come, or comes within a minute.
    func wait(for text: String) -> Bool { lines.wait { $0.contains { $0.contains(text) } } }

    /// Returns when the next line comes, or so many milliseconds are over.
    func waitForNext(atMost milliseconds: Int) {
        let seen = lines.now.count
        _ = lines.wait(seconds: 0, milliseconds: milliseconds) { $0.count > seen }
    }

    /// The lines of one request, with its "request answered" line.
    func lines(of request: String) -> [String] {
        requests.withLock { $0[request] ?? [] }
    }

    private let requests = Mutex<[String: [String]]>([:])

    /// Makes a log whose lines are kept here. `all` has neither the "request answered" lines nor the requests' ids.
    var log: Log {
        Log(minimum: .debug) { [self] level, message, fields in
            let text = fields.filter { $0.name != "request" }.map { " \($0.name)=\($0.value)" }.joined()
            let line = "\(level) \(message)\(text)"
            if message.description != "request answered" { lines.change { $0.append(line) } }
            if let id = fields.first(where: { $0.name == "request" })?.value {
                requests.withLock { $0[id, default: []].append(line) }
            }
        }
    }
}

/// An answer with its JSON at hand.
struct Answer {
    let status: Int
    let bytes: [UInt8]
    private let response: HTTPResponse

    init(_ response: HTTPResponse) {
        self.response = response
        status = response.status
        bytes = response.body
    }

    subscript(header name: String) -> String? { response[name] }

    var body: String { String(decoding: bytes, as: UTF8.self) }

    /// The value at a path of names and indices.
    func value(_ path: String...) -> JSONValue? { find(path) }

    func text(_ path: String...) -> String? {
        if case .string(let text)? = find(path) { text } else { nil }
    }

    func number(_ path: String...) -> String? {
        if case .number(let text)? = find(path) { text } else { nil }
    }

    func count(_ path: String...) -> Int? {
        if case .array(let elements)? = find(path) { elements.count } else { nil }
    }

    private func find(_ path: [String]) -> JSONValue? {
        var value = try? JSONReader.read(bytes)
        for step in path {
            switch value {
            case .object(let members): value = members.first { $0.name == step }?.value
            case .array(let elements): value = Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: return nil
            }
        }
        return value
    }
}

extension APIServer {
    /// With a cache of its own.
    convenience init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, page: [Route] = []
    ) {
        let versionCache = VersionCache(store: store, clock: settings.clock) {
            var profiles: [AppKey: AppProfile] = [:]
            for app in control.apps() { profiles[app] = control.profile(of: app) }
            return profiles
        }
        store.decisions.hear { [weak versionCache] in versionCache?.take($0) }
        self.init(store: store, control: control, settings: settings, versionCache: versionCache, page: page)
    }

    var port: UInt16? { http.port }
    var operationsPort: UInt16? { http.operationsPort }
}
