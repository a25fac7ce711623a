// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTPServer
import OwnThread
import RelayAPI
import RelayStore
import Requirements
import Synchronization
import Testing

/// The threads that read and write sockets, against the real server.
@Suite("Serving threads, live", .ownThread)
struct ServingThreadTests {
    /// Holds the one thread that serves the control socket: it answers the check of an unknown app itself, and waits in it.
    private final class Hold {
        private static let app = "com.example.held"
        private let entered = DispatchSemaphore(value: 0)
        private let left = DispatchSemaphore(value: 0)
        private let holder: RawClient

        /// Returns when the thread is held.
        init(_ bench: Bench) throws {
            holder = try RawClient(unixSocket: bench.socketPath)
            bench.control.profileAsked.withLock {
                $0 = { [entered, left] app in
                    guard app.app == Self.app else { return }
                    entered.signal()
                    left.wait()
                }
            }
            try holder.send(
                "GET /v1/check?app=\(Self.app)&platform=ios&version=1 HTTP/1.1\r\nHost: relay\r\n\r\n")
            guard entered.wait(timeout: .now() + .seconds(60)) == .success else { throw NotHeld() }
        }

        /// Must be called at least once; the thread is free from then on.
        func end() { left.signal() }

        func answer() throws -> String { try holder.receiveHead() }
    }

    private struct NotHeld: Error {}

    /// The number of events that the thread takes from its epoll set at a time, one more and one less.
    @Test(
        "clients whose requests are there all at once are all answered, though nothing else ever happens",
        arguments: [511, 512, 513])
    func allAtOnce(count: Int) throws {
        var limits = APILimits()
        // No deadline may be what wakes the thread.
        (limits.server.idleTime, limits.server.requestTime) = (3_600_000, 3_600_000)
        let bench = try Bench(limits: limits)
        let request = "GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n"
        let clients = try (0..<count).map { _ in try RawClient(unixSocket: bench.socketPath) }
        // A client that was answered once is among those that the thread waits for.
        for client in clients {
            try client.send(request)
            try client.receiveBody(after: client.receiveHead())
        }
        let hold = try Hold(bench)
        defer { hold.end() }
        for client in clients { try client.send(request) }
        hold.end()
        for (number, client) in clients.enumerated() {
            do {
                #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200"))
            } catch {
                // One is enough to wait for.
                Issue.record(error, "client \(number) of \(count) has no answer")
                break
            }
        }
        // Last: reading from a Unix socket notifies its other end, which is an event.
        #expect(try hold.answer().hasPrefix("HTTP/1.1 404"))
    }
}
