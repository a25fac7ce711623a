// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Dispatch
import Foundation
import Signing
import Synchronization
import TestPeers
import WireFormat

/// The activity around a sending daemon: apps ask at login, users log in again, operators look, watchers come and go, the
/// configuration is reloaded. Each kind has a thread of its own until `stop`.
final class SoakTraffic: Sendable {
    struct Tally: Sendable {
        var done: [String: Int] = [:]
        /// One line for each failure; the first hundred.
        var failures: [String] = []
    }

    private let socket: String
    private let configuration: String
    private let fleet: Fleet
    private let key: ES256PrivateKey
    private let store: String
    private let reloadInterval: Duration
    private let state = Mutex(Tally())
    private let daemon = Mutex<Int32?>(nil)
    private let newest = Mutex<String?>(nil)
    private let stopping = Atomic(false)
    /// One permit for each worker, when it is time to stop.
    private let bell = DispatchSemaphore(value: 0)
    private let workers = DispatchGroup()

    init(bench: Workbench, fleet: Fleet, reloadInterval: Duration) {
        socket = bench.path("control.sock")
        configuration = bench.path("config.json5")
        store = bench.path("relay.db")
        key = bench.key
        self.fleet = fleet
        self.reloadInterval = reloadInterval
    }

    /// The daemon's process; nil while there is none, when failures do not count.
    func target(_ process: Int32?) {
        daemon.withLock { $0 = process }
    }

    /// The campaign that the workers look at.
    func watch(_ campaign: String) {
        newest.withLock { $0 = campaign }
    }

    func start() {
        work("checks at login", every: .milliseconds(20)) { try self.check($0) }
        work("registrations", every: .milliseconds(500)) { try self.register($0) }
        work("event streams", every: .milliseconds(200)) { try self.listen($0) }
        work("event streams", every: .milliseconds(700)) { try self.listen($0) }
        work("status requests", every: .milliseconds(100)) { try self.look($0) }
        work("commands", every: .seconds(2)) { try self.command($0) }
        work("reloads", every: reloadInterval) { try self.reload($0) }
    }

    func stop() -> Tally {
        stopping.store(true, ordering: .relaxed)
        for _ in 0..<16 { bell.signal() }
        workers.wait()
        return state.withLock { $0 }
    }

    private func work(_ name: String, every pause: Duration, _ act: @escaping @Sendable (Int) throws -> Void) {
        workers.enter()
        Thread { [self] in
            var round = 0
            while bell.wait(timeout: .now() + pause / .seconds(1)) == .timedOut {
                let process = daemon.withLock { $0 }
                guard process != nil else { continue }
                round += 1
                do {
                    try act(round)
                    state.withLock { $0.done[name, default: 0] += 1 }
                } catch {
                    // A request to a daemon that was killed in between may fail.
                    guard daemon.withLock({ $0 }) == process else { continue }
                    state.withLock { if $0.failures.count < 100 { $0.failures.append("\(name): \(error)") } }
                }
            }
            workers.leave()
        }.start()
    }

    // MARK: Work

    /// The last twentieth of the fleet upgrades now and then, and is registered as old again by `register`.
    private func check(_ round: Int) throws {
        let device = fleet.devices[fleet.devices.count - 1 - round % max(1, fleet.devices.count / 20)]
        try get("/v1/check?app=\(Workbench.app)&platform=ios&version=9999.0&token=\(device.token)")
    }

    /// Every user logs in again sooner or later: that revives tokens recorded as dead.
    private func register(_ round: Int) throws {
        let size = 500
        let start = round * size % fleet.devices.count
        let part = fleet.devices[start..<min(start + size, fleet.devices.count)]
        var request = HTTPRequest("POST", "http://localhost/v1/apps/\(Workbench.app)/ios/devices")
        request.body = Array(part.map(\.json).joined(separator: "\n").utf8)
        let answer = try HTTPClient(unixSocket: socket).send(request)
        guard answer.status == 200 else { throw Unexpected("import: \(answer.status)") }
    }

    /// Listens to a campaign for a moment, and closes the stream.
    private func listen(_ round: Int) throws {
        guard let campaign = newest.withLock({ $0 }) else { return }
        var lines = 0
        let most = 2 + round % 6
        _ = try HTTPClient(unixSocket: socket).lines(
            HTTPRequest("GET", "http://localhost/v1/campaigns/\(campaign)/events")
        ) { _ in
            lines += 1
            return lines < most && !self.stopping.load(ordering: .relaxed)
        }
    }

    private func look(_ round: Int) throws {
        let campaign = newest.withLock { $0 }
        let device = fleet.devices[round * 7919 % fleet.devices.count]
        let paths = [
            "/healthz", "/v1/campaigns?limit=5", "/v1/apps/\(Workbench.app)/ios/version",
            "/v1/deliveries?token=\(device.token)", "/v1/apps/\(Workbench.app)/launchgate.json",
            "/v1/apps/\(Workbench.app)/ios/devices/\(device.token)",
        ]
        try get(paths[round % paths.count])
        if let campaign {
            try get("/v1/campaigns/\(campaign)")
            try get("/v1/campaigns/\(campaign)/deliveries?state=retrying&limit=20")
        }
    }

    private func command(_ round: Int) throws {
        let device = fleet.devices[round * 104_729 % fleet.devices.count]
        let commands = [
            ["campaigns", "list"], ["version", "show"], ["devices", "show", device.token],
            ["plan", Workbench.app, "ios", "--required", "99999.0"],
        ]
        let arguments = commands[round % commands.count]
        let result = try CommandResult.of(arguments + ["--config", configuration])
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.status) \(result.errors)") }
    }

    /// Before every third reload the stored provider token is replaced by one half an hour old, so that a new one may be signed
    /// when the service calls it expired (Apple: not within 20 minutes).
    private func reload(_ round: Int) throws {
        guard let process = daemon.withLock({ $0 }) else { return }
        if round % 3 == 0 {
            let issuedAt = Int64(Date.now.timeIntervalSince1970) - 1800
            let header = #"{"alg":"ES256","kid":"\#(Workbench.keyID)"}"#
            let claims = #"{"iss":"\#(Workbench.teamID)","iat":\#(issuedAt)}"#
            let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
            let token = signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
            let answer = try CommandResult.of(
                [
                    "-cmd", ".timeout 5000", store,
                    "UPDATE provider_token SET token = '\(token)', issued_at = \(issuedAt * 1000)",
                ], program: URL(filePath: "/usr/bin/sqlite3"))
            guard answer.status == 0 else { throw Unexpected("sqlite3: \(answer.errors)") }
        }
        kill(process, SIGHUP)
    }

    private func get(_ path: String) throws {
        let answer = try HTTPClient(unixSocket: socket).send(HTTPRequest("GET", "http://localhost\(path)"))
        guard answer.status == 200 else {
            throw Unexpected("GET \(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
    }
}
