// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneTests {
    @Test func everyRequestGetsItsAnswerAndArrivesAsItWasWritten() throws {
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        bench.send(3, tag: 7)
        let batch = try bench.collector.batches()[0]
        #expect(batch.tag == 7)
        #expect(batch.answers.allSatisfy { $0.kind == .answered && $0.status == 200 && $0.sends == 1 })
        #expect(batch.answers.allSatisfy { $0.body == -1 && $0.retryAfter == -1 })
        let requests = bench.peer.state.now.requests
        #expect(requests.count == 3)
        for (number, request) in requests.enumerated() {
            #expect(
                request.headers == [
                    ":method": "POST", ":scheme": "https", ":authority": "push.example", ":path": "/3/device/\(number)",
                    "authorization": "bearer a.b.c", "apns-id": "id-\(number)", "apns-topic": "com.example.app",
                ])
            #expect(String(decoding: request.body, as: UTF8.self) == "{\"to\":\"user \(number)\"}")
        }
        #expect(bench.collector.state.now.conditions == [.connected])
        #expect(bench.lane.figures.requestsSent == 3)
        #expect(bench.lane.figures.connectionsOpened == 1)
        #expect(bench.lane.figures.dials == 1)
        #expect(bench.lane.figures.latency.count == 3)
        #expect(batch.latency == bench.lane.figures.latency, "the batch has the times of its own answers")
        #expect((0..<60).contains(bench.lane.figures.latency.seconds))
    }

    @Test func oneStreamUntilTheFirstGoodAnswerThenAsManyAsSettingsAllow() throws {
        // SETTINGS allow 1000 from the start; the first request is held, so a careless client would send all at once.
        let bench = try Workbench(maximumStreams: 50) {
            $0.number == 1 ? [.hold] : $0.number < 60 ? [.hold] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(200)
        #expect(bench.peer.state.wait { $0.requests.count == 1 })
        #expect(bench.peer.state.now.widest == 1)
        bench.peer.release()
        #expect(bench.peer.state.wait { $0.requests.count == 51 })
        #expect(bench.peer.state.now.widest == 50, "the server's limit is reached and kept")
        bench.peer.release()
        bench.peer.release()
        #expect(bench.peer.state.wait { $0.requests.count >= 59 })
        while bench.collector.state.now.batches.isEmpty, bench.peer.state.now.requests.count < 200 {
            bench.peer.release()
            _ = bench.peer.state.wait(seconds: 1) { $0.requests.count == 200 }
        }
        bench.peer.release()
        #expect(try bench.collector.batches()[0].count(of: 200) == 200)
        #expect(bench.peer.state.now.widest == 50)
        #expect(bench.seen.values.allSatisfy { $0 == 1 })
    }

    @Test func settingsOfOneThenThousand() throws {
        // As APNs does it: one stream until the token has been seen to be valid.
        let bench = try Workbench(maximumStreams: 1) { request in
            request.number == 1 ? [.answer(200), .settings(maximumStreams: 1000)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(900)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 900)
        #expect(bench.lane.figures.connectionsOpened == 1, "one stream is no reason for more connections")
        #expect(bench.peer.state.now.widest > 1)
    }

    @Test func loweredSettingsAreObeyed() throws {
        let bench = try Workbench(maximumStreams: 100) { request in
            request.number == 2 ? [.settings(maximumStreams: 1), .answer(200)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(500)
        #expect(try bench.collector.batches()[0].count(of: 200) == 500)
        #expect(bench.seen.count == 500)
    }

    @Test func bodiesLargerThanTheWindowArriveWhole() throws {
        // 65535 bytes of connection window: 40 bodies of 5000 bytes must be cut at its edge.
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        bench.send(40, body: 5000)
        #expect(try bench.collector.batches()[0].count(of: 200) == 40)
        #expect(bench.peer.state.now.requests.allSatisfy { $0.body.count > 5000 && $0.body.last == 0x7D })
    }

    @Test func aBodyThatTheWindowCutsIsWholeBeforeNewRequests() throws {
        // The window of 65,535 bytes takes some 60 of these bodies: the last of them is cut at its edge, fifty times.
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        for tag in 0..<10 { bench.send(300, from: tag * 300, tag: tag, body: 1000) }
        #expect(try bench.collector.batches(10).allSatisfy { $0.count(of: 200) == 300 })
        let arrived = bench.peer.state.now.requests.compactMap {
            $0.headers["apns-id"].flatMap { Int($0.dropFirst(3)) }
        }
        #expect(arrived.count == 3000)
        // The requests that arrived before it though they were behind it.
        let most = arrived.enumerated().map { place, number in place - number }.max() ?? 0
        #expect(most < 300, "a request waited for \(most) that came after it")
    }

    @Test func badAnswersComeWithTheirBodyAndRetryAfter() throws {
        let bench = try Workbench { request in
            switch request.number {
            case 1: [.answer(200, ["x-long": "ignored"], "a body nobody wants")]
            case 2: [.answer(410, [:], "{\"reason\":\"Unregistered\",\"timestamp\":1}")]
            case 3: [.answer(503, ["retry-after": "120"], "")]
            case 4: [.answer(503, ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"], "")]
            default: [.answer(500, [:], String(repeating: "x", count: 20_000))]
            }
        }
        defer { bench.finish() }
        bench.send(5)
        let batch = try bench.collector.batches()[0]
        #expect(batch.answers.map(\.status) == [200, 410, 503, 503, 500])
        #expect(batch.answers.map(\.retryAfter) == [-1, -1, 120, 0, -1])
        #expect(batch.answers[0].body == -1)
        let gone = try #require(batch.bodies.indices.contains(Int(batch.answers[1].body)) ? batch.bodies[0] : nil)
        #expect(String(decoding: gone, as: UTF8.self) == "{\"reason\":\"Unregistered\",\"timestamp\":1}")
        #expect(batch.answers[2].body == -1)
        #expect(batch.bodies[Int(batch.answers[4].body)].count == 4096)
    }

    @Test func moreConnectionsWhileAllAreFullAndEachAnswerTakesLong() throws {
        let bench = try Workbench(maximumStreams: 5, configure: { $0.maximumConnections = 3 }) { _ in
            [.after(.milliseconds(100), .answer(200))]
        }
        defer { bench.finish() }
        // Over one connection they would take six seconds: time for two handshakes.
        bench.send(300)
        #expect(try bench.collector.batches()[0].count(of: 200) == 300)
        #expect(bench.lane.figures.connectionsOpened == 3)
        #expect(bench.peer.state.now.widest == 5)
        #expect(bench.collector.state.now.widths.last == 15)
    }

    @Test func silenceIsNoReasonForMoreConnections() throws {
        let bench = try Workbench(maximumStreams: 5, configure: { $0.maximumConnections = 16 }) { request in
            request.number == 1 ? [.answer(200)] : [.hold]
        }
        defer { bench.finish() }
        bench.send(40)
        try #require(bench.peer.state.wait { $0.requests.count == 6 })
        // Turns of the lane in which everything is full and the queue is not empty.
        for number in 1...5 { bench.send(1, tag: number) }
        bench.lane.withdraw(bench.pool)
        try #require(bench.collector.state.wait { $0.batches.count == 5 })
        #expect(bench.lane.figures.dials == 1)
    }

    @Test func severalPoolsShareALaneButNoConnection() throws {
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        var configuration = PoolConfiguration(
            .apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: bench.peer.port))
        configuration.dialer.egress.trustedCertificates = bench.identity.authorityPath
        let other = bench.lane.addPool(configuration, judge: FixedJudge(), receiver: bench.collector)
        bench.send(10, tag: 1)
        bench.lane.submit(Workbench.batch(10, from: 100, tag: 2), to: other)
        let batches = try bench.collector.batches(2)
        #expect(Set(batches.map(\.tag)) == [1, 2])
        #expect(bench.peer.state.now.connections == 2)
    }

    @Test func anEmptyBatchComesBack() throws {
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        bench.send(0, tag: 3)
        #expect(try bench.collector.batches()[0].tag == 3)
    }
}
