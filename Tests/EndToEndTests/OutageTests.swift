// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import TestPeers
import Testing

@testable import PushSimulator

/// The push service is away or asks for time: the real binary waits, gives the reason, and goes on by itself.
@Suite(.serialized, .ownThread) struct OutageTests {
    private let identity: TestIdentity

    init() throws { identity = try TestIdentity() }

    private func peer(port: UInt16 = 0, script: @escaping ScriptedPeer.Script = { _ in [.answer(200)] }) throws
        -> ScriptedPeer
    {
        var manner = PeerManner()
        manner.port = port
        return try ScriptedPeer(identity, manner, script: script)
    }

    /// The answer of /readyz, which must report a degraded part.
    private func trouble(_ bench: Workbench) throws -> String {
        let answer = try bench.readiness(200, isDegraded: true)
        return "\(answer)"
    }

    @Test func aServerThatIsDownWhenTheCampaignBeginsIsWaitedFor() throws {
        // A port on which nothing listens.
        let nobody = try Loopback.ReservedPort()
        let port = nobody.port
        let bench = try Workbench()
        try bench.push(to: "https://127.0.0.1:\(port)", trusting: identity.authorityPath)
        try bench.start()
        try bench.register(Fleet(count: 100))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        // Until then readyz, the campaign and the log give the reason why nothing moves.
        let reason = "cannot reach the push service: https://127.0.0.1:\(port)"
        let told = try trouble(bench)
        #expect(told.contains(reason) && told.contains("apns:\(Workbench.app)"), "\(told)")
        let waiting = try bench.view(id)
        #expect(waiting.state == "running" && waiting.counts["accepted"] == 0 && waiting.addsUp)
        #expect(waiting.reason?.hasPrefix(reason) == true, "\(waiting)")
        let relay = try #require(bench.relay)
        #expect(relay.waitForLine("cannot reach the push service", within: .seconds(60)) != nil)

        let begin = ContinuousClock.now
        let peer = try peer(port: port)
        defer { peer.stop() }
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.state == "completed" && end.counts["accepted"] == 100 && end.reason == nil, "\(end)")
        #expect(peer.state.now.requests.count == 100, "nothing was sent twice")
        #expect(relay.waitForLine("connected to the push service again", within: .seconds(60)) != nil)
        try bench.readiness(200)
        let rest = try #require(peer.state.now.requests.first).at - begin
        print("| server down at the start | 1 | 0 | 0 | \(rest) after it came up |")
    }

    @Test func aNameThatDoesNotResolveIsRepairedByAReload() throws {
        let bench = try Workbench()
        try bench.push(to: "https://push.relay.invalid:2197", trusting: identity.authorityPath)
        try bench.start()
        try bench.register(Fleet(count: 100))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let told = try trouble(bench)
        #expect(told.contains("push.relay.invalid") && told.contains("check the name and the resolver"), "\(told)")

        let peer = try peer()
        defer { peer.stop() }
        let begin = ContinuousClock.now
        try bench.edit { $0.replacing("push.relay.invalid:2197", with: "localhost:\(peer.port)") }
        try #require(bench.relay).send(SIGHUP)
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 100)
        #expect(peer.state.now.requests.count == 100)
        try bench.readiness(200)
        let rest = try #require(peer.state.now.requests.first).at - begin
        print("| a name that does not resolve | 1 | 0 | 0 | \(rest) after SIGHUP |")
    }

    @Test func retryAfterIsKeptAcrossAKill() throws {
        // Long enough to see that it waits, and to kill it during the wait.
        let patience = 15
        let peer = try peer { request in
            guard request.connection == 0 else { return [.answer(200)] }
            // The next whole second after that time (RFC 9110, 5.6.7).
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            let date = Date(timeIntervalSince1970: Date.now.timeIntervalSince1970.rounded(.up) + Double(patience))
            return [.answer(503, ["retry-after": format.string(from: date)])]
        }
        defer { peer.stop() }
        let bench = try Workbench()
        try bench.push(to: "https://127.0.0.1:\(peer.port)", trusting: identity.authorityPath)
        try bench.start()
        try bench.register(Fleet(count: 30))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.counts["retrying"] == 30 }
        bench.kill()
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 30)
        let visits = Dictionary(grouping: peer.state.now.requests) { $0.headers["apns-id"] ?? "" }
        #expect(visits.count == 30)
        for requests in visits.values {
            #expect(requests.count == 2)
            let wait = requests[1].at - requests[0].at
            #expect(wait >= .seconds(patience), "\(wait)")
        }
        #expect(try bench.deliveries(id).allSatisfy { $0["attempts"] as? Int == 2 })
    }

    @Test func aServiceThatFailsEverythingIsLeftAloneAndItIsTold() throws {
        let bench = try Workbench {
            $0.faults.serviceErrors = .init(afterN: 0, count: .max, status: 503, retryAfter: 1)
        }
        try bench.start()
        try bench.register(Fleet(count: 3_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let relay = try #require(bench.relay)
        #expect(relay.waitForLine("the push service answers 5xx: sending is held", within: .seconds(60)) != nil)
        let reason = "the push service answers 503 ServiceUnavailable to nearly every push: sending waits"
        let told = try trouble(bench)
        #expect(told.contains(reason) && told.contains("outage:\(Workbench.app)"), "\(told)")
        let held = try bench.follow(id) { $0.reason?.hasPrefix(reason) == true && $0.counts["inFlight"] == 0 }
        #expect(held.state == "running" && held.addsUp && held.counts["accepted"] == 0)
        _ = try bench.scrape(until: { $0["upgrade_relay_push_service_held", "environment", "production"] == 1 })
        // The first batch, and a few probes on a slow machine: 300 requests would take hours.
        let sent = bench.simulator.figures.requests
        #expect((64..<300).contains(sent), "\(sent)")

        try bench.simulator.play(FaultScript())
        let end = try bench.follow(id, within: .seconds(60)) { $0.isFinal }
        #expect(end.state == "completed" && end.counts["accepted"] == 3_000 && end.reason == nil, "\(end)")
        #expect(bench.simulator.figures.duplicates == 0)
        #expect(
            relay.waitForLine("the push service takes pushes again: sending goes on", within: .seconds(60)) != nil)
        try bench.readiness(200)
        _ = try bench.scrape(until: { $0["upgrade_relay_push_service_held", "environment", "production"] == 0 })
    }

    @Test func aServerOnIPv6BehindAProxyIsReached() throws {
        let proxy = try ConnectProxy()
        defer { proxy.stop() }
        let bench = try Workbench { $0.address = "::1" }
        let server = "https://[::1]:\(bench.simulator.port)"
        try bench.push(to: server)
        try bench.start()
        try bench.register(Fleet(count: 100))
        let direct = try bench.follow(bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        #expect(direct.counts["accepted"] == 100)
        #expect(proxy.state.now.requests.isEmpty)

        try bench.edit { $0.replacing("\(server)\",", with: "\(server)\", proxy: \"http://127.0.0.1:\(proxy.port)\",") }
        let relay = try #require(bench.relay)
        relay.send(SIGHUP)
        #expect(relay.waitForLine(" reloaded", within: .seconds(60)) != nil)
        let tunnelled = try bench.follow(bench.campaign(of: bench.bump("2.1.0"))) { $0.isFinal }
        #expect(tunnelled.counts["accepted"] == 100)
        #expect(proxy.state.now.requests.first == "CONNECT [::1]:\(bench.simulator.port) HTTP/1.1")
    }
}
