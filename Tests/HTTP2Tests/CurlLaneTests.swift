// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// The lane by libcurl keeps the promises of the other lane: each batch comes back once, each request with the answer that it got.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct CurlLaneTests {
    /// A lane with one pool that leads to a port on loopback.
    private struct Bench {
        let lane: CurlLane
        let collector = Collector()
        let pool: PoolID

        init(
            to port: UInt16, _ identity: TestIdentity, judge: any AnswerJudge = FixedJudge(),
            mayBegin: @escaping @Sendable () -> Bool = { true },
            configure: (inout PoolConfiguration) -> Void = { _ in }
        ) throws {
            lane = try CurlLane(name: "test", mayBegin: mayBegin)
            var configuration = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "localhost", port: port))
            configuration.dialer.egress.trustedCertificates = identity.authorityPath
            configuration.dialer.connectTimeout = .seconds(60)
            configuration.maximumConnections = 4
            configure(&configuration)
            pool = lane.addPool(configuration, judge: judge, receiver: collector)
        }

        func send(_ count: Int, from first: Int = 0, tag: Int = 0, isUrgent: Bool = false) {
            let batch = HTTP2Tests.Workbench.batch(count, from: first, tag: tag)
            batch.reportsUnreachable = isUrgent
            lane.submit(batch, to: pool)
        }
    }

    @Test func requestsArriveAsTheyWereWrittenOverHTTP2() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { _ in [.answer(200)] }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity)
        bench.send(300, tag: 7)
        let batch = try bench.collector.batches()[0]
        bench.lane.stop(deadline: .zero)
        #expect(batch.tag == 7)
        #expect(batch.answers.allSatisfy { $0.isPlainSuccess && $0.sends == 1 && $0.retryAfter == -1 })
        let requests = peer.state.now.requests.sorted { $0.body.count < $1.body.count }
        #expect(requests.count == 300)
        #expect(batch.latency.count == 300 && batch.latency == bench.lane.figures.latency)
        #expect(Set(requests.map { $0.headers[":path"] ?? "" }).count == 300)
        for request in requests {
            let number = try #require(request.headers[":path"]?.dropFirst("/3/device/".count))
            let sent = [
                ":method": "POST", ":authority": "push.example", "authorization": "bearer a.b.c",
                "apns-id": "id-\(number)", "apns-topic": "com.example.app",
            ]
            for (name, value) in sent { #expect(request.headers[name] == value) }
            #expect(String(decoding: request.body, as: UTF8.self) == "{\"to\":\"user \(number)\"}")
        }
        #expect(peer.state.now.connections == 1, "requests share a connection")
        #expect(peer.state.now.widest > 1)
        #expect(bench.collector.state.now.conditions == [.connected])
        #expect(bench.lane.figures.requestsSent == 300 && bench.lane.figures.latency.count == 300)
        #expect(bench.lane.figures.connectionsOpened == 1 && bench.lane.figures.requestsInFlight == 0)
    }

    @Test func oneRequestAtATimeOverEachConnectionOfHTTP1() throws {
        let identity = try TestIdentity()
        let server = try KeepAliveServer(identity) { _ in .answer(200, [], "fine") }
        defer { server.stop() }
        let bench = try Bench(to: server.port, identity)
        bench.send(200)
        let batch = try bench.collector.batches()[0]
        bench.lane.stop(deadline: .zero)
        #expect(batch.answers.allSatisfy { $0.isPlainSuccess && $0.sends == 1 })
        let seen = server.state.now
        #expect(seen.requests.count == 200 && Set(seen.requests.map(\.body)).count == 200)
        #expect((1...4).contains(seen.connections), "\(seen.connections) connections are kept and used again")
        let first = try #require(seen.requests.first { $0.head[0] == "POST /3/device/0 HTTP/1.1" })
        #expect(first.body == "{\"to\":\"user 0\"}")
        #expect(first.head.contains { $0.lowercased() == "host: push.example" })
        #expect(first.head.contains("apns-id: id-0") && first.head.contains("authorization: bearer a.b.c"))
        #expect(bench.collector.state.now.widths == [4])
    }

    @Test func refusalsComeWithBodyAndRest() throws {
        let identity = try TestIdentity()
        let long = String(repeating: "x", count: 9_000)
        let server = try KeepAliveServer(identity) {
            switch $0.body {
            case "{\"to\":\"user 1\"}": .answer(400, [], "{\"reason\":\"Bad\"}")
            case "{\"to\":\"user 2\"}": .answer(429, ["Retry-After: 17"])
            case "{\"to\":\"user 3\"}": .answer(200, [], "odd")
            case "{\"to\":\"user 4\"}": .answer(500, [], long)
            default: .answer(200, [], "fine")
            }
        }
        defer { server.stop() }
        let bench = try Bench(to: server.port, identity, judge: FixedJudge(good: Array("fine".utf8)))
        bench.send(6)
        let batch = try bench.collector.batches()[0]
        bench.lane.stop(deadline: .zero)
        func text(_ place: Int) -> String {
            String(decoding: batch.bodies[Int(batch.answers[place].body)], as: UTF8.self)
        }
        #expect(batch.answers.map(\.status) == [200, 400, 429, 200, 500, 200])
        #expect(batch.answers[0].isPlainSuccess && batch.answers[5].isPlainSuccess)
        #expect(text(1) == "{\"reason\":\"Bad\"}" && text(3) == "odd")
        #expect(text(4) == String(repeating: "x", count: 4_096), "the beginning of a body that is too long")
        #expect(batch.answers[2].retryAfter == 17 && batch.answers[2].body == -1)
    }

    @Test(arguments: [(AnswerVerdict.halt, 1), (.doubt, ConnectionMachine.doubtLimit)])
    func aCredentialThatIsRefusedSendsNothingMore(verdict: AnswerVerdict, answers: Int) throws {
        let identity = try TestIdentity()
        let server = try KeepAliveServer(identity) { _ in .answer(403, [], "no") }
        defer { server.stop() }
        let bench = try Bench(to: server.port, identity, judge: FixedJudge(verdicts: [403: verdict]))
        bench.send(50)
        let batch = try bench.collector.batches()[0]
        bench.lane.stop(deadline: .zero)
        #expect(batch.count(of: 403) == answers && batch.count(of: .unsent) == 50 - answers)
        #expect(server.state.now.requests.count == answers)
    }

    @Test func aServerThatIsNotThereIsLeftAloneForAWhile() throws {
        let identity = try TestIdentity()
        let place = try Loopback.ReservedPort()
        let bench = try Bench(to: place.port, identity)
        bench.send(10, isUrgent: true)
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: .unreachable) == 10)
        #expect(batch.answers.allSatisfy { $0.sends == 0 && $0.retryAfter >= 1 })
        guard case .failing(let error, let attempts)? = bench.collector.state.now.conditions.first else {
            return #expect(Bool(false), "the fault is not reported")
        }
        #expect(error.hasPrefix("POST https://localhost:\(place.port)/3/device/0: ") && attempts == 1)
        #expect(bench.lane.figures.dials == 1 && bench.lane.figures.dialFailures == 1)
        bench.lane.stop(deadline: .zero)
    }

    /// - Parameter isSilent: the server takes the request and is silent, or ends the connection.
    @Test(arguments: [true, false]) func whatMayHaveArrivedGoesOutOnceMoreAndIsLostThen(isSilent: Bool) throws {
        let identity = try TestIdentity()
        let server = try KeepAliveServer(identity) { request in
            switch request.body {
            // libcurl itself sends a request again where a connection that it has used before ends without a byte.
            case "{\"to\":\"user 3\"}": isSilent ? .silence : .end
            case "{\"to\":\"user 4\"}" where request.connection < 4: isSilent ? .silence : .end
            default: .answer(200)
            }
        }
        defer { server.stop() }
        let bench = try Bench(to: server.port, identity, configure: { $0.requestTimeout = .seconds(2) })
        bench.send(3)
        _ = try bench.collector.batches(1)
        bench.send(2, from: 3)
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.answers[0].kind == .lost && batch.answers[0].sends == 2)
        bench.send(3, from: 10)
        #expect(try bench.collector.batches(3)[2].count(of: 200) == 3, "the next batch gets through")
        bench.lane.stop(deadline: .zero)
        let tries = server.state.now.requests.count { $0.body == "{\"to\":\"user 3\"}" }
        // libcurl itself tries a connection anew that it has kept and that ends without a byte: four are kept.
        #expect((2...10).contains(tries), "\(tries)")
    }

    @Test func aServerThatHangsHoldsNoConnectionOfTheNextRequest() throws {
        // libcurl 7.88 would use a connection of HTTP/2 again on which no answer came in time.
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { request in
            request.connection == 0 && request.number > 3 ? [.silence] : [.answer(200)]
        }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity, configure: { $0.requestTimeout = .seconds(2) })
        bench.send(3)
        _ = try bench.collector.batches(1)
        bench.send(20, from: 10)
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.count(of: 200) == 20)
        // On a busy machine an answer of the second connection may come too late as well.
        #expect((2...4).contains(peer.state.now.connections), "\(peer.state.now.connections)")
        bench.lane.stop(deadline: .zero)
    }

    @Test func whatIsCalledBackComesBackUnsent() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { $0.number == 1 ? [.hold] : [.answer(200)] }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity)
        bench.send(100)
        #expect(peer.state.wait { $0.requests.count == 1 })
        bench.lane.withdraw(bench.pool)
        peer.release()
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 1 && batch.count(of: .unsent) == 99)
        bench.send(5, from: 200)
        #expect(try bench.collector.batches(2)[1].count(of: 200) == 5, "later batches are sent")
        bench.lane.removePool(bench.pool)
        bench.send(5, from: 300)
        #expect(try bench.collector.batches(3)[2].count(of: .unsent) == 5, "a pool that is removed sends nothing")
        bench.lane.stop(deadline: .zero)
        bench.send(5, from: 400)
        #expect(try bench.collector.batches(4)[3].count(of: .unsent) == 5, "nor does a lane that has stopped")
    }

    @Test func stopWaitsForItsDeadlineAndNoLonger() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { $0.number == 3 ? [.hold] : [.answer(200)] }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity)
        bench.send(2)
        _ = try bench.collector.batches(1)
        bench.send(1, from: 10)
        #expect(peer.state.wait { $0.requests.count == 3 })
        let began = ContinuousClock.now
        bench.lane.stop(deadline: .milliseconds(300))
        #expect(ContinuousClock.now - began >= .milliseconds(300))
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.answers[0].kind == .lost && batch.answers[0].sends == 1)
    }

    @Test func whileTheRelayMayNotSendNothingLeaves() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { _ in [.answer(200)] }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity, mayBegin: { false })
        bench.send(10)
        #expect(try bench.collector.batches()[0].count(of: .unsent) == 10)
        bench.lane.stop(deadline: .zero)
        #expect(peer.state.now.requests.isEmpty)
    }

    @Test func aLaneWithoutWorkHasNoThread() throws {
        let lane = try CurlLane(name: "test")
        #expect(!lane.hasBegun)
        lane.stop(deadline: .zero)
    }

    @Test func aRequestThatCannotBeWrittenIsNoneThatWaitsForEver() throws {
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { _ in [.answer(200)] }
        defer { peer.stop() }
        let bench = try Bench(to: peer.port, identity)
        let template = RequestTemplate(
            fields: [.init(":method", "POST"), .init(":path", "/"), .init("x", .slot(0), isIndexed: false)], body: [],
            slotCount: 1)
        let batch = RequestBatch(template: template, tag: 1, capacity: 1, bytesPerRequest: 64)
        batch.append { $0.appendSlot { $0 += Array("a\r\nb".utf8) } }
        bench.lane.submit(batch, to: bench.pool)
        #expect(try bench.collector.batches()[0].answers.map(\.kind) == [.lost])
        bench.lane.stop(deadline: .zero)
        #expect(peer.state.now.requests.isEmpty)
    }
}
