// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// Answers that mean harm: each costs a bounded amount of memory and work, and no request its outcome.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneHostilityTests {
    @Test func anEndlessAnswerKeepsItsOutcomeAndNoMoreThanItsBeginning() throws {
        let bench = try Workbench { request in
            guard request.number == 3 else { return [.answer(200)] }
            return [
                .raw(Frame.headers([(":status", "410")], stream: request.streamID)),
                .raw(Frame.data(8192, stream: request.streamID), times: 7),
                .raw(Frame.data(8193, stream: request.streamID)),
            ]
        }
        defer { bench.finish() }
        bench.send(20)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 19)
        #expect(batch.answers[2].status == 410 && batch.answers[2].sends == 1)
        #expect(batch.bodies.map(\.count) == [4096])
        #expect(bench.peer.state.wait { $0.resets == [8] }, "RST_STREAM with CANCEL")
        #expect(bench.peer.state.now.connections == 1)
    }

    @Test func bodiesOfAnswersThatWereGivenUpDoNotReachOthers() throws {
        // The first answer is given up when its request's time is over; its DATA goes on while other requests are answered.
        let bench = try Workbench(configure: { $0.requestTimeout = Workbench.patience }) { request in
            guard request.connection == 0 else { return [.answer(500, [:], "second")] }
            return [
                .raw(Frame.headers([(":status", "500")], stream: request.streamID)),
                .raw(Frame.data(100, stream: request.streamID)),
            ]
        }
        defer { bench.finish() }
        bench.send(1)
        let first = try bench.collector.batches(1)[0]
        #expect(first.answers[0].status == 500 && first.bodies[0] == [UInt8](repeating: 0x78, count: 100))
        bench.send(5, from: 1)
        let second = try bench.collector.batches(2)[1]
        #expect(second.count(of: 500) == 5)
        #expect(second.bodies.allSatisfy { $0 == Array("second".utf8) })
    }

    @Test func whatAnInterimAnswerSaidDoesNotHold() throws {
        let bench = try Workbench { request in
            [
                .raw(Frame.headers([(":status", "103"), ("retry-after", "86400")], stream: request.streamID)),
                request.number == 1 ? .answer(503) : .answer(503, ["retry-after": "7"]),
            ]
        }
        defer { bench.finish() }
        bench.send(2)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map(\.status) == [503, 503])
        #expect(batch.answers.map(\.retryAfter) == [-1, 7])
    }

    @Test func aServerThatTakesConnectionsButAnswersNothingIsNotCalledWell() throws {
        let bench = try Workbench(configure: {
            $0.connection.pingAfterSilence = .milliseconds(200)
            $0.connection.pingTimeout = Workbench.patience
        }) { $0.connection < 2 ? [.silence] : [.answer(200)] }
        defer { bench.finish() }
        // A request that waits too long comes back unsent; more are sent, as the dispatcher would send it again.
        var batches: [RequestBatch] = []
        repeat {
            bench.send(3, from: 3 * batches.count)
            batches = try bench.collector.batches(batches.count + 1)
        } while batches.count < 4 && batches.last?.count(of: 200) == 0
        #expect(batches.map { $0.count(of: 200) }.reduce(0, +) >= 2)
        let conditions = bench.collector.state.now.conditions
        #expect(conditions.count == 4, "\(conditions)")
        #expect(conditions.first == .connected && conditions.last == .connected)
        for (count, condition) in conditions.dropFirst().dropLast().enumerated() {
            guard case .failing(let error, count + 1) = condition else {
                Issue.record("\(condition)")
                continue
            }
            #expect(error.contains("no answer to PING"))
        }
    }

    @Test func aRequestThatIsAlwaysRefusedComesBackUnsent() throws {
        let bench = try Workbench(maximumStreams: 8) { request in
            request.headers["apns-id"] == "id-5" ? [.reset(code: 7)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(1000)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers[5].kind == .unsent && batch.answers[5].sends == 64)
        #expect(batch.count(of: 200) == 999)
    }
}
