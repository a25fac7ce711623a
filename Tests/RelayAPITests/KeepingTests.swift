// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Testing

@testable import HTTPServer
@testable import RelayAPI

/// One place declares which caches may keep an answer, and every route is tested.
@Suite("What caches may keep", .ownThread)
struct KeepingTests {
    /// Decided one by one: none of these answers depends on the caller.
    private static let kept = ["GET /openapi.json", "GET /v1/check", "GET /v1/apps/{app}/launchgate.json"]

    @Test("a route's answers are kept by nobody, unless it says so")
    func declared() {
        #expect(Route.all.filter { $0.keeping == .everybody }.map(\.pattern) == Self.kept)
    }

    /// A path to something that exists, where the route leads to a thing.
    static func path(of route: Route, campaign: String) -> String {
        let path = route.path.replacing("{app}", with: "com.example.app").replacing("{platform}", with: "ios")
            .replacing("{id}", with: campaign).replacing("{token}", with: String(repeating: "a", count: 64))
            .replacing("{name}", with: "none")
        return path == "/v1/check" ? path + "?app=com.example.app&platform=ios&version=1.0" : path
    }

    /// The status and the header fields of an answer: its body may be a stream without an end.
    static func head(
        _ bench: Bench, _ route: Route, campaign: String, _ more: [(String, String)] = [], control: Bool = false
    ) throws -> (status: Int, fields: [String]) {
        let client = try control ? RawClient(unixSocket: bench.socketPath) : RawClient(port: bench.server.port ?? 0)
        let body = route.answer.takesBody ? "{}" : ""
        let fields = more.map { "\($0.0): \($0.1)\r\n" }.joined()
        try client.send(
            "\(route.method) \(path(of: route, campaign: campaign)) HTTP/1.1\r\nHost: relay\r\n\(fields)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let lines = try client.receiveHead().split(separator: "\r\n\r\n", maxSplits: 1)[0].split(separator: "\r\n")
        return (Int(lines[0].split(separator: " ")[1]) ?? 0, lines.dropFirst().map { $0.lowercased() })
    }

    @Test("every route's answer says no-store, to a cookie, a token and nobody, but what is the same for all")
    func everyRoute() throws {
        let bench = try Bench()
        let campaign = try bench.campaign(required: "2.0.0")
        var asked = 0
        for route in Route.all {
            let token = try bench.newToken(.status, .versions, .devices, .campaigns)
            let bearer = ("Authorization", "Bearer \(token)")
            let answer = try bench.askNetwork("POST", "/v1/session", headers: [bearer])
            let cookie = (
                "Cookie", String(try #require(answer[header: "set-cookie"]).prefix { $0 != ";" })
            )
            let own = [("Sec-Fetch-Site", "same-origin"), ("X-Form-Token", answer.text("formToken") ?? "")]
            for (name, credentials, control) in [
                ("nobody", [], false), ("bearer", [bearer], false), ("cookie", [cookie] + own, false),
                ("socket", [], true),
            ] as [(String, [(String, String)], Bool)] {
                let (status, fields) = try Self.head(bench, route, campaign: campaign, credentials, control: control)
                let said = fields.filter { $0.hasPrefix("cache-control:") }
                if route.keeping == .everybody, status == 200, name != "bearer" {
                    #expect(said == ["cache-control: no-cache"], "\(route.pattern) \(name)")
                } else {
                    #expect(said == ["cache-control: no-store"], "\(route.pattern) \(name) \(status)")
                }
                asked += 1
            }
        }
        #expect(asked == Route.all.count * 4)
    }

    @Test("what is no request, and what leads nowhere, is kept by nobody either")
    func problems() throws {
        let bench = try Bench()
        for request in [
            "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/2.5\r\n\r\n",
            "PATCH /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /v1/check HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            let client = try RawClient(port: bench.server.port ?? 0)
            try client.send(request)
            #expect(try client.receiveHead().lowercased().contains("\r\ncache-control: no-store\r\n"), "\(request)")
        }
    }
}
