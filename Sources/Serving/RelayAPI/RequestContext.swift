// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry

/// One request from its head to its answer: it is logged and counted.
///
/// `@unchecked Sendable`: the server hands it from thread to thread, and never to two at a time (`HandledRequest`).
final class RequestContext: HandledRequest, @unchecked Sendable {
    /// The id in every log line and every problem of the request, and in the answer's `X-Request-Id`.
    let id: String
    private let head: RequestHead
    private let api: API
    private let start = ContinuousClock.now
    /// nil until it is known, and where there is none.
    private var route: Route?
    /// nil until it is known.
    private var caller: Caller?

    init(_ head: RequestHead, _ api: API) {
        id = head.headers["x-request-id"].flatMap(Self.taken) ?? Self.made()
        self.head = head
        self.api = api
    }

    /// Returns a proxy's or a client's own id, if it can be logged as it is: then the lines of both logs can be matched.
    static func taken(_ id: String) -> String? {
        guard (1...64).contains(id.utf8.count) else { return nil }
        let isPlain = id.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x2D || byte == 0x2E || byte == 0x5F
        }
        return isPlain ? id : nil
    }

    private static let first = UInt64.random(in: 0...UInt64.max)
    private static let count = Atomic<UInt64>(0)

    /// Makes an id that is unique, and far from the previous one. A random number would cost a system call, in addition to
    /// the three that an answer from memory takes.
    private static func made() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let text = String(first &+ number &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    func open() -> Opening {
        let (route, opening) = api.open(head) { self.caller = $0 }
        self.route = route
        return opening
    }

    func refuse(_ refusal: RequestRefusal) -> Response {
        ProblemDetails(
            refusal.status, refusal.detail, headers: refusal == .busy ? [("Retry-After", "1")] : []
        ).response
    }

    func failed(_ error: any Error) {
        if let route { _ = api.problem(error, at: route.pattern) }
    }

    /// The whole answer to input that is no request.
    func refusal(_ refusal: RequestRefusal) -> Response {
        RequestMark.with(id) { conclude(refuse(refusal)) }
    }

    /// The one place that decides on caching and on scripts of other sites, so that no route can forget it.
    private func mark(_ response: inout Response, of route: Route?) {
        let isKept =
            route?.keeping == .everybody && (response.status == 200 || response.status == 304)
            && head.headers["authorization"] == nil
        if !isKept { response.cacheControl = Response.unkept }
        guard route?.isForWebViews == true, head.door == .network, api.settings.webOrigins != .none else { return }
        response.headers += api.settings.webOrigins.headers(for: head.headers["origin"])
    }

    /// Counts and logs the answer, and adds the header fields that every answer has.
    func conclude(_ response: Response) -> Response {
        let duration = ContinuousClock.now - start
        let (route, method, caller, from) = (route, head.method, caller, head.door == .network ? head.peer : nil)
        api.figures.count(route, method: method, response, duration)
        let status = response.status
        api.access.report(route?.isNoteworthy == true ? .info : .debug, id: id) {
            [
                ("route", RequestFigures.pattern(route, method)),
                ("status", String(status)), ("milliseconds", String(duration.milliseconds)),
            ] + (caller.map { [("by", $0.actor.name)] } ?? []) + (from.map { [("from", $0.description)] } ?? [])
        }
        var response = response
        mark(&response, of: route)
        response.headers.append(("X-Request-Id", id))
        return response
    }
}
