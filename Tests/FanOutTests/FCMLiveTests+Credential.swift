// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing

@testable import FanOut

/// The credential of a service account: Google does not answer, refuses it or replaces its tokens.
extension FCMLiveTests {
    @Test func theTokenEndpointIsDownAtFirst() throws {
        let bench = try bench()
        bench.service.state.change { $0.grant = .failed("could not connect to oauth2.googleapis.com") }
        try bench.start()
        try bench.raise()
        let part = "credential:com.example.app/android"
        try #require(bench.until { bench.fanOut?.faults()[part] != nil })
        #expect(bench.fanOut?.faults()[part]?.contains("could not connect to oauth2.googleapis.com") == true)
        #expect(try bench.campaign()?.state == .running, "it waits and goes on by itself")
        #expect(bench.seen.requests == 0)
        bench.service.state.change { $0.grant = nil }
        let began = ContinuousClock.now
        let from = bench.clock.now
        let end = try bench.passTime(to: .completed, by: .seconds(5))
        #expect(end.figures.counts.accepted == Int64(Self.devices) && bench.repeats == 0)
        #expect(bench.until { bench.fanOut?.faults()[part] == nil })
        try bench.tell("token endpoint down", since: began, waited: bench.clock.now - from)
    }

    @Test func aTokenThatIsRevokedInMidCampaignIsRenewedOnce() throws {
        let bench = try bench()
        let service = bench.service
        try bench.start()
        try bench.raise()
        try #require(service.state.wait { $0.taken.count > 300 })
        let began = ContinuousClock.now
        service.state.change { $0.goodTokens = [] }
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.seen.tokensAsked == 2, "one for all connections and batches")
        #expect(bench.repeats == 0)
        #expect(try bench.retired() == 0)
        try bench.tell("access token revoked in mid-campaign", since: began)
    }

    @Test func newTokensThatAreNotTakenEitherSuspend() throws {
        let bench = try bench()
        bench.rule { _ in .unauthenticated }
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        #expect(stopped.facts.reason?.hasPrefix("UNAUTHENTICATED: FCM does not accept the access tokens") == true)
        #expect(bench.seen.tokensAsked == 2)
        #expect(stopped.figures.counts.rejected == 0)
        bench.rule { _ in nil }
        let began = ContinuousClock.now
        try bench.resume()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(try bench.retired() == 0)
        try bench.tell("401 to every token, then repaired", since: began)
    }

    @Test func aRefusedKeySuspendsWithGooglesText() throws {
        let bench = try bench()
        let refusal = GoogleTokenAnswer(
            status: 400, body: Array(#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#.utf8),
            scope: GoogleAccount.Scope.firebaseMessaging)
        bench.service.state.change { $0.grant = .answered(refusal, retryAfter: nil) }
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(reason.hasPrefix("AccessTokenRefused: Google refuses the service account's key (invalid_grant"))
        #expect(reason.contains("the key was deleted") && reason.contains("relay@example-project.iam"))
        #expect(SuspensionReason.isOfCredential(reason))
        #expect(bench.seen.tokensAsked == 1 && bench.seen.requests == 0)
        // Resumed without a repair, it is suspended with the same reason; repaired, it goes on without waiting for a minute.
        try bench.resume()
        _ = try bench.wait(for: .suspended)
        bench.service.state.change { $0.grant = nil }
        let began = ContinuousClock.now
        try bench.resume()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        try bench.tell("key refused, then repaired", since: began)
    }

    @Test func aReloadWithAnotherKeyLosesNothing() throws {
        // A few at a time, so that pushes are left when the reload is taken, however busy the machine is.
        let bench = try FCMBench(maximumStreams: 20)
        try bench.register(0..<Self.devices)
        bench.rule { $0.number > 300 ? FCMBench.Reply(steps: [.hold], isTaken: true) : nil }
        try bench.start(bench.route(bench.tokens(), connections: 1))
        try bench.raise()
        try #require(bench.service.state.wait { $0.taken.count > 300 })
        let began = ContinuousClock.now
        bench.fanOut?.reroute([bench.route(try bench.tokens("k2"), connections: 1)])
        _ = try bench.until {
            bench.peer.release()
            return try bench.campaign()?.state == .completed
        }
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == Int64(Self.devices) && bench.repeats == 0)
        #expect(bench.seen.goodTokens == ["Bearer k1-1", "Bearer k2-2"])
        try bench.tell("reload with another key", since: began)
    }
}
