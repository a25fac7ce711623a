// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import TestPeers
import Testing

/// Breaches of the protocol after which nghttp2 ends the session, but only once its GOAWAY has left.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct DyingSessionTests {
    struct Breach: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: @Sendable (Int32) -> [UInt8]

        static let all = [
            Breach(testDescription: "an HPACK index out of the world") {
                Frame.of(1, flags: Frame.endHeaders, stream: $0, [0xFF, 0xFF, 0xFF, 0x01])
            },
            Breach(testDescription: "a PING of seven bytes") { _ in Frame.of(6, [1, 2, 3, 4, 5, 6, 7]) },
            Breach(testDescription: "DATA instead of an answer") {
                Frame.data(10, flags: Frame.endStream, stream: $0)
            },
            Breach(testDescription: "a window that overflows") { _ in Frame.windowUpdate(0x7FFF_FFFF, stream: 0) },
        ]
    }

    private static let streams = 100

    @Test(arguments: Breach.all)
    func whatWaitsIsNotSpentOnASessionThatEnds(breach: Breach) throws {
        let bench = try Workbench(maximumStreams: Self.streams) { request in
            guard request.connection == 0, request.number > 1 else { return [.answer(200)] }
            guard request.number == Self.streams else { return [] }
            // One record, so that the answers make room in the same turn in which the session ends.
            let answers = (1...10).flatMap {
                Frame.headers(
                    [(":status", "200")], flags: Frame.endHeaders | Frame.endStream, stream: Int32(2 * $0 + 1))
            }
            return [.raw(answers + breach.bytes(request.streamID))]
        }
        defer { bench.finish() }
        bench.send(2_000)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 2_000)
        #expect(batch.answers.allSatisfy { $0.sends <= 2 }, "\(batch.answers.map(\.sends).max() ?? 0)")
        #expect(bench.lane.figures.resends <= Self.streams, "\(bench.lane.figures.resends)")
        #expect(bench.lane.figures.requestsSent <= 2_000 + Self.streams)
        #expect(bench.lane.figures.retirementsByReason.first { $0.reason == "died" }?.count == 1)
        #expect(bench.peer.state.now.connections == 2)
    }
}
