// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import OwnThread
import PushSimulator
import TestPeers
import Testing

/// SIGTERM while something outside does not answer.
@Suite(.ownThread) struct StopTests {
    @Test(
        .enabled(if: DeadResolver.isPossible, "the C library's aliases are read where DNS comes right after the files"))
    func aNameServerThatDoesNotAnswerHoldsNoStopUp() throws {
        let bench = try Workbench(iosKeys: #"sources: [{ launchGate: { url: "https://nobody/gate.json" } }],"#)
        let resolver = try DeadResolver(in: bench.folder)
        try Data(HookReceiver.secret.utf8).write(to: bench.folder.appending(path: "notify-secret"))
        try bench.reconfigure(
            "webhooks: {",
            #"notify: [{ url: "https://nobody/", secret: { file: "\#(bench.path("notify-secret"))" } }], webhooks: {"#)
        try bench.launch(environment: ["HOSTALIASES": resolver.path])
        let relay = try #require(bench.relay)
        try relay.waitUntilReady()
        #expect(resolver.waitForQuestion(), "the source")
        try bench.register(Fleet(count: 10))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.isFinal }
        #expect(resolver.waitForQuestion(), "the receiver of notifications")
        relay.send(SIGTERM)
        // Both lookups hang until then.
        #expect(relay.waitForLine("stopped", within: .seconds(60)) != nil, "\(relay.log)")
        withExtendedLifetime(resolver) {}
        if relay.log.contains("stopped") { #expect(relay.wait() == (0, false)) } else { bench.kill() }
    }

    /// Ten seconds are the longest wait in all, not of each part: README, and the unit's `TimeoutStopSec`.
    @Test func nothingThatIsSilentIsWaitedForAfterTheOther() throws {
        let (listener, port) = try Loopback.listen()
        defer { close(listener) }
        let bench = try Workbench(
            iosKeys: "sources: [{ launchGate: { url: \"https://127.0.0.1:\(port)/gate.json\" } }],"
        ) {
            $0.faults.latencyMs = 120_000
            // The test push goes to a token that no user has.
            $0.recordPath = nil
        }
        try bench.start()
        let relay = try #require(bench.relay)
        try bench.register(Fleet(count: 10))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        #expect(bench.simulator.wait(deadline: .seconds(60)) { $0.requests > 0 }, "a push waits for its answer")
        // Another push waits for the answer of a request, and a stream stays open.
        let (asked, streamed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = String(repeating: "a", count: 64)
        // The bench is used from two threads, and outlives both.
        nonisolated(unsafe) let shared = bench
        Thread.detachNewThread {
            let body = Array("{\"token\":\"\(token)\"}".utf8)
            _ = try? shared.api("POST", "/v1/apps/\(Workbench.app)/ios/test-push", body: body)
            asked.signal()
        }
        let isFollowed = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = try? shared.follow(id) { _ in
                isFollowed.signal()
                return false
            }
            streamed.signal()
        }
        #expect(isFollowed.wait(timeout: .now() + 60) == .success)
        #expect(bench.simulator.wait(deadline: .seconds(60)) { $0.requests > 1 }, "a test push waits for its answer")
        let start = ContinuousClock.now
        relay.send(SIGTERM)
        #expect(relay.wait() == (0, false), "\(relay.log)")
        let time = ContinuousClock.now - start
        #expect(time < .seconds(11) * Patience.factor, "\(time)\n\(relay.log)")
        #expect(asked.wait(timeout: .now() + 60) == .success && streamed.wait(timeout: .now() + 60) == .success)
    }
}
