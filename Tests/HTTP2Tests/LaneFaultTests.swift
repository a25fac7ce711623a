// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// The fate of requests when the peer misbehaves. Error codes: RFC 9113, 7.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneFaultTests {
    @Test func goAwayLosesNothingAndSendsNothingTwice() throws {
        // The first connection takes 1 + 20 streams, answers those up to the tenth, refuses the rest by GOAWAY.
        let bench = try Workbench(maximumStreams: 20) { request in
            guard request.connection == 0, request.number > 1 else { return [.answer(200)] }
            if request.number < 11 { return [.answer(200)] }
            if request.number == 11 {
                return [.goAway(lastStreamID: request.streamID - 2, debug: "{\"reason\":\"Shutdown\"}")]
            }
            return [.hold]
        }
        defer { bench.finish() }
        bench.send(100)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 100)
        // Every request was answered by one connection only; those that were refused were seen by the first as well.
        #expect(bench.seen.count == 100)
        #expect(bench.seen.values.allSatisfy { $0 <= 2 })
        #expect(bench.peer.state.now.connections == 2)
        #expect(bench.lane.figures.goAways == 1)
        #expect(bench.lane.figures.goAwaysByCode.filter { $0.count > 0 }.map(\.code) == ["NO_ERROR"])
        #expect(bench.lane.figures.retirementsByReason.first { $0.reason == "goAway" }?.count == 1)
        #expect(bench.lane.figures.resends >= 1)
    }

    @Test func theReasonOfAGoAwayIsToldWhereItIsInTheWay() throws {
        // The first connection fails, with a reason.
        let bench = try Workbench { request in
            guard request.connection == 0 else { return [.answer(200)] }
            return [.goAway(lastStreamID: 0, debug: "{\"reason\":\"Shutdown\"}")]
        }
        defer { bench.finish() }
        bench.send(1)
        #expect(try bench.collector.batches()[0].count(of: 200) == 1)
        guard case .failing(let error, 1)? = bench.collector.state.now.conditions.dropFirst().first else {
            Issue.record("\(bench.collector.state.now.conditions)")
            return
        }
        #expect(error.hasSuffix("GOAWAY NO_ERROR {\"reason\":\"Shutdown\"}"))
    }

    @Test func afterGoAwayTheOthersAreStillAnsweredWhileTheReplacementWorks() throws {
        // GOAWAY covers what is in flight: its answer is awaited on the old connection while the new one works.
        let bench = try Workbench { request in
            guard request.connection == 0 else { return [.answer(200)] }
            return switch request.number {
            case 1: [.answer(200)]
            case 2: [.hold, .goAway(lastStreamID: .max)]
            default: [.hold]
            }
        }
        defer { bench.finish() }
        bench.send(1)
        _ = try bench.collector.batches(1)
        bench.send(1, from: 1)
        // The replacement is dialled because of the request in flight, before anything else is queued.
        #expect(bench.peer.state.wait { $0.requests.count == 2 && $0.connections == 2 })
        bench.send(10, from: 10)
        #expect(bench.peer.state.wait { $0.requests.count == 12 })
        #expect(try bench.collector.batches(2).last?.count(of: 200) == 10)
        bench.peer.release()
        let last = try bench.collector.batches(3)[2]
        #expect(last.count(of: 200) == 1 && last.answers[0].sends == 1)
    }

    @Test func refusedStreamsGoOutAgain() throws {
        let bench = try Workbench { request in
            request.connection == 0 && (3...6).contains(request.number) ? [.reset(code: 7)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(20)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 20)
        #expect(batch.answers.reduce(0) { $0 + Int($1.sends) } == 24)
        #expect(bench.peer.state.now.connections == 1, "a few refusals are no reason to leave")
    }

    @Test func aConnectionThatRefusesAgainAndAgainIsLeft() throws {
        let bench = try Workbench { request in
            request.connection == 0 && request.number > 1 ? [.reset(code: 7)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(20)
        #expect(try bench.collector.batches()[0].count(of: 200) == 20)
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func whatWasInFlightOnADeadConnectionGoesOutOnceMoreWithTheSameBytes() throws {
        let bench = try Workbench { request in
            if request.connection == 0, request.number == 5 { return [.cut] }
            return request.connection == 0 && request.number > 1 ? [.hold] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(5)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 5)
        #expect(batch.answers.map(\.sends) == [1, 2, 2, 2, 2])
        let requests = bench.peer.state.now.requests
        for number in 1..<5 {
            let twice = requests.filter { $0.headers["apns-id"] == "id-\(number)" }
            #expect(twice.count == 2)
            #expect(twice.first?.headers == twice.last?.headers)
            #expect(twice.first?.body == twice.last?.body)
            #expect(Set(twice.map(\.connection)) == [0, 1])
        }
    }

    @Test func aRequestThatKillsTwoConnectionsIsLost() throws {
        let bench = try Workbench { request in request.headers["apns-id"] == "id-1" ? [.cut] : [.answer(200)] }
        defer { bench.finish() }
        bench.send(1)
        _ = try bench.collector.batches(1)
        bench.send(1, from: 1)
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.answers[0].kind == .lost)
        #expect(batch.answers[0].sends == 2)
        #expect(bench.seen["id-1"] == 2)
        // The pool still works: the next request goes through.
        bench.send(1, from: 2)
        #expect(try bench.collector.batches(3)[2].count(of: 200) == 1)
    }

    @Test func aResetWithAnotherCodeGoesOutOnceMoreElsewhere() throws {
        let bench = try Workbench { request in request.headers["apns-id"] == "id-3" ? [.reset(code: 2)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(6)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 5)
        #expect(batch.answers[3].kind == .lost && batch.answers[3].sends == 2)
        let places = bench.peer.state.now.requests.filter { $0.headers["apns-id"] == "id-3" }.map(\.connection)
        #expect(Set(places).count == 2)
    }

    @Test(arguments: [
        [0x00, 0x00, 0x10, 0x01],  // a HEADERS frame that is cut in its own head
        [UInt8](repeating: 0xFF, count: 64),  // no frame at all
        [0x00, 0x00, 0x04, 0x01, 0x04, 0, 0, 0, 0x03, 0xFF, 0xFF, 0xFF, 0xFF],  // an HPACK index out of the world
        [0x00, 0x00, 0x00, 0x01, 0x04, 0, 0, 0, 0x02],  // HEADERS on a stream of the server's that nobody asked for
    ])
    func brokenFramesEndTheConnectionAndNothingElse(bytes: [UInt8]) throws {
        let bench = try Workbench { request in
            guard request.connection == 0, request.number > 1 else { return [.answer(200)] }
            return bytes.count == 4 ? [.raw(bytes), .cut] : [.raw(bytes)]
        }
        defer { bench.finish() }
        bench.send(4)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 4)
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func endlessHeadersEndTheConnection() throws {
        // HEADERS without END_HEADERS, then CONTINUATION after CONTINUATION of literal fields "a: 16000 x b".
        let field: [UInt8] = [0x00, 0x01, 0x61, 0x7F, 0xE1, 0x7B] + [UInt8](repeating: 0x62, count: 16_000 - 32)
        @Sendable func frame(_ type: UInt8, _ payload: [UInt8], stream: UInt8) -> [UInt8] {
            let count = payload.count
            return [0, UInt8(count >> 8), UInt8(count & 0xFF), type, 0, 0, 0, 0, stream] + payload
        }
        let bench = try Workbench { request in
            guard request.connection == 0, request.number > 1 else { return [.answer(200)] }
            var bytes = frame(1, [0x88], stream: UInt8(request.streamID))
            for _ in 0..<12 { bytes += frame(9, field, stream: UInt8(request.streamID)) }
            return [.raw(bytes)]
        }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) + batch.count(of: .lost) == 3)
        #expect(bench.peer.state.now.connections >= 2)
    }

    @Test func aRequestWithoutAnswerGoesElsewhereAfterItsTime() throws {
        let bench = try Workbench(configure: { $0.requestTimeout = Workbench.patience }) { request in
            request.headers["apns-id"] == "id-1" && request.connection == 0 ? [.hold] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 3)
        #expect(batch.answers.map(\.sends) == [1, 2, 1])
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func aRequestWithoutAnswerTwiceIsLost() throws {
        let bench = try Workbench(configure: { $0.requestTimeout = Workbench.patience }) { request in
            request.headers["apns-id"] == "id-1" ? [.hold] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(3)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map(\.kind) == [.answered, .lost, .answered])
        #expect(batch.answers[1].sends == 2)
    }

    @Test func aSilentPeerIsFoundByPing() throws {
        let bench = try Workbench(configure: {
            $0.connection.pingAfterSilence = .milliseconds(300)
            $0.connection.pingTimeout = Workbench.patience
        }) { request in
            request.connection == 0 && request.number == 2 ? [.silence] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(5)
        #expect(try bench.collector.batches()[0].count(of: 200) == 5)
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func aSlowPeerThatAnswersPingsIsLeftAlone() throws {
        let bench = try Workbench(configure: {
            $0.connection.pingAfterSilence = .milliseconds(100)
            $0.connection.pingTimeout = .seconds(60)
        }) { _ in [.hold] }
        defer { bench.finish() }
        bench.send(1)
        #expect(bench.peer.state.wait { $0.pings >= 2 })
        bench.peer.release()
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 1 && batch.answers[0].sends == 1)
    }

    @Test func anIdleConnectionIsPinged() throws {
        let bench = try Workbench(configure: { $0.connection.idlePing = .milliseconds(300) }) { _ in [.answer(200)] }
        defer { bench.finish() }
        bench.send(1)
        _ = try bench.collector.batches()
        #expect(bench.peer.state.wait { $0.pings >= 2 })
        #expect(bench.peer.state.now.connections == 1)
    }

    @Test func recycleMeansAnotherConnection() throws {
        let bench = try Workbench(judge: FixedJudge(verdicts: [503: .recycle])) { request in
            request.connection == 0 && request.number == 3 ? [.answer(503)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(3)
        let first = try bench.collector.batches(1)[0]
        #expect(first.count(of: 503) == 1)
        bench.send(3, from: 10)
        #expect(try bench.collector.batches(2)[1].count(of: 200) == 3)
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func haltHandsBackWhatHasNotBeenSent() throws {
        let bench = try Workbench(judge: FixedJudge(verdicts: [403: .halt])) { _ in
            [.answer(403, [:], "{\"reason\":\"InvalidProviderToken\"}")]
        }
        defer { bench.finish() }
        bench.send(1000)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 403) == 1, "a new connection carries one request until it is proven")
        #expect(batch.count(of: .unsent) == 999)
        #expect(bench.peer.state.now.requests.count == 1)
    }
}
