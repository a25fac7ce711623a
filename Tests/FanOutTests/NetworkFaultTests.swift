// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FanOut
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import TestPeers
import Testing

/// The whole way, from the store to a peer that misbehaves and back into the ledger: nothing is lost, and a push that is sent
/// again is the same push.
@Suite(.ownThread) struct NetworkFaultTests {
    @Test(.timeLimit(.minutes(60)), arguments: NetworkFault.all)
    func nothingIsLost(fault: NetworkFault) throws {
        let bench = try FanOutBench(clockRuns: true)
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, fault.manner, script: fault.script)
        defer { peer.stop() }
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        // On a busy machine one connection may be full for so long that another is rightly dialed beside it. This test checks
        // only whether it is replaced.
        pool.maximumConnections = 1
        fault.configure(&pool)
        try bench.register(NetworkFault.devices)
        let fanOut = try bench.fanOut(pool, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .zero) }
        try bench.raise("2.0")
        fanOut.poke()
        let isComplete = bench.lines.wait(for: "the campaign is complete", deadline: .seconds(120))
        let counts = try bench.campaign().figures.counts
        try #require(isComplete, "\(counts) \(fanOut.faults())")

        // The ledger: all are accepted, each with at least as many attempts as the peer saw.
        let state = peer.state.now
        #expect(counts.accepted == Int64(NetworkFault.devices), "\(counts)")
        let seen = Dictionary(grouping: state.requests) { $0.headers[":path"] ?? "" }
        for delivery in try bench.deliveries() {
            let requests = seen["/3/device/\(delivery.token)"] ?? []
            #expect(delivery.state == .accepted && delivery.reason == nil)
            #expect(delivery.attempts >= (fault.handsBack ? 1 : max(1, requests.count)))
            // Every push reached the peer, whatever the fault.
            #expect(!requests.isEmpty, "\(delivery) was never sent")
        }
        // The peer: every repetition is the same push to the last byte.
        #expect(seen.count == NetworkFault.devices)
        for requests in seen.values where requests.count > 1 {
            #expect(Set(requests.map { $0.headers["apns-id"] }).count == 1)
            #expect(Set(requests.map(\.headers)).count == 1 && Set(requests.map(\.body)).count == 1)
        }
        let repeated = state.requests.count - seen.count
        #expect(repeated <= fault.repeated)
        #expect(fanOut.laneFigures.reduce(0) { $0 + $1.resends } <= fault.resends)
        #expect(
            state.connections == fault.connections,
            "\(fanOut.laneFigures.map { ($0.retirementsByReason, $0.dials, $0.dialFailures) })")
        // Nothing is wrong any more, and no fault is shown.
        #expect(fanOut.faults().isEmpty)
        let rest = rest(state)
        #expect(fault.rest.contains(rest), "\(rest)")
        print("| \(fault.testDescription) | 1 | 0 | \(repeated) | \(rest) |")
    }

    @Test(.timeLimit(.minutes(60))) func aPushThatIsAlwaysRefusedKeepsItsSchedule() throws {
        let bench = try FanOutBench()
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let identity = try TestIdentity()
        var manner = PeerManner()
        manner.maximumStreams = 8
        let token = String(format: "%064x", 70)
        let peer = try ScriptedPeer(identity, manner) {
            $0.headers[":path"] == "/3/device/\(token)" ? [.reset(code: 7)] : [.answer(200)]
        }
        defer { peer.stop() }
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        try bench.register(1_200)
        let fanOut = try bench.fanOut(pool, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .zero) }
        try bench.raise("2.0")
        fanOut.poke()
        // All others are accepted. The clock stands, so the refused push is not tried again before its time.
        try bench.wait { try bench.counts().map { $0.retrying == 1 && $0.pending == 0 } ?? false }
        func tries(_ state: ScriptedPeer.State) -> Int {
            state.requests.count { $0.headers[":path"] == "/3/device/\(token)" }
        }
        #expect(tries(peer.state.now) == PoolMachine.sendLimit)
        #expect(!peer.state.wait(seconds: 0, milliseconds: 500) { tries($0) > PoolMachine.sendLimit })
        let counts = try bench.campaign().figures.counts
        #expect(counts.accepted == 1_199 && counts.retrying == 1)
        let refused = try #require(try bench.deliveries().first { $0.token == token })
        #expect(refused.reason == "StreamRefused" && refused.attempts == 1)
        #expect(try #require(refused.nextAttemptAt) >= bench.clock.now + .seconds(1))
    }

    @Test(.timeLimit(.minutes(60)), arguments: [403, 400])
    func aRefusalWhoseReasonNeverComesIsTriedAgainLater(status: Int) throws {
        let bench = try FanOutBench()
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let identity = try TestIdentity()
        let token = String(format: "%064x", 70)
        let peer = try ScriptedPeer(identity, PeerManner()) {
            guard $0.headers[":path"] == "/3/device/\(token)" else { return [.answer(200)] }
            return [.raw(Frame.headers([(":status", String(status))], stream: $0.streamID)), .reset(code: 2)]
        }
        defer { peer.stop() }
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        try bench.register(100)
        let fanOut = try bench.fanOut(pool, timeToLive: .seconds(3_600))
        defer { fanOut.stop(within: .zero) }
        try bench.raise("2.0")
        fanOut.poke()
        // The campaign is not suspended, and the push is not given up. The clock stands, so it is not tried again yet.
        try bench.wait { try bench.counts().map { $0.retrying == 1 && $0.pending == 0 } ?? false }
        #expect(try bench.campaign().figures.counts.accepted == 99)
        #expect(try bench.campaign().state == .running)
        let refused = try #require(try bench.deliveries().first { $0.token == token })
        #expect(refused.reason == "ConnectionLost" && refused.attempts == 2)
    }

    /// The longest time without an answer, from the first connection on.
    private func rest(_ state: ScriptedPeer.State) -> Duration {
        let times = state.connectedAt.prefix(1) + state.answers.map(\.at).sorted()
        let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
        return .milliseconds(longest.milliseconds)
    }
}
