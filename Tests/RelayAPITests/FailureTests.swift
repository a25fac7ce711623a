// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Synchronization
import Testing

@testable import HTTPServer
@testable import RelayAPI

@Suite("The relay's own failures", .ownThread)
struct FailureTests {
    @Test("a failure is logged with its route and its cause, and answered without them")
    func logged() throws {
        let bench = try Bench()
        bench.control.failure.withLock {
            $0 = StoreError(.failed, context: "raising a version failed: no such table (SQLite 1)")
        }
        let body = #"{"required":"2.0","telephones":["13800138000"]}"#
        let answer = try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", body)
        #expect(answer.status == 500)
        #expect(!answer.body.contains("SQLite"))
        #expect(
            bench.logged.all == [
                "error a request failed route=PUT /v1/apps/{app}/{platform}/version status=500 "
                    + "error=raising a version failed: no such table (SQLite 1)"
            ])
    }

    @Test("a failing store is told of without the token and the telephone that were asked for")
    func masked() throws {
        let bench = try Bench()
        bench.store.close()
        let paths = ["/v1/apps/com.example.app/ios/devices/abcd", "/v1/deliveries?telephone=13800138000"]
        for path in paths { #expect(try bench.ask("GET", path).status == 500) }
        let import500 = try bench.ask("POST", "/v1/apps/com.example.app/ios/devices", #"{"token":"abcd"}"#)
        #expect(import500.status == 500)
        let lines = bench.logged.all
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix("error a request failed route=") })
        #expect(lines.allSatisfy { !$0.contains("abcd") && !$0.contains("1380013") }, "\(lines)")
    }

    @Test("what the client did wrong is not logged")
    func clientErrors() throws {
        let bench = try Bench()
        #expect(try bench.ask("GET", "/v1/campaigns?limit=0").status == 422)
        #expect(try bench.ask("GET", "/v1/campaigns/ffffffffffff").status == 404)
        #expect(try bench.askNetwork("GET", "/v1/campaigns").status == 401)
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", "{").status == 400)
        #expect(bench.logged.all == [])
    }

    @Test("an export that breaks off is logged, and cut so that nobody takes a part for the whole")
    func brokenStream() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/abcd", "{}").status == 201)
        bench.store.close()
        for form in ["ndjson", "csv"] {
            let client = try RawClient(unixSocket: bench.socketPath)
            try client.send(
                "GET /v1/apps/com.example.app/ios/devices?format=\(form) HTTP/1.1\r\nHost: relay\r\n\r\n")
            let text = try client.receiveAll()
            #expect(text.hasPrefix("HTTP/1.1 200") && !text.hasSuffix("0\r\n\r\n"), "\(text)")
        }
        #expect(
            bench.logged.all.contains {
                $0.hasPrefix("error a request failed route=GET /v1/apps/{app}/{platform}/devices status=500")
            }, "\(bench.logged.all)")
    }

    @Test("a full house has the metrics rendered once")
    func manyScrapes() throws {
        let bench = try Bench()
        let start = ContinuousClock.now
        for _ in 0..<20 {
            let answer = try bench.askNetwork("GET", "/metrics")
            #expect(answer.status == 200 && answer.body.contains("upgrade_relay_api_requests_total"))
            #expect(answer[header: "x-request-id"] != nil)
        }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect(bench.control.metricsLooks.withLock { $0 } <= seconds + 1)
    }

    @Test("a full house asks the store once")
    func manyAskers() throws {
        let bench = try Bench()
        func looks() -> Int { bench.control.faultLooks.withLock { $0 } }
        // On a slow machine the first check takes longer than a caller waits, and callers get what is known without it.
        var before: Int
        repeat {
            before = looks()
            #expect(try bench.askNetwork("GET", "/readyz").status == 200)
        } while looks() != before
        let start = ContinuousClock.now
        for _ in 0..<20 { #expect(try bench.askNetwork("GET", "/readyz").status == 200) }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect(looks() - before <= seconds + 1)
    }
}
