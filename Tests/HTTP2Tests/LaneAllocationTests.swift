// SPDX-License-Identifier: Apache-2.0
import CAllocationCount
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// The number of allocations of the lane's own thread, as each batch came back.
private final class AllocationMeter: BatchReceiver {
    let counts = Watched<[Int]>([])

    func finished(_ batch: RequestBatch) {
        let count = Int(allocation_count())
        counts.change { $0.append(count) }
    }

    func pool(_ pool: PoolID, carries streams: Int) {}

    func pool(_ pool: PoolID, is condition: PoolCondition) {}

    func count(after batches: Int) throws -> Int {
        try #require(counts.wait { $0.count >= batches }, "batches did not come back")
        return counts.now[batches - 1]
    }
}

@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneAllocationTests {
    /// Allocations of the lane's thread for each push. A batch and a turn of the loop cost some; nghttp2 alone would make six
    /// for each request with malloc. Without optimisation our own code has a few for closures and iterators.
    #if DEBUG
        private static let bound = 4.0
    #else
        private static let bound = 0.2
    #endif

    @Test(.enabled(if: allocation_count() >= 0, "a sanitizer has malloc to itself"))
    func aPushTakesNoMemoryOnceTheLaneIsWarm() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { _ in [.answer(200)] }
        defer { peer.stop() }
        let lane = try Lane(name: "test lane")
        defer { lane.stop(deadline: .zero) }
        var configuration = PoolConfiguration(
            .apns, egress: .direct, origin: Origin(host: "localhost", port: peer.port))
        configuration.dialer.egress.trustedCertificates = identity.authorityPath
        configuration.maximumConnections = 1
        configuration.connection.maximumStreams = 200
        let meter = AllocationMeter()
        let pool = lane.addPool(configuration, judge: FixedJudge(), receiver: meter)
        let size = 1000
        func send(_ batches: Range<Int>) {
            for number in batches { lane.submit(Workbench.batch(size, from: number * size), to: pool) }
        }
        send(0..<4)
        let warm = try meter.count(after: 4)
        send(4..<12)
        let perPush = Double(try meter.count(after: 12) - warm) / Double(8 * size)
        #expect(perPush < Self.bound, "\(perPush) allocations per push")
    }
}
