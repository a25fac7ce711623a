// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Testing

@testable import HTTPServer
@testable import RelayAPI

/// Clients that are slow on purpose, against the real server on loopback.
@Suite("Hostile clients, live", .serialized, .ownThread)
struct HostileClientTests {
    static let check = CheckLiveTests.path("1.0")

    static func limits(_ change: (inout APILimits) -> Void = { _ in }) -> APILimits {
        var limits = APILimits()
        // The thread of a good client may have to wait for a processor in the middle of its request.
        limits.server.idleTime = 2500
        limits.server.requestTime = 2500
        change(&limits)
        return limits
    }

    /// Sends `drop` every 50 ms until the server ends the connection, for 30 s at most, which is more than the time-outs.
    /// Returns how long that took.
    static func drip(_ head: String, _ drop: String, to bench: Bench) throws -> Duration {
        let client = try RawClient(port: bench.server.port ?? 0)
        try client.send(head)
        let start = ContinuousClock.now
        while !client.isOver(within: 50) {
            guard ContinuousClock.now - start < .seconds(30) else { return .seconds(30) }
            do { try client.send(drop) } catch { break }
        }
        return ContinuousClock.now - start
    }

    @Test(
        "who drips the request line, the head or the body is cut off in all, not from byte to byte",
        arguments: [
            ("G", "E"), ("GET /healthz HTTP/1.1\r\nHost: relay\r\nX: ", "x"),
            ("POST /v1/webhooks/version HTTP/1.1\r\nHost: relay\r\nContent-Length: 60000\r\n\r\n", "{"),
            (
                "POST /v1/webhooks/version HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\n",
                "1\r\n{\r\n"
            ),
        ])
    func drips(head: String, drop: String) throws {
        let bench = try Bench(limits: Self.limits())
        let lasted = try Self.drip(head, drop, to: bench)
        #expect(lasted > .milliseconds(1000) && lasted < .seconds(30), "\(lasted)")
        #expect(try bench.askNetwork("GET", Self.check).status == 200)
    }

    @Test("who never reads the answer is cut off, while an import and an export that move are not")
    func neverReads() throws {
        let bench = try Bench(limits: Self.limits())
        let line = #"{"token":"%064x","telephone":"13800138000","version":"1.0"}"#
        let body = (0..<20_000).map { String(format: line, $0) }.joined(separator: "\n")
        let stored = try bench.ask("POST", ResourceLiveTests.devices, body)
        #expect(stored.number("stored") == "20000")
        let token = try bench.newToken(.devices)
        let client = try RawClient(port: bench.server.port ?? 0, receiveBuffer: 4096)
        let request =
            "GET \(ResourceLiveTests.devices) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n"
        // Twice in a row, so that it is more than all buffers hold.
        try client.send(request + request + request + request)
        #expect(bench.logged.wait(for: "connections were cut off door=network tooSlow=1"))
        // A client that reads gets all of it.
        let all = try bench.askNetwork(
            "GET", ResourceLiveTests.devices, headers: [("Authorization", "Bearer \(token)")])
        #expect(all.bytes.count { $0 == 10 } == 20_000)
    }

    @Test("what is too long is refused by name: target, head, body")
    func tooLong() throws {
        let bench = try Bench()
        let long = String(repeating: "x", count: 9000)
        let target = try bench.askNetwork("GET", "/healthz?\(long)")
        #expect(target.status == 414)
        #expect(target[header: "content-type"] == "application/problem+json")
        let head = try bench.askNetwork("GET", "/healthz", headers: [("X-A", long), ("X-B", long)])
        #expect(head.status == 431)
        #expect(head[header: "content-type"] == "application/problem+json")
        let body = [UInt8](repeating: 0x20, count: 70_000)
        #expect(try bench.askNetwork("POST", "/v1/webhooks/version", body).status == 413)
        // Refused before the head is whole.
        let raw = try RawClient(port: bench.server.port ?? 0)
        try raw.send("GET / HTTP/1.1\r\nHost: relay\r\nX: \(String(repeating: "x", count: 60_000))")
        #expect(try raw.receiveHead().hasPrefix("HTTP/1.1 431"))
    }

    @Test("idle connections leave the API answering; as many as the limit on open files allows, 10,000 if told so")
    func idleFlood() throws {
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        let wanted = Int(ProcessInfo.processInfo.environment["IDLE_CONNECTIONS"] ?? "") ?? 1000
        // Both ends are in this process.
        let count = min(wanted, (Int(clamping: files.rlim_cur) - 500) / 2)
        if count < wanted { print("idle connections: \(count) instead of \(wanted), for the limit on open files") }
        // All are of one address, and opening so many takes longer than a request may.
        let bench = try Bench(
            limits: Self.limits {
                ($0.server.idleTime, $0.server.requestTime) = (60_000, 60_000)
                $0.server.connectionsPerAddress = count + 500
            })
        let port = bench.server.port ?? 0
        var idle: [RawClient] = []
        for number in 0..<count {
            let client = try RawClient(port: port)
            // A third has sent a request, a third half of one, a third nothing.
            if number % 3 == 0 { try client.send("GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n") }
            if number % 3 == 1 { try client.send("GET /healthz HT") }
            idle.append(client)
        }
        var slowest = Duration.zero
        for _ in 0..<50 {
            let start = ContinuousClock.now
            #expect(try bench.askNetwork("GET", Self.check).status == 200)
            #expect(try bench.askNetwork("GET", "/readyz").status == 200)
            slowest = max(slowest, ContinuousClock.now - start)
        }
        #expect(slowest < .seconds(30), "\(slowest)")
        print("idle connections: \(count); slowest of 50 answers to a new client \(slowest)")
        // Idle clients are still served: one that sent half a request, and one that sent nothing.
        try idle[1].send("TP/1.1\r\nHost: relay\r\n\r\n")
        #expect(try idle[1].receiveHead().contains("HTTP/1.1 200"))
        try idle[2].send("GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n")
        #expect(try idle[2].receiveHead().contains("HTTP/1.1 200"))
    }

    @Test("beyond the limit the idle give way, so that one address alone locks nobody out, not even itself")
    func beyondLimit() throws {
        let bench = try Bench(
            limits: Self.limits {
                ($0.server.connections, $0.server.connectionsPerAddress, $0.server.idleTime) = (64, 32, 60_000)
            })
        var idle: [RawClient] = []
        for _ in 0..<500 { idle.append(try RawClient(port: bench.server.port ?? 0)) }
        // Waits until all are accepted, as a later one may take the place of a client that has not sent anything yet.
        let deadline = ContinuousClock.now + .seconds(30)
        while idle.count(where: { $0.isOver(within: 0) }) < 500 - 32, ContinuousClock.now < deadline {
            _ = idle[450].isOver(within: 10)
        }
        for _ in 0..<20 { #expect(try bench.askNetwork("GET", Self.check).status == 200) }
        #expect(idle.count { $0.isOver(within: 0) } > 400)
    }

    @Test("a store that waits holds up neither the check nor the health of the process")
    func storeWaits() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        bench.control.gate.lock()
        defer { bench.control.gate.unlock() }
        let waiting = try (0..<40).map { _ in try RawClient(port: bench.server.port ?? 0) }
        for client in waiting {
            try client.send("GET /v1/apps HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n")
        }
        for _ in 0..<50 { #expect(try bench.askNetwork("GET", Self.check).status == 200) }
        bench.control.gate.unlock()
        for client in waiting { #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200")) }
        bench.control.gate.lock()
    }
}
