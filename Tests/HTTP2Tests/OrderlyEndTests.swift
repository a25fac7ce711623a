// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// Services that end each connection after so many requests, as nginx does (`keepalive_requests`): that costs handshakes and
/// nothing else.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct OrderlyEndTests {
    /// - Parameters:
    ///   - ending: the step after the answer to the last request that a connection takes.
    /// - Returns: the number of connections that it took, and of sends, repeated ones included.
    private func deliver(
        _ pushes: Int, afterEach count: Int, ending: @escaping @Sendable (SeenRequest) -> Step
    ) throws -> (connections: Int, sends: Int) {
        let bench = try Workbench { $0.number == count ? [.answer(200), ending($0)] : [.answer(200)] }
        defer { bench.finish() }
        var (left, sent, sends, batches) = (pushes, 0, 0, 0)
        // Pushes that waited for longer than `PoolMachine.longestWait` come back unsent, and are sent again, as the dispatcher
        // does it. Their number depends on the machine's speed.
        while left > 0 {
            bench.send(left, from: sent)
            (sent, batches) = (sent + left, batches + 1)
            let batch = try bench.collector.batches(batches)[batches - 1]
            let answered = batch.count(of: 200)
            try #require(answered > 0 && answered + batch.count(of: Answer.Kind.unsent) == left)
            left -= answered
            sends += batch.answers.reduce(0) { $0 + Int($1.sends) }
        }
        #expect(bench.collector.state.now.conditions == [.connected], "nothing came to nothing")
        return (bench.peer.state.now.connections, sends)
    }

    @Test func aThousandForEachConnection() throws {
        let (connections, _) = try deliver(20_000, afterEach: 1000) { .goAway(lastStreamID: $0.streamID) }
        #expect((20...21).contains(connections), "\(connections)")
    }

    @Test func tenForEachConnection() throws {
        let (connections, sends) = try deliver(400, afterEach: 10) { .goAway(lastStreamID: $0.streamID) }
        #expect((40...41).contains(connections), "\(connections)")
        // Only the first connection is given far more than it takes; without that, each would be given all that is left.
        #expect(sends <= 1200, "\(sends)")
    }

    @Test func oneForEachConnection() throws {
        let (connections, _) = try deliver(20, afterEach: 1) { .goAway(lastStreamID: $0.streamID) }
        #expect((20...21).contains(connections), "\(connections)")
    }
}
