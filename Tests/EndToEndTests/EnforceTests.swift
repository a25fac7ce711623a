// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Testing

/// The real daemon behind a real nginx and a real Caddy, with the configurations that the guide shows.
@Suite(.serialized, .ownThread) struct EnforceTests {
    private static let guide = "etc/PROXIES.md"

    /// The first block of its kind in the guide.
    private static func block(_ kind: String) throws -> String { try block(kind, after: "") }

    /// - Parameter words: the text of the guide that stands before the block.
    private static func block(_ kind: String, after words: String) throws -> String {
        let text = try Guide.text(guide)
        let from = words.isEmpty ? text.startIndex : try #require(text.firstRange(of: words)).upperBound
        let start = try #require(text[from...].firstRange(of: "```\(kind)\n"), "no \(kind) in \(guide)")
        let rest = text[start.upperBound...]
        return String(rest[..<(try #require(rest.firstRange(of: "```")).lowerBound)])
    }

    enum Proxy: CaseIterable { case nginx, caddy }

    /// - Parameter change: edits the guide's block.
    private static func front(
        _ proxy: Proxy, _ bench: Workbench, _ change: (String) -> String = { $0 }
    ) throws -> ProxyProcess {
        let relay = try #require(bench.relay)
        let block = change(try block(proxy == .nginx ? "nginx" : "caddyfile"))
            .replacing("127.0.0.1:8480", with: relay.address)
        return try proxy == .nginx ? Nginx.start(block) : Caddy.start(block)
    }

    /// A daemon that requires 2.0.0, and the proxy before it.
    private static func start(
        _ proxy: Proxy, _ change: (String) -> String = { $0 }
    ) throws -> (Workbench, ProxyProcess) {
        let bench = try Workbench()
        try bench.start()
        let set = try bench.command(
            "version", "set", Workbench.app, "ios", "--required", "2.0.0", "--message", "请更新 please")
        #expect(set.status == 0, "\(set)")
        return (bench, try front(proxy, bench, change))
    }

    private static func version(_ version: String) -> [(String, String)] { [("X-App-Version", version)] }

    private static func json(_ response: HTTPResponse) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any] ?? [:]
    }

    /// FAULTS 4: the block judged Android as iOS.
    @Test func nginxTellsTheAppsOfOneHostApart() throws {
        let bench = try Workbench()
        try bench.start()
        let set = try bench.command("version", "set", Workbench.app, "ios", "--required", "2.0.0")
        #expect(set.status == 0, "\(set)")
        let relay = try #require(bench.relay)
        let map = try Self.block("nginx", after: "map what tells them apart")
        let server = try Self.block("nginx").replacing("platform=ios", with: "platform=$app_platform")
        let nginx = try Nginx.start(map + server.replacing("127.0.0.1:8480", with: relay.address))
        for (header, status) in [
            (("X-App-Platform", "ios"), 426), (("X-App-Platform", "android"), 200),
            (("User-Agent", "okhttp/4.12.0"), 200), (("User-Agent", "ExampleApp/1.9 CFNetwork/1"), 426),
        ] {
            #expect(try nginx.ask(headers: Self.version("1.9") + [header]).status == status, "\(header)")
        }
    }

    @Test(arguments: Proxy.allCases)
    func whoMayGoOnIsPassedOnAndAllOthersAreToldWhereToUpgrade(by proxy: Proxy) throws {
        let (bench, front) = try Self.start(proxy)
        for method in ["GET", "POST", "DELETE"] {
            let body = method == "POST" ? String(repeating: "x", count: 100_000) : nil
            let passed = try front.ask(method, "/things?version=1.0", headers: Self.version("2.0"), body: body)
            #expect(passed.status == 200)
            #expect(String(decoding: passed.body, as: UTF8.self) == ProxyProcess.backend)

            let denied = try front.ask(method, "/things?x=y", headers: Self.version("1.9.9"), body: body)
            #expect(denied.status == 426)
            #expect(denied["content-type"] == "application/problem+json")
            #expect(denied["cache-control"] == "no-store")
            let problem = try Self.json(denied)
            #expect(problem["status"] as? Int == 426)
            #expect(problem["downloadUrl"] as? String == "https://apps.apple.com/app/id1173193999")
            #expect(problem["required"] as? String == "2.0.0")
            #expect(problem["message"] as? String == "请更新 please")
        }
        // Requests without a readable version pass; so does one that carries a token for another server.
        #expect(try front.ask().status == 200)
        #expect(try front.ask(headers: Self.version("2.x")).status == 200)
        let withToken = Self.version("2.0") + [("Authorization", "Bearer its-own")]
        #expect(try front.ask(headers: withToken).status == 200)
        // The backend's own refusal is passed on.
        let forbidden = try front.ask("GET", "/forbidden", headers: Self.version("2.0"))
        #expect(forbidden.status == 403)
        #expect(String(decoding: forbidden.body, as: UTF8.self) == "the backend forbids it")

        // A rise counts for the next request.
        #expect(try bench.command("version", "set", Workbench.app, "ios", "--required", "2.1.0").status == 0)
        let risen = try front.ask(headers: Self.version("2.0"))
        #expect(risen.status == 426)
        #expect(try Self.json(risen)["required"] as? String == "2.1.0")
    }

    /// The relay is gone, or silent: SIGSTOP leaves its sockets open, so the kernel still accepts connections for it.
    @Test(arguments: Proxy.allCases) func whereTheRelayDoesNotAnswerEverybodyIsPassedOn(by proxy: Proxy) throws {
        let (bench, front) = try Self.start(proxy)
        let body = String(repeating: "x", count: 100_000)
        func expectOpen() throws {
            for version in ["1.0", "2.0"] {
                for body in [nil, body] {
                    let start = ContinuousClock.now
                    let answer = try front.ask(body == nil ? "GET" : "POST", headers: Self.version(version), body: body)
                    #expect(answer.status == 200)
                    #expect(String(decoding: answer.body, as: UTF8.self) == ProxyProcess.backend)
                    #expect(ContinuousClock.now - start < .seconds(10) * Patience.factor)
                }
            }
            // The backend's own refusal is passed on.
            #expect(try front.ask("GET", "/forbidden", headers: Self.version("1.0")).status == 403)
        }
        #expect(try front.ask(headers: Self.version("1.0")).status == 426)
        let relay = try #require(bench.relay)
        try relay.hang()
        do {
            defer { relay.send(SIGCONT) }
            try expectOpen()
        }
        #expect(try front.ask(headers: Self.version("1.0")).status == 426, "it lives again")
        bench.kill()
        try expectOpen()
    }

    /// The other way round, as the guide describes it: no request passes without the relay's answer.
    @Test(arguments: Proxy.allCases) func orNobodyIsPassedOn(by proxy: Proxy) throws {
        let (bench, front) = try Self.start(proxy) { block in
            switch proxy {
            case .nginx:
                block.replacing("proxy_intercept_errors on;", with: "")
                    .replacing("error_page 500 502 503 504 = @pass;", with: "")
            case .caddy:
                block.replacing("status 2xx 5xx", with: "status 2xx")
                    .replacing(#/    handle_errors \{(?s:.*?)\n    \}\n/#, with: "")
            }
        }
        #expect(try front.ask(headers: Self.version("1.0")).status == 426)
        #expect(try front.ask(headers: Self.version("2.0")).status == 200)
        let relay = try #require(bench.relay)
        try relay.hang()
        let hanging = try front.ask(headers: Self.version("2.0")).status
        relay.send(SIGCONT)
        #expect(hanging == (proxy == .nginx ? 500 : 504))
        bench.kill()
        #expect(try front.ask(headers: Self.version("2.0")).status == (proxy == .nginx ? 500 : 502))
    }

    /// A request that the backend failed is not sent to it a second time, and the client gets the backend's own 5xx.
    @Test func caddyTellsTheRelaysTroubleFromTheBackends() throws {
        let (bench, front) = try Self.start(.caddy)
        for isThere in [true, false] {
            if !isThere { bench.kill() }
            let answer = try front.ask("POST", "/broken", headers: Self.version("2.0"), body: "x")
            #expect(answer.status == 503)
            #expect(String(decoding: answer.body, as: UTF8.self) == "the backend is broken")
        }
    }
}
