// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FaultInjection
import Foundation
import HTTP2
import OwnThread
import PushProviders
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import Synchronization
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules
import WireFormat

@testable import FanOut

/// A fan-out between a real store and FCM over real TLS and HTTP/2. FCM is either a small service that follows the test's rule,
/// with a token endpoint that the test answers for, or the simulator with its own.
final class FCMBench: Sendable {
    static let app = AppKey(app: "com.example.app", platform: .android)

    /// FCM's response to a push: status, fields and body.
    struct Reply: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = #"{"name":"projects/example-project/messages/0:1500415314455276%31bd1c9631bd1c96"}"#
        /// Sent instead of that answer. `isTaken` still decides whether the push counts as taken.
        var steps: [Step]?
        var isTaken = false

        static func refusal(
            _ status: Int, _ state: String, code: String? = nil, message: String = "said", fields: [String] = [],
            retryAfter: String? = nil, info: String? = nil
        ) -> Reply {
            var details: [String] = []
            if let code {
                details.append(
                    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#)
            }
            if let info {
                details.append(#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"\#(info)"}"#)
            }
            if !fields.isEmpty {
                let list = fields.map { #"{"field":"\#($0)"}"# }.joined(separator: ",")
                details.append(
                    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[\#(list)]}"#)
            }
            return Reply(
                status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:],
                body: #"{"error":{"code":\#(status),"message":"\#(message)","status":"\#(state)","#
                    + #""details":[\#(details.joined(separator: ","))]}}"#)
        }

        static let unregistered = refusal(404, "NOT_FOUND", code: "UNREGISTERED")
        static let badToken = refusal(
            400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token")
        static let unauthenticated = refusal(401, "UNAUTHENTICATED")
    }

    /// A push as FCM saw it.
    struct Push: Sendable {
        var target: String
        var telephone: String
        var pushID: String
        /// Counted from 1, over all pushes.
        var number: Int
        var stream: Int32
    }

    struct State {
        /// Asked for each push that is well-formed and has a good token.
        var rule: @Sendable (Push) -> Reply? = { _ in nil }
        /// The token endpoint's answer; nil: a token.
        var grant: FCMTokenSource.Reply?
        var goodTokens: Set<String> = []
        var tokensGiven = 0
        var tokensAsked = 0
        var requests = 0
        /// Each push that was taken, with how often.
        var taken: [String: Int] = [:]
        /// The telephone with which each was taken.
        var telephones: [String: String] = [:]
        var refused: [String: Int] = [:]
        /// Faults that a strict service finds in requests.
        var complaints: [String] = []
    }

    /// FCM's memory, which its threads and the token source share.
    final class Service: Sendable {
        let state = Watched(State())

        /// Strict about what a push must be.
        func answer(_ request: SeenRequest) -> [Step] {
            let (reply, code): (Reply, String?) = state.change { state in
                state.requests += 1
                guard let push = Self.push(request, state.requests, &state.complaints) else {
                    return (.refusal(400, "INVALID_ARGUMENT", fields: ["message"]), "INVALID_ARGUMENT")
                }
                let bearer = request.headers["authorization"] ?? ""
                guard state.goodTokens.contains(bearer) else { return (.unauthenticated, "UNAUTHENTICATED") }
                let reply = state.rule(push) ?? Reply()
                guard reply.isTaken || reply.status == 200 && reply.steps == nil else {
                    return (reply, reply.steps == nil ? "\(reply.status)" : nil)
                }
                state.taken[push.target, default: 0] += 1
                state.telephones[push.target] = push.telephone
                return (reply, nil)
            }
            if let code { state.change { $0.refused[code, default: 0] += 1 } }
            return reply.steps ?? [.answer(reply.status, reply.headers, reply.body)]
        }

        private static func push(_ request: SeenRequest, _ number: Int, _ complaints: inout [String]) -> Push? {
            func complain(_ text: String) -> Push? {
                complaints.append(text)
                return nil
            }
            guard request.headers[":method"] == "POST",
                request.headers[":path"] == "/v1/projects/example-project/messages:send"
            else { return complain("\(request.headers[":path"] ?? "")") }
            guard request.headers["content-type"] == "application/json" else { return complain("content-type") }
            guard let root = try? JSONReader.read(request.body), let message = root["message"],
                let data = message["data"]?.object, let target = message["token"]?.string ?? message["fid"]?.string
            else { return complain(String(decoding: request.body, as: UTF8.self)) }
            for member in data where member.value.string == nil { return complain("\(member.name) is no text") }
            guard let text = message["data"]?["page"]?.string, let page = try? JSONReader.read(Array(text.utf8)),
                // A test push names no version.
                (page["required"]?.string).map({ (try? Version($0)) != nil }) ?? (page.object?.count == 3),
                let telephone = page["userTel"]?.string, page["type"]?.string == "needUpgrade",
                page["downloadUrl"]?.string == "https://example.com"
            else { return complain("the page") }
            guard let id = message["data"]?["pushId"]?.string, id.utf8.count == 36 else { return complain("pushId") }
            guard message["android"]?["ttl"]?.string?.hasSuffix("s") == true else { return complain("ttl") }
            return Push(target: target, telephone: telephone, pushID: id, number: number, stream: request.streamID)
        }
    }

    let bench: FanOutBench
    let service = Service()
    /// The small service; nil if there is the simulator.
    private let small: (peer: ScriptedPeer, identity: TestIdentity)?
    let simulator: PushSimulator?
    private let live = Mutex<FanOut?>(nil)
    private let required = Mutex(Version.zero)
    var clock: FanOutBench.TestClock { bench.clock }
    var store: any TestStore { bench.store }
    var lines: LogLines { bench.lines }
    var fanOut: FanOut? { live.withLock { $0 } }

    /// Made once, because making a key takes a moment.
    private static let key = Result { try RS256PrivateKey.generate() }

    /// - Parameter maximumStreams: the limit in SETTINGS.
    init(maximumStreams: Int? = 100) throws {
        bench = try FanOutBench()
        simulator = nil
        let identity = try TestIdentity()
        var manner = PeerManner()
        manner.maximumStreams = maximumStreams
        let service = service
        small = (try ScriptedPeer(identity, manner) { service.answer($0) }, identity)
    }

    /// The simulator, which is as strict as Google and fails by script.
    init(_ faults: FaultScript, latency: Duration = .zero) throws {
        bench = try FanOutBench()
        small = nil
        var configuration = SimulatorConfiguration(try FCMProject(projectID: "example-project"))
        configuration.certificate = .generated(directory: bench.folder.path)
        configuration.faults = faults
        configuration.latency = latency
        let simulator = try PushSimulator(configuration)
        try simulator.start()
        self.simulator = simulator
    }

    var peer: ScriptedPeer {
        guard let small else { preconditionFailure("a bench with the simulator has no peer") }
        return small.peer
    }

    deinit {
        fanOut?.stop(within: .seconds(5))
        small?.peer.stop()
        simulator?.stop()
        store.close()
        try? FileManager.default.removeItem(at: bench.folder)
    }

    // MARK: The service's side

    func rule(_ rule: @escaping @Sendable (Push) -> Reply?) { service.state.change { $0.rule = rule } }

    var seen: State { service.state.now }

    /// Pushes that were taken more than once.
    var repeats: Int { simulator?.figures.duplicates ?? seen.taken.values.reduce(0) { $0 + $1 - 1 } }

    // MARK: The relay's side

    static func account(_ keyID: String = "k1") throws -> GoogleAccount {
        let file: JSONValue = [
            "type": .string("service_account"), "project_id": .string("example-project"),
            "private_key_id": .string(keyID),
            "private_key": .string(String(decoding: try key.get().pem, as: UTF8.self)),
            "client_email": .string("relay@example-project.iam.gserviceaccount.com"),
        ]
        return try GoogleAccount(keyFile: file.bytes())
    }

    func tokens(_ keyID: String = "k1") throws -> FCMTokenSource {
        if let simulator {
            let file = try #require(simulator.accountFile)
            // The simulator's clock is the machine's, which no test moves.
            return FCMTokenSource(
                account: try GoogleAccount(keyFile: file),
                clock: { Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) },
                exchange: FCMTokenSource.overHTTPS(Egress(trustedCertificates: simulator.trustedCertificatePath)),
                onChange: { [weak self] in self?.fanOut?.poke() })
        }
        let (service, clock) = (service, clock)
        return FCMTokenSource(
            account: try Self.account(keyID), clock: { clock.now },
            exchange: { _, _, _ in
                service.state.change { state in
                    state.tokensAsked += 1
                    if let grant = state.grant { return grant }
                    state.tokensGiven += 1
                    let token = "\(keyID)-\(state.tokensGiven)"
                    state.goodTokens.insert("Bearer \(token)")
                    return .answered(.granted(token: token, lifetime: .seconds(3599)), retryAfter: nil)
                }
            }, onChange: { [weak self] in self?.fanOut?.poke() })
    }

    func route(
        _ tokens: FCMTokenSource, quota: Int = 600_000_000, avoidsQuarterHours: Bool = false,
        connections: Int = 16
    ) -> AppRoute {
        var pool = PoolConfiguration(
            .apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: simulator?.port ?? peer.port))
        pool.dialer.egress.trustedCertificates = simulator?.trustedCertificatePath ?? small?.identity.authorityPath
        pool.connection.maximumStreams = 100
        pool.maximumConnections = connections
        // On a slow machine a test holds pushes back for longer than the default: this keeps them from being lost.
        pool.requestTimeout = .seconds(600)
        return AppRoute(
            app: Self.app,
            provider: FCMProvider(
                settings: .init(
                    project: "example-project", quotaPerMinute: quota, avoidsQuarterHours: avoidsQuarterHours),
                tokens: tokens), production: pool, sandbox: pool, pushType: "needUpgrade", words: PushWords("Upgrade"),
            downloadURL: "https://example.com", timeToLive: .seconds(86_400))
    }

    func start(_ route: AppRoute) throws {
        let (clock, lines) = (clock, lines)
        let fanOut = try FanOut(
            store: store, routes: [route], configuration: FanOut.Configuration(),
            log: Log(minimum: .debug) { _, message, _ in lines.add(message.description) }, clock: { clock.now },
            ticks: { clock.tick })
        live.withLock { $0 = fanOut }
    }

    func start() throws { try start(route(tokens())) }

    // MARK: Devices and campaigns

    static func token(_ number: Int) -> String { String(format: "c%021d:APA91b_-", number) }

    func register(_ numbers: some Sequence<Int>) throws {
        let version = try Version("1.0")
        try store.register(
            numbers.map {
                DeviceRegistration(
                    app: Self.app, token: Self.token($0), telephone: LiveBench.telephone($0), version: version)
            }, at: clock.now)
    }

    func retired() throws -> Int {
        try store.devices(of: Self.app, after: 0, limit: 100_000).count { $0.retiredAt != nil }
    }

    func raise(_ version: String = "2.0") throws {
        let version = try Version(version)
        required.withLock { $0 = version }
        _ = try store.apply(
            VersionBump(app: Self.app, required: version), actor: "test", source: "test", at: clock.now, draft: nil,
            receipt: nil, render: { _ in StoredAnswer(status: 200, body: []) })
        fanOut?.poke()
    }

    func campaign() throws -> CampaignRecord? { try store.campaigns(before: nil, limit: 1).first }

    func resume() throws {
        try bench.resume()
        fanOut?.poke()
    }

    var trouble: String? { fanOut.flatMap { live in (try? campaign()).flatMap { live.figures(of: $0.key).trouble } } }

    func until(deadline: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + deadline * Patience.factor
        while ContinuousClock.now < end {
            if try condition() { return true }
            lines.waitForNext(atMost: .milliseconds(20))
        }
        return false
    }

    /// Returns the campaign once it has come to `state` and none of its pushes is on its way.
    func wait(for state: CampaignState, deadline: Duration = .seconds(60)) throws -> CampaignRecord {
        let required = required.withLock { $0 }
        var found: CampaignRecord?
        let isThere = try until(deadline: deadline) {
            guard let campaign = try campaign(), campaign.state == state, campaign.requirement.version == required,
                fanOut?.figures(of: campaign.key).counts(campaign.figures.counts).inFlight ?? 0 == 0
            else { return false }
            found = try self.campaign()
            return true
        }
        guard isThere, let found else {
            throw LiveBench.Timeout(
                text: "\(deadline): \(trouble ?? "") \(fanOut?.faults() ?? [:]) \(String(describing: try campaign()))")
        }
        return found
    }

    /// The number of requests to the service, those for tokens included.
    private var requests: Int { simulator.map { $0.figures.requests + $0.figures.tokenRequests } ?? seen.requests }

    /// Moves the clock on until the campaign has come to `state`: by a step each time that no request has come in for a while,
    /// nothing is on its way, and the dispatcher has had a turn at the time before. However slow the machine is, no time passes
    /// while there is work.
    func passTime(to state: CampaignState, by step: Duration, steps: Int = 400) throws -> CampaignRecord {
        var left = steps
        let end = ContinuousClock.now + .seconds(600) * Patience.factor
        while left > 0, ContinuousClock.now < end {
            let before = requests
            if let end = try? wait(for: state, deadline: .milliseconds(100)) { return end }
            guard requests == before else { continue }
            left -= 1
            guard try isNothingOnItsWay() else { continue }
            clock.advance(by: step)
            let reading = fanOut?.pulse.reading
            fanOut?.poke()
            _ = until(deadline: .seconds(10)) {
                fanOut.map { $0.pulse.reading != reading && $0.pulse.reading.isAtRest } ?? true
            }
        }
        return try wait(for: state)
    }

    private func isNothingOnItsWay() throws -> Bool {
        guard let campaign = try campaign() else { return true }
        return fanOut?.figures(of: campaign.key).counts(campaign.figures.counts).inFlight ?? 0 == 0
    }

    /// Prints the fault's row of the table in the closing note: lost, sent twice, tokens given up, real time until all was
    /// sent, and how far the clock was moved on in that time.
    func tell(_ fault: String, since began: ContinuousClock.Instant, waited: Duration = .zero) throws {
        guard let counts = try campaign()?.figures.counts else { return }
        let lost = counts.audience - counts.filtered - counts.accepted - counts.unregistered - counts.rejected
        func text(_ time: Duration) -> String { "\((time / .seconds(1) * 10).rounded() / 10) s" }
        print(
            "| \(fault) | \(lost) | \(repeats) | \(try retired()) | \(text(ContinuousClock.now - began)) | \(text(waited)) |"
        )
    }
}
