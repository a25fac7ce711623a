// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import TestPeers
import Testing
import UpgradeRules

@testable import FanOut
@testable import PushSimulator

/// A push service that cannot be reached delays its own pushes, and nothing else.
@Suite(.ownThread) struct ReachLiveTests {
    private static let devices = 1_000
    private static let fault = "apns:\(LiveBench.app.app)"
    private static let begins = "cannot reach the push service"
    private static let forgotten = "the push service is not waited for any more"

    private func counts(_ bench: LiveBench) throws -> CampaignCounts? {
        try bench.store.campaigns(before: nil, limit: 1).first?.figures.counts
    }

    private func text(_ bench: LiveBench) -> Comment {
        "\((try? counts(bench)) as Any) \((bench.fanOut?.faults()) as Any)"
    }

    // MARK: The sandbox alone

    /// A thousand devices, some of which are development builds.
    private func register(_ bench: LiveBench, sandbox: Set<Int>) throws {
        // Registered in order, so that the first batches hold the devices that the test names.
        for number in 1...Self.devices {
            try bench.register([number], environment: sandbox.contains(number) ? .sandbox : .production)
        }
    }

    /// Lets the time of the pushes that wait for the sandbox come, also while it is not dialed for some seconds yet: 33 minutes
    /// at most, because a provider token lives 50.
    private func finish(_ bench: LiveBench) throws -> CampaignRecord {
        for _ in 0..<100 {
            bench.clock.advance(by: .seconds(20))
            bench.fanOut?.poke()
            if let end = try? bench.wait(for: .completed, deadline: .milliseconds(600)) { return end }
        }
        return try bench.wait(for: .completed, deadline: .zero)
    }

    @Test(arguments: [
        // One of the first batch, which goes alone.
        [1],
        // Some of every batch.
        Array(stride(from: 5, through: devices, by: 10)),
        // All of the first batch.
        Array(1...64),
        // Most of the first batch.
        Array(1...50),
    ])
    func aSandboxThatCannotBeReachedHoldsUpNothingElse(sandbox: [Int]) throws {
        let bench = try LiveBench(sandboxIsAway: true)
        try register(bench, sandbox: Set(sandbox))
        try bench.start()
        try bench.raise()
        let isSent = try bench.until {
            guard let counts = try counts(bench) else { return false }
            return counts.accepted == Int64(Self.devices - sandbox.count) && counts.retrying == Int64(sandbox.count)
        }
        try #require(isSent, text(bench))
        #expect(bench.production.figures.requests == Self.devices - sandbox.count)
        #expect(bench.production.figures.duplicates == 0)
        let waiting = try bench.delivery(try #require(sandbox.last))
        #expect(waiting.state == .retrying && waiting.reason == "NoConnection" && waiting.attempts == 0)
        let fault = try #require(bench.fanOut?.faults()["\(Self.fault)/sandbox"])
        #expect(fault.hasPrefix("cannot reach the push service's sandbox: https://127.0.0.1:"))
        #expect(bench.fanOut?.faults()[Self.fault] == nil)
        let key = try bench.campaign().key
        #expect(bench.until { bench.fanOut?.figures(of: key).trouble == fault })
        // The clock stands: each was put back once, and none is retried before its time.
        let tally = try #require(bench.fanOut?.work.tallies[LiveBench.app])
        #expect(tally.retriedBy == ["NoConnection": sandbox.count])

        try bench.sandboxComes()
        let end = try finish(bench)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        #expect(bench.sandbox?.figures.requests == sandbox.count)
        #expect(bench.production.figures.requests == Self.devices - sandbox.count)
        #expect(bench.until { bench.fanOut?.faults().isEmpty ?? false })
        #expect(bench.lines.count(of: "cannot reach the push service") == 1)
    }

    // MARK: Pushes that are called back

    /// A peer that answers `answers` requests and then nothing.
    private func peer(_ identity: TestIdentity, answers: Int) throws -> ScriptedPeer {
        var manner = PeerManner()
        manner.maximumStreams = 10
        return try ScriptedPeer(identity, manner) { $0.number <= answers ? [.answer(200)] : [.hold] }
    }

    private func pool(_ peer: ScriptedPeer, _ identity: TestIdentity) -> PoolConfiguration {
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        pool.maximumConnections = 1
        // However busy the machine is, the connection ends only when the test ends it.
        pool.requestTimeout = .seconds(600)
        pool.connection.pingAfterSilence = .seconds(600)
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
        defer { bench.end(fanOut) }
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
            // Pushes that had not left are back: all that are on their way are on the connection.
            try bench.wait { try out(bench, fanOut) <= 500 }
            peer.stop()
            try #require(bench.lines.wait(for: "the campaign is complete", deadline: .seconds(60)))
            #expect(try bench.campaign().figures.counts.accepted == 3_000)
            #expect(other.state.now.requests.count == 3_000 - 64)
            #expect(fanOut.faults().isEmpty)
        }
    }

