// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("Who did what, live", .ownThread)
struct AuditLiveTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private static func authorized(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }

    /// "action actorKind address" of each row, the oldest first, without the relay's own rows.
    private func acts(_ query: String = "") throws -> [String] {
        let items = try bench.ask("GET", "/v1/audit?limit=1000\(query)").value("items")?.array ?? []
        return items.reversed().filter { $0[.actorKind]?.string != "relay" }.map { item in
            [Field.action, .actorKind, .address].map { item[$0]?.string ?? "none" }.joined(separator: " ")
        }
    }

    @Test("each act has its row, with who, from where, what it was and what it is")
    func acts() throws {
        let token = try bench.newToken(.status, .versions, .devices, .campaigns)
        let path = "/v1/apps/com.example.app/ios"
        func network(_ method: String, _ path: String, _ body: String? = nil) throws -> Int {
            try bench.askNetwork(method, path, body.map { Array($0.utf8) }, headers: Self.authorized(token)).status
        }
        #expect(try network("PUT", "\(path)/devices/abcd01", #"{"telephone":"13800138000","version":"1.0"}"#) == 201)
        #expect(try network("PUT", "\(path)/devices/abcd02", #"{"telephone":"13800138000","version":"1.0"}"#) == 201)
        #expect(try network("PUT", "\(path)/version", #"{"required":"2.0"}"#) == 202)
        let campaign = try #require(try bench.store.campaigns(before: nil, limit: 1).first?.id)
        for verb in ["pause", "resume"] {
            #expect(try bench.ask("POST", "/v1/campaigns/\(campaign)/\(verb)").status == 200)
        }
        #expect(try network("PUT", "\(path)/alert", #"{"message":"Back at 6 pm."}"#) == 200)
        #expect(try network("DELETE", "\(path)/alert") == 204)
        #expect(try network("DELETE", "\(path)/alert") == 404)
        #expect(try network("DELETE", "\(path)/devices/abcd01") == 204)
        #expect(try network("DELETE", "/v1/users?telephone=13800138000") == 200)
        #expect(try bench.ask("PUT", "/v1/log", #"{"level":"info"}"#).status == 200)
        #expect(try bench.ask("POST", "/v1/reload").status == 200)
        #expect(
            try bench.webhook(#"{"app":"com.example.app","platform":"ios","latest":"2.1"}"#).status == 200)
        #expect(
            try acts() == [
                "token.create operator control socket", "version.bump token 127.0.0.1",
                "campaign.pause operator control socket", "campaign.resume operator control socket",
                "alert.set token 127.0.0.1", "alert.clear token 127.0.0.1", "device.remove token 127.0.0.1",
                "user.erase token 127.0.0.1", "log.level operator control socket",
                "relay.reload operator control socket", "version.bump webhook 127.0.0.1",
            ])
        let all = try bench.ask("GET", "/v1/audit?limit=1000")
        #expect(!all.body.contains("13800138000"))
        let level = try #require(try bench.ask("GET", "/v1/audit?action=log.level").value("items", "0"))
        #expect(level[.before]?[.level]?.string == "debug" && level[.after]?[.level]?.string == "info")
        #expect(try acts("&campaign=\(campaign)").count == 3)
    }

    @Test("it is listed by what is asked for, page by page and as a stream")
    func listed() throws {
        for version in ["2.0", "2.1", "2.2"] {
            _ = try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", #"{"required":"\#(version)"}"#)
        }
        let all = try #require(try bench.ask("GET", "/v1/audit").value("items")?.array)
        var paged: [JSONValue] = []
        var next = ""
        repeat {
            let page = try bench.ask("GET", "/v1/audit?limit=2\(next)")
            paged += page.value("items")?.array ?? []
            next = page.text("next").map { "&cursor=\($0)" } ?? ""
        } while !next.isEmpty
        #expect(paged == all && all.count > 5)
        let stream = try bench.ask("GET", "/v1/audit?format=ndjson")
        #expect(stream[header: "content-type"] == "application/x-ndjson")
        #expect(try stream.body.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) } == all)
        #expect(try bench.ask("GET", "/v1/audit?format=csv").body.split(separator: "\n").count == all.count + 1)
        for (query, count) in [
            ("action=version.bump", 3), ("actor=relay", all.count - 3), ("platform=android", 0),
            ("app=com.example.app", all.count), ("since=2100-01-01T00:00:00Z", 0),
            ("since=2000-01-01T00:00:00Z", all.count), ("campaign=000000000000", 0),
        ] {
            #expect(try bench.ask("GET", "/v1/audit?\(query)").count("items") == count, "\(query)")
        }
        for (query, field) in [("since=yesterday", "since"), ("action=bump", "action"), ("platform=pc", "platform")] {
            let answer = try bench.ask("GET", "/v1/audit?\(query)")
            #expect(answer.status == 422 && answer.body.contains(#""field":"\#(field)""#), "\(answer.body)")
        }
    }

    @Test("it needs the scope status, and a bound token is told of its own apps alone")
    func rights() throws {
        bench.control.hasOther.withLock { $0 = true }
        for app in [Bench.app, Bench.other] {
            _ = try bench.ask("PUT", "/v1/apps/\(app.app)/ios/version", #"{"required":"2.0"}"#)
        }
        #expect(try bench.askNetwork("GET", "/v1/audit").status == 401)
        let versions = try bench.newToken(.versions)
        #expect(try bench.askNetwork("GET", "/v1/audit", headers: Self.authorized(versions)).status == 403)
        let status = try bench.newToken(.status, apps: [Bench.other.app])
        let seen = try bench.askNetwork("GET", "/v1/audit", headers: Self.authorized(status))
        let apps = Set((seen.value("items")?.array ?? []).map { $0[.app]?.string })
        #expect(apps == ["com.example.other"], "also none that is about no app")
        let other = try bench.askNetwork("GET", "/v1/audit?app=com.example.app", headers: Self.authorized(status))
        #expect(other.count("items") == 0)
    }
}
