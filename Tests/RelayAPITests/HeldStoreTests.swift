// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import OwnThread
import RelayAPI
import RelayStore
import Synchronization
import TestStores
import Testing

/// Clients that only read are answered while another program holds the store's write lock.
@Suite("A store that another program holds, live", .ownThread)
struct HeldStoreTests {
    /// Another connection's write transaction; the relay's writer waits 2 s for it, and then refuses.
    private final class Hold {
        private let other: any TestStore

        init(_ bench: Bench) throws {
            other = try openStore(bench.directory.appending(path: "relay.db").path)
            try other.administer("BEGIN IMMEDIATE")
        }

        func end() throws { try other.administer("ROLLBACK") }
    }

    /// Between what a busy machine needs for an answer and the time-out of the store's lock.
    private static let prompt = Duration.seconds(3)

    private static func timed(_ ask: () throws -> Answer) throws -> (answer: Answer, duration: Duration) {
        let start = ContinuousClock.now
        let answer = try ask()
        return (answer, ContinuousClock.now - start)
    }

    /// Every kind of route that reads, over both doors.
    private func expectReaders(_ bench: Bench, token: String) throws {
        for path in ["/v1/campaigns", "/v1/apps", "/v1/store", CheckLiveTests.path("1.0"), "/metrics"] {
            let (answer, duration) = try Self.timed { try bench.ask("GET", path) }
            #expect(answer.status == 200 && duration < Self.prompt, "\(path): \(answer.status) after \(duration)")
        }
        for path in ["/v1/campaigns", CheckLiveTests.path("1.0")] {
            let (answer, duration) = try Self.timed {
                try bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(token)")])
            }
            #expect(answer.status == 200 && duration < Self.prompt, "\(path): \(answer.status) after \(duration)")
        }
    }

    /// `/readyz` soon reports the held store, and keeps reporting it.
    private func expectNotReady(_ bench: Bench) throws {
        try bench.until { try bench.askNetwork("GET", "/readyz").status == 503 }
        for _ in 0..<10 {
            let (answer, duration) = try Self.timed { try bench.askNetwork("GET", "/readyz") }
            #expect(answer.status == 503 && duration < Self.prompt, "\(answer.status) after \(duration)")
            #expect(answer.text("faults", "0", "part") == "store")
        }
    }

    /// The guide's proxies give up after a second, and then let every user through or none.
    private static let proxyPatience = Duration.seconds(1)

    /// One after the other, so that a late one is seen.
    private func expectEnforced(_ bench: Bench) throws {
        var slowest = Duration.zero
        for number in 0..<500 {
            let (answer, duration) = try Self.timed {
                try bench.askNetwork("GET", "/v1/enforce?app=com.example.app&platform=ios&version=\(number % 2).0")
            }
            #expect(answer.status == (number % 2 == 0 ? 426 : 204))
            slowest = max(slowest, duration)
        }
        #expect(slowest < Self.proxyPatience, "the slowest of 500 took \(slowest)")
        print("a proxy's question: the slowest of 500 took \(slowest)")
    }

    @Test("a proxy's question has its answer within a second, whoever holds the store, and whoever waits for it")
    func enforce() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"1.0","confirm":true}"#)
        try expectEnforced(bench)
        let hold = try Hold(bench)
        // More than there are threads: they wait for the lock one after the other.
        let writers = try (0..<32).map { number in
            let client = try RawClient(unixSocket: bench.socketPath)
            try client.send(
                "DELETE /v1/apps/com.example.app/ios/devices/ab\(10 + number) HTTP/1.1\r\nHost: relay\r\n\r\n")
            return client
        }
        #expect(try bench.ask("GET", "/healthz").status == 200)
        try expectEnforced(bench)
        try hold.end()
        for client in writers { _ = try client.receiveHead() }
    }

    @Test("readers and readyz are answered at once while more clients write than the server has threads for")
    func writers() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let hold = try Hold(bench)
        // They wait for the lock one after the other.
        let writers = try (0..<16).map { number in
            let client = try RawClient(unixSocket: bench.socketPath)
            let body = #"{"telephone":"13800138000"}"#
            try client.send(
                "PUT /v1/apps/com.example.app/ios/devices/ab\(10 + number) HTTP/1.1\r\nHost: relay\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }
        // Waits until the server has taken them in: this request follows them on the thread that serves the socket.
        #expect(try bench.ask("GET", "/healthz").status == 200)
        try expectReaders(bench, token: token)
        try expectNotReady(bench)
        try expectReaders(bench, token: token)
        try hold.end()
        // A writer whose turn came while the store was held may have been refused.
        for client in writers {
            let head = try client.receiveHead()
            #expect(head.hasPrefix("HTTP/1.1 201") || head.hasPrefix("HTTP/1.1 503"), "\(head)")
        }
        try bench.until { try bench.askNetwork("GET", "/readyz").status == 200 }
    }

    @Test("readers are answered at once while eight imports stand still")
    func imports() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let (admitted, count) = (DispatchSemaphore(value: 0), 8)
        bench.control.profileAsked.withLock { $0 = { _ in admitted.signal() } }
        let hold = try Hold(bench)
        let imports = try (0..<count).map { number in
            let client = try RawClient(unixSocket: bench.socketPath)
            let body = (0..<2000).map { #"{"token":"\#(String(number * 10_000 + $0 + 1_000_000, radix: 16))"}"# + "\n" }
                .joined()
            try client.send(
                "POST /v1/apps/com.example.app/ios/devices HTTP/1.1\r\nHost: relay\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }
        for _ in 0..<count { try #require(admitted.wait(timeout: .now() + .seconds(60)) == .success) }
        bench.control.profileAsked.withLock { $0 = nil }
        for _ in 0..<10 { try expectReaders(bench, token: token) }
        try expectNotReady(bench)
        // A single device does not wait for the imports' threads either, only for the store.
        let device = try RawClient(unixSocket: bench.socketPath)
        try device.send("DELETE /v1/apps/com.example.app/ios/devices/ab HTTP/1.1\r\nHost: relay\r\n\r\n")
        try hold.end()
        // It is refused at once where an import was refused before it.
        let answer = try device.receiveHead()
        #expect(answer.hasPrefix("HTTP/1.1 404") || answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        for client in imports {
            let head = try client.receiveHead()
            #expect(head.hasPrefix("HTTP/1.1 200") || head.hasPrefix("HTTP/1.1 503"), "\(head)")
        }
    }
}
