// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import TestPeers
import Testing

/// Answers whose END_STREAM never comes (RFC 9113, 8.1: the flag ends the message). The meaning of a refusal is in its body.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct UnfinishedAnswerTests {
    /// The ways in which an answer ends early.
    enum End: CaseIterable {
        case cut, reset, resetWithoutError, timeout

        var steps: [Step] {
            switch self {
            case .cut: [.endOfOutput]
            case .reset: [.reset(code: 2)]
            case .resetWithoutError: [.reset(code: 0)]
            case .timeout: []
            }
        }
    }

    private static func beginning(of status: Int, on stream: Int32, body: String) -> Step {
        let data = body.isEmpty ? [] : Frame.of(0, stream: stream, Array(body.utf8))
        return .raw(Frame.headers([(":status", String(status))], stream: stream) + data)
    }

    /// Answers id-1 with the beginning of an answer if `isChosen` returns true for how often it came before, all others with
    /// 200.
    private func bench(
        _ status: Int, _ body: String, _ end: End, isChosen: @escaping @Sendable (Int) -> Bool
    ) throws -> Workbench {
        let times = Watched(0)
        // A refusal that was taken as final would also hand the queue back.
        return try Workbench(
            judge: FixedJudge(verdicts: [UInt16(status): .halt]),
            configure: { if end == .timeout { $0.requestTimeout = Workbench.patience } }
        ) { request in
            guard request.headers["apns-id"] == "id-1" else { return [.answer(200)] }
            let before = times.change { times in
                times += 1
                return times - 1
            }
            guard isChosen(before) else { return [.answer(200)] }
            return [Self.beginning(of: status, on: request.streamID, body: body)] + end.steps
        }
    }

    /// A 200 with an unexpected body is judged like any bad answer.
    @Test func aGoodStatusWithABadBodyIsNoDelivery() throws {
        let bench = try Workbench(judge: FixedJudge(good: Array("{\"name\"".utf8))) { request in
            let body = request.headers["apns-id"] == "id-1" ? "{\"error\": {}}" : "{\"name\": 1}"
            return [.answer(200, [:], body)]
        }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map { $0.body >= 0 } == [false, true, false])
        #expect(batch.bodies == [Array("{\"error\": {}}".utf8)])
    }

    @Test(
        arguments: End.allCases, [(302, ""), (400, ""), (400, #"{"reason":"Idle"#), (403, ""), (403, "{"), (413, "")])
    func aRefusalWithoutItsReasonGoesOutOnceMore(end: End, answer: (status: Int, body: String)) throws {
        let bench = try bench(answer.status, answer.body, end) { $0 == 0 }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.bodies.isEmpty && batch.answers[1].sends == 2)
        if end == .timeout {
            // The second answer may have to wait for a processor longer than such a short time-out.
            #expect(batch.answers[1].status != answer.status)
        } else {
            #expect(batch.count(of: 200) == 3)
        }
    }

    @Test(arguments: [End.cut, .reset, .resetWithoutError], [400, 403])
    func aRefusalThatNeverComesWholeIsLost(end: End, status: Int) throws {
        let bench = try bench(status, #"{"reason":"#, end) { _ in true }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map(\.kind) == [.answered, .lost, .answered])
        #expect(batch.answers[1].sends == 2 && batch.bodies.isEmpty)
    }

    /// Sending these again could show a notice twice, ask more of a service that is at its limit, or gain nothing.
    @Test(arguments: [End.cut, .reset, .resetWithoutError], [200, 410, 429, 500, 503])
    func whatTheStatusSaysAloneIsFinal(end: End, status: Int) throws {
        let bench = try bench(status, "half", end) { _ in true }
        defer { bench.finish() }
        bench.send(1, from: 1)
        let answer = try bench.collector.batches()[0].answers[0]
        #expect(answer.kind == .answered && answer.status == status && answer.sends == 1)
    }

    /// The server may answer before it has the whole request, and then end the stream (RFC 9113, 8.1).
    @Test(arguments: [.reset(code: 0), .reset(code: 8), .endOfOutput] as [Step])
    func aWholeAnswerToHalfARequestIsFinal(end: Step) throws {
        var manner = PeerManner()
        manner.isHasty = true
        manner.window = { _ in 0 }
        let bench = try Workbench(manner: manner) { request in
            let stream = request.streamID
            // The first request may leave before the window of 0 is known; no body of a later one does.
            guard request.number > 1 else {
                let flags = Frame.endStream | Frame.endHeaders
                return [.raw(Frame.headers([(":status", "200")], flags: flags, stream: stream)), .reset(code: 0)]
            }
            return [
                .raw(
                    Frame.headers([(":status", "413")], stream: stream)
                        + Frame.data(10, flags: Frame.endStream, stream: stream)), end,
            ]
        }
        defer { bench.finish() }
        bench.send(1)
        #expect(try bench.collector.batches(1)[0].count(of: 200) == 1)
        bench.send(1, from: 1)
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.answers[0].status == 413 && batch.answers[0].sends == 1)
        #expect(batch.bodies == [[UInt8](repeating: 0x78, count: 10)])
    }

    /// DATA and then nothing, DATA and then trailers, no DATA at all.
    @Test(arguments: [0, 1, 2]) func anAnswerMayEndInMoreWaysThanOne(way: Int) throws {
        let bench = try Workbench { request in
            let stream = request.streamID
            let last = Frame.endStream | Frame.endHeaders
            let rest =
                switch way {
                case 0: Frame.data(10, stream: stream) + Frame.data(0, flags: Frame.endStream, stream: stream)
                case 1: Frame.data(10, stream: stream) + Frame.headers([("a", "b")], flags: last, stream: stream)
                default: [UInt8]()
                }
            return [
                .raw(
                    Frame.headers([(":status", "404")], flags: way == 2 ? last : Frame.endHeaders, stream: stream)
                        + rest)
            ]
        }
        defer { bench.finish() }
        bench.send(1)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers[0].status == 404 && batch.answers[0].sends == 1)
        #expect(batch.bodies.map(\.count) == (way == 2 ? [] : [10]))
    }

    @Test func theBodyOfOneThatWasCutOffDoesNotReachOthers() throws {
        let bench = try Workbench { request in
            guard request.connection == 0, request.number > 1 else { return [.answer(200)] }
            guard request.number == 3 else {
                return [Self.beginning(of: 403, on: request.streamID, body: "first")]
            }
            return [.raw(Frame.reset(2, stream: request.streamID - 2)), .answer(400, [:], "second")]
        }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map(\.status) == [200, 200, 400])
        #expect(batch.bodies == [Array("second".utf8)])
    }
}
