// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Testing

/// The real daemon behind a real nginx, with the configuration that the guide shows.
@Suite(.serialized, .ownThread) struct EnforceTests {
    private static let guide = "etc/PROXIES.md"

    /// The first block of its kind in the guide.
    private static func block(_ kind: String) throws -> String { try block(kind, after: "") }

    /// - Parameter text: what stands before it.
    private static func block(_ kind: String, after words: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: guide), encoding: .utf8)
        let from = words.isEmpty ? text.startIndex : try #require(text.firstRange(of: words)).upperBound
        let start = try #require(text[from...].firstRange(of: "```\(kind)\n"), "no \(kind) in \(guide)")
        let rest = text[start.upperBound...]
        return String(rest[..<(try #require(rest.firstRange(of: "```")).lowerBound)])
    }

    /// A daemon that requires 2.0.0, and nginx before it.
    private static func start() throws -> (Workbench, Nginx) {
        let bench = try Workbench()
        try bench.start()
        let set = try bench.command(
            "version", "set", Workbench.app, "ios", "--required", "2.0.0", "--message", "请更新 please")
        #expect(set.status == 0, "\(set)")
        let relay = try #require(bench.relay)
        let nginx = try Nginx(block("nginx").replacing("127.0.0.1:8480", with: relay.address))
        return (bench, nginx)
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
        let nginx = try Nginx(map + server.replacing("127.0.0.1:8480", with: relay.address))
        for (header, status) in [
            (("X-App-Platform", "ios"), 426), (("X-App-Platform", "android"), 200),
            (("User-Agent", "okhttp/4.12.0"), 200), (("User-Agent", "ExampleApp/1.9 CFNetwork/1"), 426),
        ] {
            #expect(try nginx.ask(headers: Self.version("1.9") + [header]).status == status, "\(header)")
        }
    }

    @Test func nginxPassesOnWhoMayGoOnAndTellsAllOthersWhereToUpgrade() throws {
        let (bench, nginx) = try Self.start()
        for method in ["GET", "POST", "DELETE"] {
            let body = method == "POST" ? String(repeating: "x", count: 100_000) : nil
            let passed = try nginx.ask(method, "/things?version=1.0", headers: Self.version("2.0"), body: body)
            #expect(passed.status == 200)
            #expect(String(decoding: passed.body, as: UTF8.self) == Nginx.backend)

            let denied = try nginx.ask(method, "/things?x=y", headers: Self.version("1.9.9"), body: body)
            #expect(denied.status == 426)
            #expect(denied["content-type"] == "application/problem+json")
            #expect(denied["cache-control"] == "no-store")
            let problem = try Self.json(denied)
            #expect(problem["status"] as? Int == 426)
            #expect(problem["downloadUrl"] as? String == "https://apps.apple.com/app/id1173193999")
            #expect(problem["required"] as? String == "2.0.0")
            #expect(problem["message"] as? String == "请更新 please")
        }
        // Who does not say which version it is, passes; so does one that wears somebody's token for another server.
        #expect(try nginx.ask().status == 200)
        #expect(try nginx.ask(headers: Self.version("2.x")).status == 200)
        let withToken = Self.version("2.0") + [("Authorization", "Bearer its-own")]
        #expect(try nginx.ask(headers: withToken).status == 200)
        // What the backend itself forbids stays so.
        let forbidden = try nginx.ask("GET", "/forbidden", headers: Self.version("2.0"))
        #expect(forbidden.status == 403)
        #expect(String(decoding: forbidden.body, as: UTF8.self) == "the backend forbids it")

        // A rise counts for the next request.
        #expect(try bench.command("version", "set", Workbench.app, "ios", "--required", "2.1.0").status == 0)
        let risen = try nginx.ask(headers: Self.version("2.0"))
        #expect(risen.status == 426)
        #expect(try Self.json(risen)["required"] as? String == "2.1.0")
    }

    @Test func whereTheRelayIsGoneNginxPassesEverybodyOn() throws {
        let (bench, nginx) = try Self.start()
        #expect(try nginx.ask(headers: Self.version("1.0")).status == 426)
        bench.kill()
        #expect(try nginx.ask(headers: Self.version("1.0")).status == 200)
        #expect(try nginx.ask("POST", headers: Self.version("2.0"), body: "x").status == 200)
    }
}
