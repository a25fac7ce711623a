// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestPeers
import Testing

@testable import FanOut

/// One request, many pushes: each push has its own outcome, attempts and next time, whatever its request's answer names.
@Suite(.ownThread) struct BatchProviderTests {
    private func bench(pushesPerRequest: Int = 100) throws -> DispatcherBench {
        try DispatcherBench { $0.provider = BatchProvider(pushesPerRequest: pushesPerRequest) }
    }

    /// The tokens of a request, as the test's devices are numbered.
    private func numbers(_ place: Int, _ batch: RequestBatch) -> [Int] {
        let slice = batch.bytes.slots[place]
        return String(decoding: batch.bytes.arena[slice.range], as: UTF8.self).split(separator: ",")
            .map { Int($0, radix: 16) ?? 0 }
    }

    private func dead(_ numbers: some Sequence<Int>) -> TestLane.Reply {
        TestLane.Reply(body: "dead: " + numbers.map(LiveBench.token).joined(separator: ","))
    }

    @Test func theDeadThatAnAnswerNamesAreGivenUpAndNoOthers() throws {
        let bench = try bench()
        try bench.register(1...1_050)
        try bench.raise()
        var requests: [Int] = []
        bench.serve("production") { place, batch in
            let numbers = numbers(place, batch)
            requests.append(numbers.count)
            let gone = numbers.filter { $0 % 50 == 0 }
            return gone.isEmpty ? TestLane.Reply() : dead(gone)
        }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .completed)
        #expect(campaign.figures.counts.accepted == 1_029 && campaign.figures.counts.unregistered == 21)
        #expect(requests.reduce(0, +) == 1_050 && requests.allSatisfy { $0 <= 100 })
        #expect(requests.first == 64, "the first are few, until the service has taken them")
        #expect(requests.count <= 20, "\(requests)")
        #expect(try bench.bench.retired() == 21)
        for delivery in try bench.bench.deliveries() {
            let isDead = (Int(delivery.token, radix: 16) ?? 0) % 50 == 0
            #expect(delivery.state == (isDead ? .unregistered : .accepted) && delivery.attempts == 1)
            #expect(delivery.reason == (isDead ? "Dead" : nil))
        }
    }

    @Test func aRequestThatFailsIsTriedAgainPushByPush() throws {
        let bench = try bench()
        try bench.register(1...400)
        try bench.raise()
        bench.serve("production", turns: 1)
        bench.serve("production", turns: 1) { place, batch in
            numbers(place, batch).contains(100) ? TestLane.Reply(status: 500, body: "out of order") : TestLane.Reply()
        }
        bench.serve("production")
        let counts = try bench.counts
        #expect(counts.retrying == 100 && counts.accepted == 300)
        #expect(
            try bench.bench.deliveries().filter { $0.state == .retrying }.allSatisfy {
                $0.attempts == 1 && $0.reason == "HTTP 500"
            })
        // "For a 500, after 15 minutes" at first.
        for _ in 0..<20 {
            bench.pass(.seconds(60))
            bench.turn()
            bench.serve("production")
        }
        #expect(try bench.bench.campaign().state == .completed)
        #expect(try bench.counts.accepted == 400)
        #expect(try bench.bench.deliveries().count { $0.attempts == 2 } == 100)
    }

    @Test func oneAnswerIsNoOutage() throws {
        let bench = try bench()
        try bench.register(1...1_000)
        try bench.raise()
        var requests = 0
        // The first fails, with its 64 pushes: more than the answers by which an outage is judged.
        bench.serve("production") { place, _ in
            requests += 1
            return requests == 1 ? TestLane.Reply(status: 503, body: "busy") : TestLane.Reply()
        }
        #expect(requests > 8 && bench.lane.waiting(at: "production") == 0)
        #expect(try bench.counts.accepted == 936 && bench.counts.retrying == 64)
        #expect(try bench.counts.pending == 0, "the others did not wait")
    }

    @Test func aServiceThatNamesNearlyAllTokensCostsNone() throws {
        let bench = try bench()
        try bench.register(1...500)
        try bench.raise()
        bench.serve("production") { place, batch in dead(numbers(place, batch)) }
        let campaign = try bench.bench.campaign()
        #expect(campaign.state == .suspended, "\(campaign.state)")
        #expect(try bench.bench.retired() == 0)
    }

    @Test func aRefusedCredentialSuspendsTheCampaign() throws {
        let bench = try bench()
        try bench.register(1...500)
        try bench.raise()
        bench.serve("production", status: 403, reason: "no")
        #expect(try bench.bench.campaign().state == .suspended)
        #expect(try bench.bench.retired() == 0)
    }

    // MARK: By libcurl, from end to end

    @Test(.timeLimit(.minutes(60)), arguments: [true, false]) func everyPushHasItsOutcomeOverTheWire(isFaulty: Bool)
        throws
    {
        let bench = try FanOutBench(clockRuns: true)
        let identity = try TestIdentity()
        let seen = Mutex<[Int: Int]>([:])
        let peer = try ScriptedPeer(identity, PeerManner()) { request in
            let numbers = String(decoding: request.body, as: UTF8.self).split(separator: ",").compactMap {
                Int($0, radix: 16)
            }
            seen.withLock { seen in for number in numbers { seen[number, default: 0] += 1 } }
            // Connections that end in the middle, requests without an answer.
            if isFaulty, request.connection == 0, request.number == 3 { return [.cut] }
            if isFaulty, request.connection == 1, request.number == 2 { return [.reset(code: 2)] }
            let dead = numbers.filter { $0 % 100 == 7 }
            return dead.isEmpty
                ? [.answer(200, [:], "ok")]
                : [.answer(200, [:], "dead: " + dead.map(LiveBench.token).joined(separator: ","))]
        }
        defer { peer.stop() }
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        try bench.register(5_000)
        let fanOut = try bench.fanOut(
            pool, timeToLive: .seconds(3_600), change: { $0.provider = BatchProvider(pushesPerRequest: 500) })
        defer { bench.end(fanOut) }
        try bench.raise("2.0")
        fanOut.poke()
        try bench.wait { try bench.store.campaigns(before: nil, limit: 1).first?.state == .completed }
        let counts = try bench.campaign().figures.counts
        #expect(counts.accepted == 4_950 && counts.unregistered == 50, "\(counts)")
        #expect(try bench.retired() == 50)
        let pushes = seen.withLock(\.self)
        #expect(pushes.count == 5_000)
        #expect(pushes.values.allSatisfy { isFaulty ? $0 <= 3 : $0 == 1 })
        #expect(peer.state.now.requests.count < 40, "\(peer.state.now.requests.count) requests")
        #expect(fanOut.laneFigures.count == 2 && fanOut.laneFigures[0].requestsSent == 0)
        #expect(fanOut.laneFigures[1].requestsSent == peer.state.now.requests.count)
    }
}
