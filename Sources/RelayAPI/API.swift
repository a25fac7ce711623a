// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Signing
import Telemetry
import UpgradeRules
import WireFormat

/// The API without its sockets: a request in, an answer out. Called on the connections' threads.
final class API: RequestHandler {
    let store: any RelayStore
    let control: any RelayControl
    let settings: APISettings
    /// The server is stopping.
    let stop: Signal
    let streams: StreamSlots
    /// Backup, check and pruning.
    let upkeep = StreamSlots(limit: 1)
    let readinessCheck = ReadinessCheck()
    let metricsPage = MomentaryAnswer<SharedBytes>()
    /// What the open paths answer from.
    let board: VersionBoard
    let sightings: SightingQueue
    let imports = DeviceStorage.Queue()
    /// What is told of those who are refused.
    let refusals: RefusalLog
    let access: AccessLog
    let figures = RequestFigures()
    let repeats = RepeatedFaults()
    let headerNames = ["authorization", "if-none-match", "x-request-id"] + WebhookHeaders.all

    init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, stop: Signal, board: VersionBoard,
        sightings: SightingQueue, access: AccessLog
    ) {
        self.store = store
        self.control = control
        self.settings = settings
        self.stop = stop
        self.board = board
        self.sightings = sightings
        self.access = access
        streams = StreamSlots(limit: settings.limits.eventStreams)
        refusals = RefusalLog(settings.log)
    }

    func handle(_ head: RequestHead) -> any HandledRequest { APIRequest(head, self) }

    func refused(_ refusal: PeerRefusal) { refusals.peer(refusal) }

    /// Decides by the head alone; whoever may not ask is turned away before the body is read. Never waits.
    ///
    /// - Returns: the route, where there is one, and what to do.
    func open(_ head: RequestHead) -> (route: Route?, opening: Opening) {
        let (route, query): (Route, [RequestTarget.QueryItem])
        do {
            if let refusal = head.refusal { throw refusal.problem }
            try refuseTooLong(head)
            (route, query) = try Self.find(head)
        } catch {
            return (nil, .answer(Problem.of(error).response))
        }
        let decide: @Sendable () -> Admission = { [self] in
            do {
                return try admit(head, route, query)
            } catch {
                return .answer(problem(error, at: route).response)
            }
        }
        // Who shows a token has it looked up.
        guard route.isAnsweredFromMemory, head.headers["authorization"] == nil, case .answer(let response) = decide()
        else { return (route, .work(route.work, decide)) }
        return (route, .answer(response))
    }

    private func refuseTooLong(_ head: RequestHead) throws {
        let limits = settings.limits
        if head.target.utf8.count > limits.target {
            throw Problem(
                414, "the request's target has \(head.target.utf8.count) bytes; at most \(limits.target) are taken")
        }
        if head.size > limits.head {
            throw Problem(431, "the request's head has \(head.size) bytes; at most \(limits.head) are taken")
        }
    }

    private func admit(_ head: RequestHead, _ route: Route, _ query: [RequestTarget.QueryItem]) throws -> Admission {
        let caller = try Rights.caller(
            for: route.right, door: head.door, authorization: head.headers["authorization"], look: store.token(hash:))
        switch route {
        case .versionWebhook:
            try Self.refuseParameters(query)
            return collect(route, limit: settings.limits.webhookBody) { [self] in try versionWebhook(head, body: $0) }
        case .gitHubWebhook(let app):
            try Self.refuseParameters(query)
            return collect(route, limit: settings.limits.webhookBody) { [self] in try gitHubWebhook(app, head, body: $0)
            }
        case .gitLabWebhook(let app):
            try Self.refuseParameters(query)
            return collect(route, limit: settings.limits.webhookBody) { [self] in try gitLabWebhook(app, head, body: $0)
            }
        case .appStoreConnectWebhook(let app):
            try Self.refuseParameters(query)
            return collect(route, limit: settings.limits.webhookBody) { [self] in
                try appStoreConnectWebhook(app, head, body: $0)
            }
        case .bump(let app):
            try Self.refuseParameters(query)
            return collect(route) { [self] in try bump(app, body: $0, by: caller) }
        case .plan(let app):
            try Self.refuseParameters(query)
            return collect(route) { [self] in try plan(app, body: $0) }
        case .registerDevice(let app, let token):
            try Self.refuseParameters(query)
            return collect(route) { [self] in try registerDevice(app, token: token, body: $0) }
        case .importDevices(let app):
            try Self.refuseParameters(query)
            try require(app)
            return .stream(DeviceImport(api: self, app: app))
        case .setAlert(let app):
            try Self.refuseParameters(query)
            return collect(route) { [self] in try setAlert(app, body: $0, by: caller) }
        case .check:
            return .answer(try check(head, query))
        case .launchGate(let app):
            try Self.refuseParameters(query)
            return .answer(try launchGate(app, head))
        case .pruneStore:
            try Self.refuseParameters(query)
            return collect(route) { [self] in try pruneStore(body: $0) }
        case .createToken:
            try Self.refuseParameters(query)
            return collect(route) { [self] in try createToken(body: $0) }
        case .setLogLevel:
            try Self.refuseParameters(query)
            return collect(route) { [self] in try setLogLevel(body: $0) }
        default:
            var response = try answer(route, query, head.door)
            if case .stream(let source) = response.body {
                // The body is made when the head is out: the mark is gone by then.
                let id = RequestMark.current
                response.body = .stream(
                    WatchedSource(source) { [self] error in RequestMark.with(id) { _ = problem(error, at: route) } })
            }
            return .answer(response)
        }
    }

    /// The routes that need no body.
    private func answer(_ route: Route, _ items: [RequestTarget.QueryItem], _ door: Door) throws -> Response {
        var query = Query(items)
        switch route {
        case .version(let app): return try version(app, &query)
        case .campaigns: return try campaigns(&query)
        case .campaignDeliveries(let id): return try campaignDeliveries(id, &query)
        case .deliveries: return try deliveries(&query)
        case .notifications: return try notifications(&query, door)
        default: try query.finish()
        }
        switch route {
        case .health: return health()
        case .readiness: return readiness()
        case .openAPI: return openAPI()
        case .metrics: return metrics()
        case .logLevel: return logLevel()
        case .apps: return try apps()
        case .alert(let app): return try alert(app)
        case .clearAlert(let app): return try clearAlert(app)
        case .device(let app, let token): return try device(app, token: token)
        case .removeDevice(let app, let token): return try removeDevice(app, token: token)
        case .exportDevices(let app): return try exportDevices(app)
        case .campaign(let id): return try campaign(id)
        case .campaignEvents(let id): return try campaignEvents(id)
        case .moveCampaign(let id, let move): return try moveCampaign(id, move)
        case .store: return try storeStatus()
        case .backUpStore: return try backUpStore()
        case .checkStore: return try checkStore()
        case .tokens: return try tokens()
        case .revokeToken(let name): return try revokeToken(name)
        case .versionWebhook, .gitHubWebhook, .gitLabWebhook, .appStoreConnectWebhook, .version, .bump, .plan,
            .registerDevice, .importDevices, .campaigns, .campaignDeliveries, .deliveries, .createToken, .setAlert,
            .check, .launchGate, .notifications, .pruneStore, .setLogLevel:
            throw Misrouted()
        }
    }

    /// A route with a body that was answered as one without: a fault of this program.
    private struct Misrouted: Error {}

    // MARK: Steps that routes share

    private static func find(_ head: RequestHead) throws -> (Route, [RequestTarget.QueryItem]) {
        guard let target = RequestTarget(head.target) else {
            throw Problem(400, "the request's target is not a path in percent-encoded UTF-8")
        }
        switch Router.route(method: head.method, segments: target.segments) {
        case .route(let route):
            return (route, target.query)
        case .notFound:
            throw Problem(404, "there is nothing at this path")
        case .unknownPlatform(let name):
            throw Problem(
                404, "there is no platform \"\(JSONValue.shortened(name))\"; the platforms are ios and android")
        case .wrongMethod(let allowed):
            let list = allowed.joined(separator: ", ")
            throw Problem(405, "this path takes \(list)", headers: [("Allow", list)])
        }
    }

    private static func refuseParameters(_ items: [RequestTarget.QueryItem]) throws {
        var query = Query(items)
        try query.finish()
    }

    private func collect(
        _ route: Route, limit: Int? = nil, _ finish: @escaping @Sendable ([UInt8]) throws -> Response
    ) -> Admission {
        .collect(limit: limit ?? settings.limits.body) { [self] body in
            do {
                return try finish(body)
            } catch {
                return problem(error, at: route).response
            }
        }
    }

    /// What the client is told of an error. What is not the client's doing is told to the log too, with its internals.
    func problem(_ error: any Error, at route: Route) -> Problem {
        let problem = Problem.of(error)
        if problem.status >= 500, !(error is Problem), let silent = repeats.note(route, problem.status, at: now()) {
            settings.log(
                problem.status == 500 ? .error : .warning, "a request failed",
                [("route", route.pattern.description), ("status", String(problem.status)), ("error", "\(error)")]
                    + (silent == 0 ? [] : [("alike", String(silent))]))
        }
        return problem
    }

    /// - Throws: a 404 when the app is not configured.
    @discardableResult
    func require(_ app: AppKey) throws -> AppProfile {
        guard let profile = control.profile(of: app) else {
            throw Problem(
                404, "\"\(JSONValue.shortened(app.app))\" is not configured for \(app.platform.rawValue) on this server"
            )
        }
        return profile
    }

    func now() -> Timestamp { settings.clock() }
}
