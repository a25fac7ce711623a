// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import HTTPServer
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import TestStores
import Testing
import VersionSources

@testable import RelayAPI

/// Everything that can hold a relay up, all at once, beside requests for its state and its operator's.
@Suite("Everything that waits at once, live", .serialized, .ownThread)
struct AbuseTests {
    /// The promised response times (COSTS.md, "What may a request cost?"). Half of twenty answers must keep `prompt`, as the
    /// machine has other work; all must keep `patience`, whatever holds up the rest.
    private static let prompt = Duration.milliseconds(100)
    private static let patience = Duration.milliseconds(900)

    /// Clients whose requests hang until `end`.
    private final class Crowd {
        let stillness = DispatchSemaphore(value: 0)
        let turnedAway = Mutex(0)
        private let group = DispatchGroup()

        func ask(_ count: Int, _ ask: @escaping @Sendable (Int) throws -> Answer) {
            for number in 0..<count {
                DispatchQueue(label: "abuse-\(number)").async(group: group) { [turnedAway = Unchecked(self)] in
                    if let answer = try? ask(number), [429, 503].contains(answer.status) {
                        turnedAway.crowd.turnedAway.withLock { $0 += 1 }
                    }
                }
            }
        }

        /// - Returns: whether all were answered within a minute.
        func end() -> Bool {
            stillness.signal()
            return group.wait(timeout: .now() + 60) == .success
        }

        private struct Unchecked: @unchecked Sendable {
            let crowd: Crowd
            init(_ crowd: Crowd) { self.crowd = crowd }
        }
    }

    private struct Silent: VersionLookup {
        let stillness: DispatchSemaphore

        func current(of app: AppKey) throws -> StoreListing? {
            stillness.wait()
            stillness.signal()
            return nil
        }
    }

