// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayEngine
package import RelayStore
package import Requirements
import Signing
import Synchronization
import Telemetry
import Threading
import UpgradeRules
import WireFormat

/// The API without its sockets: a request in, an answer out. Called on the connections' threads.
package final class API: RequestHandler {
    package let store: any RelayStore
    package let control: any RelayControl
    let settings: APISettings
    private let router: Router
    package let sessions: Sessions
    let uses: UseNotes
    /// The server is stopping.
    let stop = CancellationFlag()
    /// Event streams of the network and of the control socket, counted apart so that the network does not lock an operator out.
    let streams: Slots
    let localStreams: Slots
    /// Streams of `/v1/events`: they share one look at the store, so there may be many.
    let watchers = Slots(limit: 2048, each: 1024, leavesRoom: true)
    let localWatchers = Slots(limit: 256)
    /// Whether the session that opened a stream is still valid, by the session's hash.
    private let openSessions = RecentLooks<[UInt8], Bool>(interval: 1000, most: 4096)
    let tokenCache = TokenCache()
    let campaignLooks = RecentLooks<CampaignKey, CampaignLook>(interval: CampaignLook.interval, most: 256)
    let outcomeLooks = RecentLooks<CampaignOutcomes.Key, CampaignOutcomes>(
        interval: CampaignOutcomes.interval, most: 256)
    /// The look at the store that all watchers share.
    package let live = LiveLook()
    /// Requests that wait for another server, and long requests, each kind counted by app.
    let foreign = Slots(limit: 8, each: 2)
    let long = Slots(limit: 8, each: 1)
    /// Backup, check and pruning.
    let maintenance = Slots(limit: 1)
    let testPushes = Rate(perMinute: 10)
    let readinessCheck = ReadinessCheck()
    /// The metrics page, and when it was written, in milliseconds of the monotonic clock.
    let metricsPage = Mutex<(page: [UInt8], at: Int64)?>(nil)
    /// The rendered answers of the open paths.
    package let versionCache: VersionCache
    let sightings: SightingQueue
    let imports = DeviceStorage.Queue()
    /// Logs refused webhooks and refused connections.
    let refusals: RefusalLog
    let access: AccessLog
    let figures = RequestFigures()
    let enforceFigures = EnforceFigures()
    /// Limits log lines about failures, by status and route: a full store fails every login of every app.
    private let repeats = Mutex<[String: LogPace]>([:])
    package let headerNames: [String]
    /// The names of the headers with a proxy's question, as configured at the start: the server hands over no others.
    let enforceHeaders: EnforceRules.Headers
    /// The names of the headers of people whom a proxy signs in, likewise; nil: none are signed in.
    let identityHeaders: ProxyIdentity.Headers?

    init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, versionCache: VersionCache,
        router: Router
    ) {
        self.store = store
        self.control = control
        self.settings = settings
        self.router = router
        uses = UseNotes(store: store)
        sessions = Sessions(store: store, uses: uses, clock: settings.clock)
        self.versionCache = versionCache
        sightings = SightingQueue(store: store, limit: settings.limits.sightings, clock: settings.clock)
        access = AccessLog(settings.log)
        let limits = settings.limits
        streams = Slots(limit: limits.eventStreams, each: limits.eventStreamsOfToken, leavesRoom: true)
        localStreams = Slots(limit: limits.eventStreams)
        refusals = RefusalLog(settings.log)
        enforceHeaders = settings.enforce().headers.lowercased
        identityHeaders = settings.servesPage ? settings.identity()?.headers : nil
        headerNames =
            [
                "authorization", "accept", "if-none-match", "accept-encoding", "accept-language", "x-request-id",
                "user-agent", "cookie", "host", "origin", "referer", "sec-fetch-site", "x-form-token",
                "x-forwarded-proto",
                "last-event-id", "content-encoding", "forwarded",
            ]
            + ActedFor.fields + WebhookHeaders.all + enforceHeaders.all
            + (identityHeaders.map { $0.lowercased.all + [ForwardedAddress.forwardedFor.header] } ?? [])
    }

    package func handle(_ head: RequestHead) -> any HandledRequest { RequestContext(located(head), self) }

    package func refuse(_ refusal: RequestRefusal) -> Response {
        RequestContext(RequestHead(method: "", target: ""), self).refusal(refusal)
    }

    package func refused(_ refusal: PeerRefusal) { refusals.peer(refusal) }

    /// Decides by the head alone, so that a caller without the right is refused before its body is read. Never waits.
    ///
    /// - Parameter isKnown: called with the caller as soon as the caller is known.
    /// - Returns: the route, if there is one, and the next step.
    func open(
        _ head: RequestHead, isKnown: @escaping @Sendable (Caller) -> Void
    ) -> (route: Route?, opening: Opening) {
        let (route, path, query): (Route, PathValues, [RequestTarget.QueryItem])
        do {
            if let refusal = head.refusal { throw refusal.problem }
            switch try find(head) {
            case .route(let found, let values, let items): (route, path, query) = (found, values, items)
            case .options(let routes): return (nil, .answer(options(of: routes, head)))
            }
        } catch {
            let problem = ProblemDetails.of(error)
            // The page's paths are opened in a browser.
            let isPage = settings.servesPage && head.door == .network && head.target.hasPrefix("/page/")
            return (
                nil, .answer(isPage ? settings.rendering.problem(problem, head, self, .anonymous) : problem.response)
            )
        }
        let decide: @Sendable () -> Admission = { [self] in
            var known = Caller.anonymous
            do {
                return try admit(head, route, path, query) { caller in
                    known = caller
                    isKnown(caller)
                }
            } catch {
                return .answer(refusal(problem(error, at: route.pattern), route, head, known))
            }
        }
        switch route.waiting {
        case .work(let kind):
            return (route, .work(kind, decide))
        case .nothingUnless(let asks) where asks(self, query):
            return (route, .work(.reads, decide))
        case .nothing, .nothingUnless:
            // Looking a token up may wait. A proxy passes on the token of its client, which is not looked up.
            let showsToken = head.headers["authorization"] != nil && !route.isForProxies
            guard !showsToken, case .answer(let response) = decide() else {
                return (route, .work(.reads, decide))
            }
            return (route, .answer(response))
        }
    }

    private func admit(
        _ head: RequestHead, _ route: Route, _ path: PathValues, _ query: [RequestTarget.QueryItem],
        _ isKnown: (Caller) -> Void
    ) throws -> Admission {
        // A store that went back in time may still admit a caller that has lost its right since.
        if route.right != .nothing, head.door != .control, let fall = store.membership.memory.fall { throw fall.error }
        let app = path.app.isEmpty ? nil : path.app
        var sign: SignedIn?
        if let person = try self.person(of: head, route) {
            let signed = try signIn(person, head, route)
            isKnown(signed.caller)
            sign = signed
        }
        let caller =
            try sign?.caller.allowed(route.right, app)
            ?? Rights.caller(
                for: route.right, app: app, door: head.door, user: head.user, peer: head.peer,
                authorization: head.headers["authorization"], person: { ActedFor { head.headers[$0] } },
                session: { try session(of: head) }, look: token)
        if caller.session == nil, let token = caller.token { uses.note(.token(token), at: now()) }
        if caller.session != nil, !["GET", "HEAD"].contains(route.method) {
            try checkOrigin(of: head, isForm: route.answer.isForm, caller)
        }
        if route.answer.takesBody, let coding = head.headers["content-encoding"] { try Self.checkCoding(coding) }
        // The sender of a webhook is known only once its body has come.
        if route.right != .signature { isKnown(caller) }
        var call = Call(route: route, head: head, path: path, query: Query(query), caller: caller)
        // A route with parameters finishes the query itself.
        if route.parameters.isEmpty { try call.query.finish() }
        switch route.answer {
        case .head(let answer):
            var response = try byHand(head) { try answer(self, &call) }
            if let sign, sign.isNew { response.headers.append(try begin(sign, head)) }
            note(call, response)
            if case .stream(let source) = response.body, let watch = watch(caller) {
                response.body = .stream(TokenBoundSource(source, watch))
            }
            return .answer(response)
        case .body(let finish):
            return .collect(limit: settings.limits.body) { [self, call] body in
                do {
                    let response = try byHand(call.head) { try asked { try finish(self, call, body) } }
                    note(call, response)
                    return response
                } catch {
                    return problem(error, at: route.pattern).response
                }
            }
        case .signed(let finish):
            return .collect(limit: settings.limits.webhookBody) { [self, call] body in
                var signer: String?
                do {
                    let response = try byHand(call.head) { try finish(self, call, body) { signer = $0 } }
                    note(call, response)
                    return response
                } catch {
                    let problem = problem(error, at: route.pattern)
                    if problem.status < 500 { refusals.webhook(head, problem, by: signer) }
                    return problem.response
                }
            }
        case .form(let finish):
            return .collect(limit: settings.limits.webhookBody) { [self, call] body in
                do {
                    let fields = try FormFields(body)
                    try checkFormToken(fields["formToken"], call.caller)
                    let response = try finish(self, call, fields)
                    note(call, response)
                    return response
                } catch {
                    return refusal(problem(error, at: route.pattern), route, head, call.caller)
                }
            }
        case .stream(let consumer):
            return .stream(
                TokenBoundConsumer(
                    try consumer(self, call), watch(caller),
                    explain: { [self] in problem($0, at: route.pattern).response },
                    note: { [self, call] in note(call, $0) }))
        }
    }

    /// - Throws: a 415 (RFC 9110, section 15.5.16) that names the accepted coding.
    private static func checkCoding(_ coding: String) throws {
        if coding.isEmpty || coding.lowercased() == "identity" { return }
        throw ProblemDetails(
            415,
            "the body comes in the coding \(JSONValue.string(coding).sight); it is taken as it is alone: "
                + "send it without Content-Encoding", headers: [("Accept-Encoding", "identity")])
    }

    /// Lets the control socket repeat changes that a store has lost, before that store is accepted.
    private func byHand<R>(_ head: RequestHead, _ body: () throws -> R) rethrows -> R {
        guard head.door == .control, store.membership.memory.hasFallen else { return try body() }
        return try OperatorHeader.$isAtWork.withValue(true, operation: body)
    }

    private func session(of head: RequestHead) throws -> (SessionSecret, LiveSession)? {
        guard let secret = SessionCookie.secret(in: head, isSecure: isSecure(head)) else { return nil }
        return try sessions.use(secret).map { (secret, $0) }
    }

    /// Checks that a change comes from this server's own page: any site can make a browser send a request with the cookie.
    private func checkOrigin(of head: RequestHead, isForm: Bool, _ caller: Caller) throws {
        guard SessionCookie.isSameOrigin(head) else {
            throw ProblemDetails(
                403,
                "a change with a session's cookie is taken from this server's own page alone (Sec-Fetch-Site, Origin)")
        }
        if !isForm { try checkFormToken(head.headers["x-form-token"], caller) }
    }

    private func checkFormToken(_ token: String?, _ caller: Caller) throws {
        guard let session = caller.session else { return }
        guard let token, constantTimeEqual(Array(token.utf8), Array(session.formToken.utf8)) else {
            throw ProblemDetails(
                403, "the form token is missing or not this session's: load the page again and send it from there")
        }
    }

    /// The answer to a problem, in the form that the route's callers read.
    private func refusal(_ problem: ProblemDetails, _ route: Route, _ head: RequestHead, _ caller: Caller) -> Response {
        route.isPage ? settings.rendering.problem(problem, head, self, caller) : problem.response
    }

    /// nil for a caller that needs no token.
    private func watch(_ caller: Caller) -> TokenWatch? {
        if let secret = caller.session {
            return TokenWatch { [sessions, openSessions] in
                try openSessions.look(at: secret.hash) { try sessions.isGood(secret) } ?? false
            }
        }
        return caller.token.map { hash in TokenWatch { [self] in try token(hash) != nil } }
    }

    /// - Parameter hash: the token's SHA-256.
    /// - Returns: nil where there is no such token, or it was revoked.
    func token(_ hash: [UInt8]) throws -> AccessToken? { try tokenCache.token(hash, look: store.token(hash:)) }

    // MARK: Steps that routes share

    private enum Found {
        case route(Route, PathValues, [RequestTarget.QueryItem])
        /// An OPTIONS request for the methods of these routes, all of one path; an empty list stands for the whole server.
        case options([Route])
    }

    private func find(_ head: RequestHead) throws -> Found {
        // The target is not parsed: below `enforcePath` it is a path of the proxy's own server, which need not be UTF-8.
        if head.door != .operations, Self.isBelowEnforce(head.target) { return .route(.enforce, PathValues(), []) }
        let isOptions = head.method == "OPTIONS"
        // RFC 9110, section 9.3.7: `*` stands for the server as a whole.
        if isOptions, head.target == "*" { return .options([]) }
        let target = try RequestTarget(head.target)
        switch router.route(method: head.method, segments: target.segments) {
        case .route(let route, let path):
            try checkServed([route], at: head.door)
            return .route(route, path, target.query)
        case .notFound:
            throw ProblemDetails(404, "there is nothing at this path")
        case .unknownPlatform(let name):
            throw ProblemDetails(
                404, "there is no platform \"\(JSONValue.shortened(name))\"; the platforms are ios and android")
        case .wrongMethod(let routes):
            try checkServed(routes, at: head.door)
            if isOptions { return .options(routes) }
            let list = Router.allowed(routes)
            throw ProblemDetails(405, "this path takes \(list)", headers: [("Allow", list)])
        }
    }

    /// - Parameter routes: evaluated only where the door does not serve all routes, so that hardly any request builds a list.
    /// - Throws: a 404 where the address that was asked serves none of them.
    private func checkServed(_ routes: @autoclosure () -> [Route], at door: Door) throws {
        guard door == .operations || !showsOperations(at: door) else { return }
        let routes = routes()
        if door == .operations, !Route.operations.contains(where: { known in routes.contains { $0 === known } }) {
            let paths = Route.operations.map(\.path).joined(separator: ", ")
            throw ProblemDetails(404, "this address serves \(paths) alone")
        }
        if !showsOperations(at: door), routes.contains(where: { $0.path == "/metrics" }) {
            throw ProblemDetails(404, "the metrics are served at another address, that of listen.operations")
        }
    }

    /// Whether this door shows apps, versions and figures. Where operators have a second address, the first one does not
    /// show them, as anybody may call it.
    func showsOperations(at door: Door) -> Bool { door != .network || settings.server.operations == nil }

    /// The problem that a client gets for an error. A failure of the relay's own is logged too, with its internals.
    ///
    /// - Parameter pattern: the route's pattern.
    package func problem(_ error: any Error, at pattern: String) -> ProblemDetails {
        let problem = ProblemDetails.of(error)
        if problem.status >= 500, !(error is ProblemDetails),
            let suppressed = repeats.withLock({
                $0["\(problem.status) \(pattern)", default: LogPace(burst: 1, interval: 60_000)]
                    .next(at: MonotonicClock.milliseconds())
            })
        {
            settings.log(
                problem.status == 500 ? .error : .warning, "a request failed",
                [("route", pattern), ("status", String(problem.status)), ("error", "\(error)")]
                    + (suppressed == 0 ? [] : [("suppressed", String(suppressed))]))
        }
        return problem
    }

    /// - Throws: a 404 when the app is not configured.
    @discardableResult
    package func require(_ app: AppKey) throws -> AppProfile {
        guard let profile = control.profile(of: app) else {
            throw ProblemDetails(
                404, "\"\(JSONValue.shortened(app.app))\" is not configured for \(app.platform.rawValue) on this server"
            )
        }
        return profile
    }

    package func now() -> Timestamp { settings.clock() }
}
