// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import RelayStoreSQLite
import TestPeers
import Testing
import UpgradeRules

@testable import FanOut

/// A push service that goes away keeps nobody from what has nothing to do with it.
@Suite(.ownThread) struct ReachLiveTests {
    // MARK: What was called back

    /// A peer that answers so many requests and then nothing.
    private func peer(_ identity: TestIdentity, answers: Int) throws -> ScriptedPeer {
        var manner = PeerManner()
        manner.maximumStreams = 10
        return try ScriptedPeer(identity, manner) { $0.number <= answers ? [.answer(200)] : [.hold] }
    }

    private func pool(_ peer: ScriptedPeer, _ identity: TestIdentity) -> PoolConfiguration {
        var pool = PoolConfiguration(origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.trustedCertificates = identity.authorityPath
        pool.maximumConnections = 1
        // However busy the machine is: the connection ends when the test says so.
        pool.requestTimeout = .seconds(600)
        pool.pingAfterSilence = .seconds(600)
        return pool
    }

    /// A campaign whose service has gone silent, with some batches behind the one that it holds.
    private func silenced(
        _ body: (_ bench: FanOutBench, _ fanOut: FanOut, _ peer: ScriptedPeer, _ identity: TestIdentity) throws -> Void
    ) throws {
        let bench = try FanOutBench(clockRuns: true)
        let identity = try TestIdentity()
        let peer = try peer(identity, answers: 64)
        try bench.register(3_000)
        var configuration = FanOut.Configuration()
        configuration.limits.batchSize = 500
        let fanOut = try bench.fanOut(pool(peer, identity), timeToLive: .seconds(3_600), configuration: configuration)
        defer {
            fanOut.stop(within: .zero)
            bench.store.close()
            try? FileManager.default.removeItem(at: bench.folder)
        }
        try bench.raise("2.0")
        fanOut.poke()
        try #require(peer.state.wait { $0.requests.count >= 64 + 10 })
        try bench.wait { try out(bench, fanOut) >= 2_000 }
        try body(bench, fanOut, peer, identity)
    }

    private func out(_ bench: FanOutBench, _ fanOut: FanOut) throws -> Int {
        let figures = fanOut.figures(of: try bench.campaign().key)
        return figures.shardRequestsOut + figures.retryRequestsOut
    }

    @Test func aReloadIsTakenAlthoughTheServiceGoesAwayMeanwhile() throws {
        try silenced { bench, fanOut, peer, identity in
            let other = try self.peer(identity, answers: .max)
            defer { other.stop() }
            fanOut.reroute([bench.route(pool(other, identity), timeToLive: .seconds(3_600))])
            // What had not left is back: all that is on its way is on the connection.
            try bench.wait { try out(bench, fanOut) <= 500 }
            peer.stop()
            try #require(bench.lines.wait(for: "the campaign is complete", deadline: .seconds(60)))
            #expect(try bench.campaign().counts.accepted == 3_000)
            #expect(other.state.now.requests.count == 3_000 - 64)
            #expect(fanOut.faults().isEmpty)
        }
    }

    @Test func aCancelledCampaignLeavesNothingBehindWhenTheServiceGoesAway() throws {
        try silenced { bench, fanOut, peer, _ in
            let key = try bench.campaign().key
            try #require(
                try bench.store.moveCampaign(key, from: [.running], to: .cancelled, reason: nil, at: bench.clock.now))
            fanOut.poke()
            try bench.wait { try out(bench, fanOut) <= 500 }
            peer.stop()
            try bench.wait { fanOut.campaigns.isEmpty }
            let counts = try bench.campaign().counts
            #expect(counts.accepted == 64 && counts.addsUp && counts.inFlight == 0, "\(counts)")
            #expect(fanOut.faults().isEmpty)
        }
    }
}
