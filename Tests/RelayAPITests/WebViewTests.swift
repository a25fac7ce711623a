// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Testing

@testable import HTTPServer
@testable import RelayAPI

@Suite("Web views and OPTIONS", .ownThread)
struct WebViewTests {
    private static let own = "https://app.example.com"
    private static let check = "/v1/check?app=com.example.app&platform=ios&version=1.0"
    private static let document = "/v1/apps/com.example.app/launchgate.json"

    private static func asks(_ origin: String?) -> [(String, String)] { origin.map { [("Origin", $0)] } ?? [] }

    @Test("every path says to OPTIONS what it takes, without a right, and changes nothing")
    func options() throws {
        let bench = try Bench()
        let campaign = try bench.campaign(required: "2.0.0")
        for route in Route.all where !route.isForProxies {
            let path = KeepingTests.path(of: route, campaign: campaign)
            for ask in [
                { try bench.askNetwork("OPTIONS", path) }, { try bench.ask("OPTIONS", path) },
            ] as [() throws -> Answer] {
                let answer = try ask()
                #expect(answer.status == 204, "\(route.pattern)")
                let methods = (answer[header: "allow"] ?? "").split(separator: ", ").map(String.init)
                #expect(methods.contains(route.method) && methods.contains("OPTIONS"), "\(route.pattern)")
                #expect(methods.contains("HEAD") == methods.contains("GET"), "\(route.pattern)")
                #expect(answer[header: "access-control-allow-origin"] == nil, "\(route.pattern)")
            }
        }
        #expect(try bench.ask("GET", "/v1/campaigns/\(campaign)").text("state") == "running")
        #expect(try bench.askNetwork("OPTIONS", "/nowhere").status == 404)
        let client = try RawClient(port: bench.server.port ?? 0)
        try client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.receiveHead()
        #expect(
            head.hasPrefix("HTTP/1.1 204 ")
                && head.contains("\r\nAllow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"))
    }

    @Test("what apps are answered is read by the scripts of the origins that are named, and by no others")
    func named() throws {
        let bench = try Bench(webOrigins: .these([Self.own, "capacitor://localhost"]))
        for path in [Self.check, Self.document, "/v1/check?app=none"] {
            for origin in [Self.own, "capacitor://localhost"] {
                let answer = try bench.askNetwork("GET", path, headers: Self.asks(origin))
                #expect(answer[header: "access-control-allow-origin"] == origin, "\(path)")
                #expect(answer[header: "access-control-allow-credentials"] == nil)
                #expect(answer[header: "vary"]?.contains("Origin") == true)
            }
            for origin in [
                "https://evil.example", "null", "https://app.example.com.evil.example", "HTTPS://APP.EXAMPLE.COM", nil,
            ] {
                let answer = try bench.askNetwork("GET", path, headers: Self.asks(origin))
                #expect(answer[header: "access-control-allow-origin"] == nil, "\(path) \(origin ?? "")")
                #expect(answer[header: "vary"]?.contains("Origin") == true, "a cache keeps them apart")
            }
        }
        let preflight = try bench.askNetwork(
            "OPTIONS", Self.check, headers: Self.asks(Self.own) + [("Access-Control-Request-Method", "GET")])
        #expect(preflight.status == 204 && preflight[header: "access-control-allow-methods"] == "GET, HEAD")
        #expect(preflight[header: "access-control-max-age"] == "7200")
        let other = try bench.askNetwork("OPTIONS", Self.check, headers: Self.asks("https://evil.example"))
        #expect(other.status == 204 && other[header: "access-control-allow-methods"] == nil)
    }

    @Test(
        "with a star everybody's scripts read it; no other route has the fields",
        arguments: [WebOrigins.everybody, .these([Self.own])])
    func everybody(_ origins: WebOrigins) throws {
        let bench = try Bench(webOrigins: origins)
        let campaign = try bench.campaign(required: "2.0.0")
        for route in Route.all {
            let (_, fields) = try KeepingTests.head(bench, route, campaign: campaign, Self.asks(Self.own))
            let granted = fields.filter { $0.hasPrefix("access-control-allow-origin:") }
            #expect(
                granted
                    == (route.isForWebViews
                        ? ["access-control-allow-origin: \(origins == .everybody ? "*" : Self.own)"] : []),
                "\(route.pattern)")
        }
        #expect(Route.all.filter(\.isForWebViews).allSatisfy { $0.right == .nothing && $0.method == "GET" })
    }

    @Test("an origin is written as browsers write it")
    func texts() {
        for good in [
            "https://app.example.com", "http://localhost:8100", "capacitor://localhost", "ionic://localhost",
            "https://[::1]:8443",
        ] {
            #expect(WebOrigins.fault(in: good) == nil, "\(good)")
        }
        for bad in [
            "", "app.example.com", "https://", "https://a/", "https://a/b", "https://A.example", "HTTPS://a", "*",
            "null",
            "https://a:443", "http://a:80", "https://*.example.com", "https://a b", "https://u@a", "https://ä.example",
        ] {
            #expect(WebOrigins.fault(in: bad) != nil, "\(bad)")
        }
    }

    @Test("a body in a content coding is refused by what is taken, at every route that reads one")
    func codings() throws {
        let bench = try Bench()
        let campaign = try bench.campaign(required: "2.0.0")
        for route in Route.all where route.answer.takesBody {
            for coding in ["gzip", "GZIP", "br, gzip", "x"] {
                let isSocket = route.right != .signature
                let (status, fields) = try KeepingTests.head(
                    bench, route, campaign: campaign, [("Content-Encoding", coding)], control: isSocket)
                #expect(status == 415, "\(route.pattern) \(coding)")
                #expect(fields.contains("accept-encoding: identity"), "\(route.pattern)")
            }
            let (status, _) = try KeepingTests.head(
                bench, route, campaign: campaign, [("Content-Encoding", "identity")], control: true)
            #expect(status != 415, "\(route.pattern)")
        }
    }
}