    @Test("readyz, healthz and the control socket are answered beside every abuse")
    func everything() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0")
        let (status, versions) = (try bench.newToken(.status), try bench.newToken(.versions))
        let right = [("Authorization", "Bearer \(versions)")]
        let crowd = Crowd()
        bench.control.stillness.withLock { $0 = crowd.stillness }
        bench.control.lookup.withLock { $0 = Silent(stillness: crowd.stillness) }
        let device = Array(#"{"token":"\#(String(repeating: "a", count: 64))"}"#.utf8)
        crowd.ask(24) { _ in
            try bench.askNetwork("POST", "/v1/apps/com.example.app/ios/test-push", device, headers: right)
        }
        crowd.ask(24) { number in
            try ReleaseWebhookLiveTests.sendApple(
                bench, ReleaseWebhookLiveTests.state("READY_FOR_DISTRIBUTION", id: "event-\(number)"))
        }
        crowd.ask(40) { _ in
            try bench.askNetwork(
                "POST", "/v1/apps/com.example.app/ios/plan", Array(#"{"required":"3.0"}"#.utf8), headers: right)
        }
        // Two test pushes or webhooks of the app may wait, and one plan.
        try bench.until { crowd.turnedAway.withLock { $0 } >= 24 + 24 - 2 + 40 - 1 }
        // Event streams of one token, which no client reads.
        let readers = try (0..<64).map { _ in
            let reader = try RawClient(port: bench.server.port ?? 0, receiveBuffer: 4096)
            try reader.send(
                "GET /v1/campaigns/\(id)/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(status)\r\n\r\n")
            return reader
        }
        let other = try openStore(bench.directory.appending(path: "relay.db").path)
        try other.administer("BEGIN IMMEDIATE")
        let writers = try (0..<40).map { number in
            let client = try RawClient(port: bench.server.port ?? 0)
            let body = #"{"latest":"2.\#(number)"}"#
            try client.send(
                "PUT /v1/apps/com.example.app/ios/version HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(versions)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return client
        }
        try ask(bench, id)
        try other.administer("ROLLBACK")
        withExtendedLifetime((readers, writers)) {}
        #expect(crowd.end())
    }

    private func ask(_ bench: Bench, _ id: String) throws {
        let questions: [(door: String, path: String)] = [
            ("network", "/healthz"), ("network", "/readyz"), ("control", "/healthz"), ("control", "/readyz"),
            ("control", "/v1/campaigns"), ("control", "/v1/campaigns/\(id)"), ("control", "/v1/apps"),
            ("control", "/v1/apps/com.example.app/ios/version"), ("control", "/v1/log"),
        ]
        var durations: [String: [Duration]] = [:]
        for _ in 0..<20 {
            for (door, path) in questions {
                let start = ContinuousClock.now
                let answer = try door == "control" ? bench.ask("GET", path) : bench.askNetwork("GET", path)
                let duration = ContinuousClock.now - start
                durations["\(door) \(path)", default: []].append(duration)
                #expect(
                    (answer.status == 200 || path == "/readyz") && duration < Self.patience,
                    "\(door) \(path): \(answer.status) after \(duration)")
            }
        }
        for (question, all) in durations.sorted(by: { $0.key < $1.key }) {
            let sorted = all.sorted()
            #expect(sorted[10] < Self.prompt, "\(question): \(sorted)")
            print("\(question): median \(sorted[10]), slowest \(sorted[19])")
        }
    }

    @Test("a change is refused within three seconds while another program holds the store, however many wait for it")
    func heldStore() throws {
        let bench = try Bench()
        let other = try openStore(bench.directory.appending(path: "relay.db").path)
        try other.administer("BEGIN IMMEDIATE")
        let writers = try (0..<40).map { number in
            let client = try RawClient(unixSocket: bench.socketPath)
            try client.send(
                "DELETE /v1/apps/com.example.app/ios/devices/ab\(10 + number) HTTP/1.1\r\nHost: relay\r\n\r\n")
            return client
        }
        // Waits until the server has taken them in: this request follows them on the thread that serves the socket.
        #expect(try bench.ask("GET", "/healthz").status == 200)
        let start = ContinuousClock.now
        let answer = try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", #"{"latest":"1.0"}"#)
        let duration = ContinuousClock.now - start
        print("a PUT beside a locked store: \(duration)")
        #expect(answer.status == 503 && answer[header: "retry-after"] != nil, "\(answer.body)")
        #expect(duration < .seconds(5), "\(duration)")
        try other.administer("ROLLBACK")
        try bench.until {
            try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", #"{"latest":"1.0"}"#).status == 200
        }
        withExtendedLifetime(writers) {}
    }

    @Test("an API token has ten test pushes a minute, and another has its own")
    func testPushes() throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/ios/test-push"
        let device = Array(#"{"token":"\#(String(repeating: "a", count: 64))"}"#.utf8)
        let greedy = [("Authorization", "Bearer \(try bench.newToken(.versions))")]
        for _ in 0..<10 { #expect(try bench.askNetwork("POST", path, device, headers: greedy).status == 200) }
        let refused = try bench.askNetwork("POST", path, device, headers: greedy)
        #expect(refused.status == 429 && refused.text("detail")?.contains("10 test pushes a minute") ?? false)
        #expect(Int(refused[header: "retry-after"] ?? "").map { (1...6).contains($0) } ?? false)
        let modest = [("Authorization", "Bearer \(try bench.newToken(.versions))")]
        #expect(try bench.askNetwork("POST", path, device, headers: modest).status == 200)
        // The limit is per token, and the control socket needs none.
        for _ in 0..<12 {
            #expect(try bench.ask("POST", path, String(decoding: device, as: UTF8.self)).status == 200)
        }
    }

    @Test("a rush of logins does not keep the documents from what changes")
    func loginRush() throws {
        let bench = try Bench()
        let document = "/v1/apps/com.example.app/launchgate.json"
        let isOver = Mutex(false)
        let group = DispatchGroup()
        let port = bench.server.port ?? 0
        for thread in 0..<2 {
            DispatchQueue(label: "rush-\(thread)").async(group: group) {
                var number = thread
                while !isOver.withLock({ $0 }), let client = try? RawClient(port: port) {
                    let requests = (1...1200).map { request -> String in
                        number += 2
                        let token = String(repeating: "0", count: 48) + String(format: "%016x", number)
                        return "GET \(CheckLiveTests.path("1.0", more: "&token=\(token)")) HTTP/1.1\r\nHost: relay\r\n"
                            + (request == 1200 ? "Connection: close\r\n\r\n" : "\r\n")
                    }
                    guard (try? client.send(requests.joined())) != nil else { return }
                    _ = try? client.receiveAll()
                }
            }
        }
        _ = try bench.ask("GET", document)
        // Not by the API: the server looks for such changes now and then.
        try bench.store.setAlert(
            AlertRecord(
                app: Bench.app, message: "Back at six", isBlocking: false, endsAt: nil, createdAt: Bench.now,
                createdBy: "another program"))
        let start = ContinuousClock.now
        var isShown = false
        while !isShown, ContinuousClock.now - start < .seconds(20) {
            isShown = try bench.ask("GET", document).body.contains("Back at six")
            bench.logged.waitForNext(atMost: 50)
        }
        print("shown after \(ContinuousClock.now - start)")
        isOver.withLock { $0 = true }
        #expect(isShown)
        #expect(group.wait(timeout: .now() + 60) == .success)
    }
}