    @Test func aCancelledCampaignLeavesNothingBehindWhenTheServiceGoesAway() throws {
        try silenced { bench, fanOut, peer, _ in
            let key = try bench.campaign().key
            try #require(
                try bench.store.move(key, .cancelled, at: bench.clock.now))
            fanOut.poke()
            try bench.wait { try out(bench, fanOut) <= 500 }
            peer.stop()
            try bench.wait { fanOut.campaigns.isEmpty }
            let counts = try bench.campaign().figures.counts
            #expect(counts.accepted == 64 && counts.inFlight == 0, "\(counts)")
            #expect(fanOut.faults().isEmpty)
        }
    }

    // MARK: Reports

    private enum End: CaseIterable { case paused, cancelled, expired }

    @Test(arguments: End.allCases)
    private func noServiceIsMissedWhereNothingIsSent(end: End) throws {
        let bench = try LiveBench()
        let nobody = try Loopback.ReservedPort()
        try bench.register(1...100)
        try bench.start { $0.production.origin = Origin(host: "127.0.0.1", port: nobody.port) }
        try bench.raise()
        try #require(bench.until { bench.fanOut?.faults()[Self.fault] != nil })
        let campaign = try bench.campaign()
        func move(to event: CampaignChange) throws {
            try #require(try bench.store.move(campaign.key, event, at: bench.clock.now))
        }
        switch end {
        case .paused: try move(to: .paused)
        case .cancelled: try move(to: .cancelled)
        case .expired: bench.clock.advance(by: .seconds(86_400))
        }
        bench.fanOut?.poke()
        #expect(bench.until { bench.fanOut?.faults().isEmpty ?? false }, text(bench))
        #expect(bench.fanOut?.channels(of: LiveBench.app).allSatisfy { $0.waits.isEmpty } ?? false)
        #expect(bench.lines.count(of: Self.begins) == 1 && bench.lines.count(of: Self.forgotten) == 1)
    }

    /// The first answer refuses the credential, on a connection that has shown nothing good yet.
    @Test func aRefusedCredentialIsNotAServiceThatCannotBeReached() throws {
        var script = FaultScript()
        script.refusals = .init(afterN: 0, reason: "InvalidProviderToken")
        let bench = try LiveBench(script)
        try bench.register(1...100)
        try bench.start()
        try bench.raise()
        _ = try bench.wait(for: .suspended)
        #expect(bench.lines.count(of: Self.begins) == 0)
        #expect(bench.until { bench.fanOut?.faults().isEmpty ?? false }, text(bench))
    }

    @Test func anAppThatIsNotPushedToAnyMoreMissesNoDownloadURL() throws {
        let bench = try LiveBench()
        try bench.register(1...10)
        try bench.start { $0.downloadURL = nil }
        try bench.raise()
        let part = "app:\(LiveBench.app.app)/ios"
        try #require(bench.until { bench.fanOut?.faults()[part] != nil })
        bench.fanOut?.reroute([])
        #expect(bench.until { bench.fanOut?.faults().isEmpty ?? false }, text(bench))
    }
}
