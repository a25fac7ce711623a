// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import VersionSources

/// A push service, a store or a plan that does not answer holds up the client that asked for it, and no other.
@Suite("What waits for others, live", .ownThread)
struct ForeignWaitTests {
    /// Far below a foreign server's time-out, and far above what a busy machine needs for an answer.
    private static let prompt = Duration.seconds(3)

    /// An App Store that does not answer until it is signalled.
    private struct Silent: VersionLookup {
        let stillness: DispatchSemaphore

        func current(of app: AppKey) throws -> StoreListing? {
            stillness.wait()
            stillness.signal()
            return nil
        }
    }

    /// A server whose test pushes and plans wait until the semaphore is signalled.
    private func standingStill() throws -> (Bench, DispatchSemaphore) {
        let (bench, stillness) = (try Bench(), DispatchSemaphore(value: 0))
        bench.control.stillness.withLock { $0 = stillness }
        return (bench, stillness)
    }

    /// - Parameters:
    ///   - ask: one of 24 requests that wait.
    ///   - most: how many of them may wait at a time.
    private func waits(
        _ bench: Bench, _ stillness: DispatchSemaphore, most: Int, ask: @escaping @Sendable (Int) throws -> Answer
    )
        throws
    {
        let refused = Mutex<[Answer]>([])
        let group = DispatchGroup()
        for number in 0..<24 {
            DispatchQueue(label: "asker-\(number)").async(group: group) {
                if let answer = try? ask(number), answer.status == 503 { refused.withLock { $0.append(answer) } }
            }
        }
        // The others are refused at once, so that no client waits behind them.
        try bench.until { refused.withLock { $0.count } == 24 - most }
        #expect(refused.withLock { $0.allSatisfy { $0[header: "retry-after"] != nil } })
        let questions: [(String, String, String?)] = [
            ("GET", "/readyz", nil), ("GET", "/healthz", nil), ("GET", "/metrics", nil), ("GET", "/v1/campaigns", nil),
            ("GET", "/v1/apps/com.example.app/ios/version", nil),
            ("PUT", "/v1/apps/com.example.app/ios/version", #"{"latest":"1.0"}"#),
        ]
        for (method, path, body) in questions {
            let start = ContinuousClock.now
            let answer = try bench.ask(method, path, body)
            let duration = ContinuousClock.now - start
            #expect(answer.status == 200 && duration < Self.prompt, "\(path): \(answer.status) after \(duration)")
        }
        stillness.signal()
        #expect(group.wait(timeout: .now() + 60) == .success)
    }

    @Test("24 test pushes into a push service that is silent")
    func testPushes() throws {
        let (bench, stillness) = try standingStill()
        try waits(bench, stillness, most: 2) { _ in
            try bench.ask(
                "POST", "/v1/apps/com.example.app/ios/test-push", #"{"token":"\#(String(repeating: "a", count: 64))"}"#)
        }
    }

    @Test("24 webhooks that have the App Store asked, which is silent")
    func lookups() throws {
        let bench = try Bench()
        let stillness = DispatchSemaphore(value: 0)
        bench.control.lookup.withLock { $0 = Silent(stillness: stillness) }
        try waits(bench, stillness, most: 2) { number in
            try ReleaseWebhookLiveTests.sendApple(
                bench, ReleaseWebhookLiveTests.state("READY_FOR_DISTRIBUTION", id: "event-\(number)"))
        }
    }

    @Test("24 plans of an app with very many devices")
    func plans() throws {
        let (bench, stillness) = try standingStill()
        try waits(bench, stillness, most: 1) { _ in
            try bench.ask("POST", "/v1/apps/com.example.app/ios/plan", #"{"required":"2.0"}"#)
        }
    }

    @Test("Who may not see devices cannot ask by a test push who is registered")
    func whoIsRegistered() throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/ios/test-push"
        let telephone = Array(#"{"telephone":"13800000001"}"#.utf8)
        let token = try bench.newToken(.versions)
        let refused = try bench.askNetwork("POST", path, telephone, headers: [("Authorization", "Bearer \(token)")])
        #expect(refused.status == 403 && refused.text("detail")?.contains(#"the scope "users""#) ?? false)
        let both = try bench.newToken(.versions, .devices)
        #expect(
            try bench.askNetwork("POST", path, telephone, headers: [("Authorization", "Bearer \(both)")]).status == 404)
    }

    @Test("One token does not take the event streams of all, nor those of the control socket")
    func eventStreams() throws {
        var limits = APILimits()
        limits.eventStreams = 8
        let bench = try Bench(limits: limits)
        let id = try bench.campaign(required: "2.0")
        let greedy = try bench.newToken(.status)
        let clients = try (0..<2).map { (_: Int) in try RawClient(port: bench.server.port ?? 0) }
        for client in clients {
            try client.send(
                "GET /v1/campaigns/\(id)/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(greedy)\r\n\r\n")
            #expect(try client.receiveHead().contains("200 OK"))
        }
        let path = "/v1/campaigns/\(id)/events"
        let refused = try bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(greedy)")])
        #expect(refused.status == 503 && refused.text("detail")?.contains("2 to one API token or app") ?? false)
        let other = try RawClient(port: bench.server.port ?? 0)
        let modest = try bench.newToken(.status)
        try other.send("GET \(path) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(modest)\r\n\r\n")
        #expect(try other.receiveHead().contains("200 OK"))
    }
}
