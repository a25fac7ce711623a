// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import RelayEngine
import RelayStore
import Synchronization
import Telemetry
import Testing

@testable import RelayAPI

@Suite("Requests in the log and in the metrics", .ownThread)
struct RequestContextTests {
    @Test("every answer has an id, and every line and problem of the request has it too")
    func ids() throws {
        let bench = try Bench()
        let first = try bench.askNetwork("GET", "/healthz")
        let second = try bench.askNetwork("GET", "/healthz")
        let id = try #require(first[header: "x-request-id"])
        #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(second[header: "x-request-id"] != id)

        bench.control.failure.withLock { $0 = StoreError(.failed, context: "raising a version failed") }
        let failed = try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", #"{"required":"2.0"}"#)
        let failedID = try #require(failed[header: "x-request-id"])
        #expect(failed.text("request") == failedID)
        // All lines are written once the server has stopped.
        bench.server.stop()
        #expect(bench.logged.lines(of: id).count == 1)
        let lines = bench.logged.lines(of: failedID)
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.first?.hasPrefix("error a request failed") == true)
        #expect(lines.last?.hasPrefix("info request answered route=PUT /v1/apps/{app}/{platform}/version") == true)
    }

    @Test("the line of a request says whose token it came with")
    func callers() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let own = try bench.askNetwork("GET", "/v1/campaigns", headers: [("Authorization", "Bearer \(token)")])
        let strange = try bench.askNetwork("GET", "/v1/campaigns", headers: [("Authorization", "Bearer urt_x")])
        bench.server.stop()
        let lines = [own, strange].flatMap { bench.logged.lines(of: $0[header: "x-request-id"] ?? "") }
        try #require(lines.count == 2)
        #expect(lines[0].contains("by=t-status-"), "\(lines[0])")
        #expect(!lines[1].contains("by="), "\(lines[1])")
    }

    @Test("a client's own id is taken where it can stand in a log")
    func foreignIDs() throws {
        let bench = try Bench()
        let own = try bench.askNetwork("GET", "/v1/campaigns", headers: [("X-Request-Id", "proxy-4711.a_b")])
        #expect(own.status == 401)
        #expect(own[header: "x-request-id"] == "proxy-4711.a_b")
        #expect(own.text("request") == "proxy-4711.a_b")
        for bad in [String(repeating: "a", count: 65), "a b", "x\u{e9}", "a\"b"] {
            let answer = try bench.askNetwork("GET", "/healthz", headers: [("X-Request-Id", bad)])
            #expect(answer[header: "x-request-id"]?.count == 16, "\(bad)")
        }
        #expect(RequestContext.taken("") == nil)
    }

    @Test("requests are counted by route and class of status, never by what a client made up")
    func counted() throws {
        let bench = try Bench()
        for number in 0..<3 { _ = try bench.ask("GET", "/v1/campaigns/00000000000\(number)") }
        _ = try bench.ask("GET", "/nothing/secret-13800138000")
        _ = try bench.ask("GET", "/v1/apps")
        let text = try bench.askNetwork("GET", "/metrics")
        #expect(text[header: "content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = text.body.split(separator: "\n").map(String.init)
        let requests = "upgrade_relay_api_requests_total"
        #expect(
            lines.contains(#"\#(requests){method="GET",route="/v1/campaigns/{id}",status="4xx"} 3"#), "\(text.body)")
        #expect(lines.contains(#"\#(requests){method="GET",route="none",status="4xx"} 1"#))
        #expect(lines.contains(#"\#(requests){method="GET",route="/v1/apps",status="2xx"} 1"#))
        let durations = #"upgrade_relay_api_request_duration_seconds_count{method="GET",route="/v1/campaigns/{id}"} 3"#
        #expect(lines.contains(durations))
        #expect(!text.body.contains("13800138000"))
    }

    @Test("webhooks are counted by what became of them")
    func webhooks() throws {
        let bench = try Bench()
        let body = #"{"app":"com.example.app","platform":"ios","required":"2.0"}"#
        #expect(try bench.webhook(body, id: "one").status == 202)
        #expect(try bench.webhook(body, id: "one").status == 202)
        #expect(try bench.webhook(body.replacing("2.0", with: "1.0"), id: "two").status == 409)
        #expect(try bench.webhook("{}", id: "three").status == 422)
        #expect(try bench.webhook(body, id: "four", age: 3600).status == 401)
        let long = String(repeating: " ", count: 70_000)
        #expect(try bench.webhook(body + long, id: "five").status == 413)
        let text = try bench.ask("GET", "/metrics").body
        for (result, count) in [
            ("accepted", 1), ("replayed", 1), ("conflict", 1), ("invalid", 1), ("unauthorized", 1), ("tooLarge", 1),
        ] {
            let line = #"upgrade_relay_webhooks_received_total{kind="version",result="\#(result)"} \#(count)"#
            #expect(text.contains(line + "\n"), "\(line)\n\(text)")
        }
    }

    @Test("no answer waits for a log that is stuck, and what was left out is told")
    func stuckLog() throws {
        final class Kept: Sendable {
            let lines = Mutex<[String]>([])
        }
        let (goOn, kept) = (DispatchSemaphore(value: 0), Kept())
        let access = AccessLog(
            Log(minimum: .info) { _, _, fields in
                goOn.wait()
                goOn.signal()
                kept.lines.withLock { $0.append(fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")) }
            })
        // `report` returns although nothing is written.
        for number in 0..<AccessLog.limit + 7 { access.report(.info, id: "r\(number)") { [("n", "1")] } }
        access.report(.debug, id: "silent") { [("n", "2")] }
        goOn.signal()
        access.finish()
        access.report(.info, id: "last") { [("n", "3")] }
        access.finish()
        #expect(kept.lines.withLock { $0.count } == AccessLog.limit + 1)
        #expect(kept.lines.withLock { $0.first } == "n=1 request=r0")
        #expect(kept.lines.withLock { $0.last } == "n=3 suppressed=7 request=last")
    }

    @Test("the log's level is asked and changed over the control socket")
    func level() throws {
        let bench = try Bench()
        #expect(try bench.ask("GET", "/v1/log").text("level") == "debug")
        let change = try bench.ask("PUT", "/v1/log", #"{"level":"warning"}"#)
        #expect(change.status == 200 && change.text("level") == "warning")
        #expect(try bench.ask("GET", "/v1/log").text("level") == "warning")
        #expect(bench.logged.all == ["notice the log's level was changed from=debug to=warning"])
        let bad = try bench.ask("PUT", "/v1/log", #"{"level":"loud"}"#)
        #expect(bad.status == 422)
        #expect(bad.text("errors", "0", "field") == "level")
        #expect(try bench.ask("PUT", "/v1/log", "{}").status == 422)
        #expect(try bench.askNetwork("GET", "/v1/log").status == 401)
    }
}
