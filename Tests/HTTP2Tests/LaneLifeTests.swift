// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Glibc
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// Beginning, pausing and ending; and the peers that a lane refuses.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct LaneLifeTests {
    @Test func withdrawHandsBackWhatHasNotBeenSentAndNoMore() throws {
        let bench = try Workbench(maximumStreams: 10) { $0.number == 1 ? [.answer(200)] : [.hold] }
        defer { bench.finish() }
        bench.send(100)
        #expect(bench.peer.state.wait { $0.requests.count == 11 })
        bench.lane.withdraw(bench.pool)
        #expect(bench.collector.state.now.batches.isEmpty, "ten are in flight")
        bench.peer.release()
        let batch = try bench.collector.batches()[0]
        #expect(batch.count(of: 200) == 11 && batch.count(of: .unsent) == 89)
        #expect(batch.answers.allSatisfy { $0.kind == .unsent ? $0.sends == 0 : $0.sends == 1 })
        // Sending can go on.
        bench.send(1, from: 500)
        #expect(bench.peer.state.wait { $0.requests.count == 12 })
    }

    /// A peer that answers the first request and holds the others.
    private func bench() throws -> Workbench {
        try Workbench(maximumStreams: 10) { $0.number == 1 ? [.answer(200)] : [.hold] }
    }

    @Test func whatWasInFlightWhenItWasWithdrawnIsNotQueuedAgain() throws {
        let bench = try bench()
        defer { bench.lane.stop(deadline: .zero) }
        bench.send(100)
        #expect(bench.peer.state.wait { $0.requests.count == 11 })
        bench.send(5, from: 500, tag: 1)
        bench.lane.withdraw(bench.pool)
        // All streams are taken: it comes back when the lane has read the command.
        #expect(try bench.collector.batches()[0].tag == 1)
        bench.peer.stop()
        let batch = try bench.collector.batches(2)[1]
        #expect(batch.count(of: 200) == 1 && batch.count(of: .lost) == 10 && batch.count(of: .unsent) == 89)
        #expect(batch.answers.allSatisfy { $0.sends <= 1 })
    }

    @Test func stopLetsWhatIsInFlightEndAndSaysGoodbye() throws {
        let bench = try Workbench(maximumStreams: 10) { request in
            switch request.number {
            case 1: [.answer(200)]
            default: [.hold]
            }
        }
        bench.send(100)
        #expect(bench.peer.state.wait { $0.requests.count == 11 })
        bench.send(1, from: 900, tag: 1)
        let stopper = try TestThread { bench.lane.stop(deadline: .seconds(20)) }
        // All streams are taken: this one comes back when the lane has read the command, and not before.
        let unsent = try bench.collector.batches()[0]
        #expect(unsent.tag == 1 && unsent.count(of: .unsent) == 1)
        bench.peer.release()
        stopper.join()
        let batch = try #require(bench.collector.state.now.batches.last, "stop returns after the last batch")
        #expect(batch.count(of: 200) == 11 && batch.count(of: .unsent) == 89)
        #expect(bench.peer.state.wait { $0.goodbyes == [0] }, "GOAWAY(NO_ERROR)")
        #expect(bench.peer.state.wait { $0.open == 0 })
        #expect(bench.lane.figures.connectionsOpen == 0)
        bench.peer.stop()
    }

    @Test func stopDoesNotWaitLongerThanItsDeadline() throws {
        let bench = try Workbench { $0.number == 1 ? [.answer(200)] : [.hold] }
        bench.send(5)
        #expect(bench.peer.state.wait { $0.requests.count == 5 })
        let clock = ContinuousClock()
        let took = clock.measure { bench.lane.stop(deadline: .milliseconds(300)) }
        #expect(took >= .milliseconds(300) && took < .seconds(20))
        let batch = try #require(bench.collector.state.now.batches.first)
        #expect(batch.count(of: 200) == 1 && batch.count(of: .lost) == 4)
        #expect(batch.answers.allSatisfy { $0.sends == 1 })
        // Later ones come back at once, on this thread.
        bench.send(2, tag: 9)
        let late = try #require(bench.collector.state.now.batches.last)
        #expect(late.tag == 9 && late.count(of: .unsent) == 2)
        bench.lane.stop(deadline: .zero)
        bench.peer.stop()
    }

    @Test func aRemovedPoolHandsBackAndCloses() throws {
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        bench.send(2)
        _ = try bench.collector.batches(1)
        bench.lane.removePool(bench.pool)
        #expect(bench.peer.state.wait { $0.goodbyes == [0] && $0.open == 0 })
        bench.send(3)
        #expect(try bench.collector.batches(2)[1].count(of: .unsent) == 3)
    }

    @Test func aRemovedPoolLeavesNothingBehind() throws {
        let bench = try Workbench { _ in [.answer(200)] }
        defer { bench.finish() }
        var numbers: Set<Int> = [bench.pool.number]
        for _ in 0..<3 {
            // Only the lane still holds the receiver, and with it all else that a pool keeps.
            weak var receiver: Collector?
            do {
                let collector = Collector()
                receiver = collector
                var configuration = PoolConfiguration(
                    .apns, egress: .direct, origin: Origin(host: "localhost", port: bench.peer.port))
                configuration.dialer.egress.trustedCertificates = bench.identity.authorityPath
                let pool = bench.lane.addPool(configuration, judge: FixedJudge(), receiver: collector)
                bench.lane.submit(Workbench.batch(1), to: pool)
                #expect(try collector.batches()[0].count(of: 200) == 1)
                bench.lane.removePool(pool)
                #expect(numbers.insert(pool.number).inserted, "a number is not used again")
            }
            let end = ContinuousClock.now + .seconds(60)
            while receiver != nil, ContinuousClock.now < end { sched_yield() }
            #expect(receiver == nil)
        }
    }

    /// A request that waited for hours would be sent with contents that are out of date.
    @Test func whileNobodyListensNothingWaitsAndTheReasonIsTold() throws {
        let identity = try TestIdentity()
        let nobody = try Loopback.ReservedPort()
        let port = nobody.port
        let lane = try Lane(name: "test")
        let collector = Collector()
        var configuration = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: port))
        configuration.dialer.egress.trustedCertificates = identity.authorityPath
        let pool = lane.addPool(configuration, judge: FixedJudge(), receiver: collector)
        let deadline = ContinuousClock.now + .seconds(60)
        var tag = 0
        // A pool without requests does not dial: a second dial takes a second batch, after the pause.
        repeat {
            tag += 1
            lane.submit(Workbench.batch(3, tag: tag), to: pool)
            let back = try collector.batches(tag)[tag - 1]
            #expect(back.tag == tag && back.count(of: .unsent) == 3)
            #expect(back.answers.allSatisfy { $0.sends == 0 && (1...5).contains($0.retryAfter) }, "as the pool dials")
        } while !collector.state.wait(seconds: 0, milliseconds: 50) { $0.conditions.count >= 2 }
            && ContinuousClock.now < deadline
        for (index, condition) in collector.state.now.conditions.prefix(2).enumerated() {
            guard case .failing(let error, let attempts) = condition else {
                Issue.record("\(condition)")
                continue
            }
            #expect(attempts == index + 1)
            #expect(error.contains("https://127.0.0.1:\(port)"))
        }
        lane.stop(deadline: .zero)
    }

    @Test func whoWantsToKnowHearsThatThereIsNoConnection() throws {
        let nobody = try Loopback.ReservedPort()
        let lane = try Lane(name: "test")
        let collector = Collector()
        var configuration = PoolConfiguration(
            .apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: nobody.port))
        configuration.dialer.connectTimeout = .seconds(60)
        let pool = lane.addPool(configuration, judge: FixedJudge(), receiver: collector)
        let other = Workbench.batch(3, tag: 1)
        let first = Workbench.batch(5, from: 10, tag: 2)
        first.reportsUnreachable = true
        lane.submit(other, to: pool)
        lane.submit(first, to: pool)
        let back = try collector.batches()[0]
        #expect(back.tag == 2 && back.count(of: .unreachable) == 5)
        #expect(back.answers.allSatisfy { $0.sends == 0 && (1...2).contains($0.retryAfter) }, "as the pool dials")
        guard case .failing? = collector.state.now.conditions.first else {
            Issue.record("\(collector.state.now.conditions)")
            return
        }
        // Later ones too, whether or not the failure is reported again.
        for tag in 3...6 {
            let next = Workbench.batch(2, from: 20, tag: tag)
            next.reportsUnreachable = true
            lane.submit(next, to: pool)
            let back = try collector.batches(tag - 1)[tag - 2]
            #expect(back.tag == tag && back.count(of: .unreachable) == 2)
        }
        lane.stop(deadline: .zero)
        let rest = try collector.batches(6)[5]
        #expect(rest.tag == 1 && rest.count(of: .unsent) == 3, "it waited")
    }

    @Test func whatWaitsTooLongForItsTurnOnASlowConnectionComesBackUnsent() throws {
        // A connection has one stream until its first answer, which never comes here.
        let bench = try Workbench { _ in [.silence] }
        defer { bench.finish() }
        // A batch with `reportsUnreachable` waits as long as the others where there is a connection.
        let asked = Workbench.batch(2, from: 20, tag: 3)
        asked.reportsUnreachable = true
        let begun = ContinuousClock.now
        bench.lane.submit(Workbench.batch(1, tag: 1), to: bench.pool)
        bench.lane.submit(Workbench.batch(3, from: 10, tag: 2), to: bench.pool)
        bench.lane.submit(asked, to: bench.pool)
        for (back, expected) in zip(try bench.collector.batches(2), [(tag: 2, count: 3), (tag: 3, count: 2)]) {
            #expect(back.tag == expected.tag && back.count(of: .unsent) == expected.count)
            #expect(back.answers.allSatisfy { $0.sends == 0 && $0.retryAfter < 0 }, "a connection there is")
        }
        #expect(ContinuousClock.now - begun >= PoolMachine.longestWait)
    }

    @Test func aConnectionThatDiesTakesNoHopeFromWhatIsQueued() throws {
        // Answers nothing, and is found dead.
        let bench = try Workbench(configure: {
            $0.connection.pingAfterSilence = .milliseconds(200)
            $0.connection.pingTimeout = Workbench.patience
        }) { _ in [.silence] }
        defer { bench.finish() }
        let batch = Workbench.batch(4)
        batch.reportsUnreachable = true
        bench.lane.submit(batch, to: bench.pool)
        let back = try bench.collector.batches()[0]
        #expect(back.count(of: .lost) == 1 && back.count(of: .unreachable) == 3)
    }

    @Test func anIdleConnectionThatEndsFailsNobody() throws {
        // 4xx proves nothing of the connection, so its end counts as a failure; but no request waits.
        let bench = try Workbench {
            $0.connection == 0 ? [.answer(400), .goAway(lastStreamID: $0.streamID)] : [.answer(200)]
        }
        defer { bench.finish() }
        bench.send(1)
        #expect(try bench.collector.batches()[0].count(of: 400) == 1)
        // Waits until the lane knows: a request that it gets together with the end has to wait, which is reported.
        let end = ContinuousClock.now + .seconds(60)
        while bench.lane.figures.connectionsOpen > 0, ContinuousClock.now < end {
            _ = bench.collector.state.wait(seconds: 0, milliseconds: 20) { _ in false }
        }
        bench.send(1, from: 1)
        #expect(try bench.collector.batches(2)[1].count(of: 200) == 1)
        #expect(bench.collector.state.now.conditions == [.connected])
    }

    @Test func aRefusedCredentialIsNoServiceThatCannotBeReached() throws {
        let bench = try Workbench(judge: FixedJudge(verdicts: [403: .halt])) { _ in [.answer(403)] }
        defer { bench.finish() }
        for number in 1...2 {
            bench.send(3, tag: number)
            let batch = try bench.collector.batches(number)[number - 1]
            #expect(batch.count(of: 403) == 1 && batch.count(of: .unsent) == 2)
        }
        #expect(bench.collector.state.now.conditions == [.connected])
    }

    /// Expects that nothing is sent to such a peer, and that the error gives the reason.
    private func expectRefusal(
        _ identity: TestIdentity, trusting authority: String? = nil, speaksHTTP2: Bool = true, _ words: [String]
    ) throws {
        let bench = try Workbench(
            identity: identity, speaksHTTP2: speaksHTTP2,
            configure: { if let authority { $0.dialer.egress.trustedCertificates = authority } },
            script: { _ in [.answer(200)] })
        defer { bench.finish() }
        bench.send(1)
        #expect(bench.collector.state.wait { !$0.conditions.isEmpty })
        guard case .failing(let error, 1)? = bench.collector.state.now.conditions.first else {
            Issue.record("\(bench.collector.state.now.conditions)")
            return
        }
        for word in words { #expect(error.contains(word), "\(error)") }
        #expect(bench.peer.state.now.requests.isEmpty)
    }

    @Test func aCertificateForAnotherHostIsRefused() throws {
        try expectRefusal(TestIdentity(names: ["other.example"], addresses: []), ["localhost", "check the host name"])
    }

    @Test func anUnknownAuthorityIsRefused() throws {
        let stranger = try TestIdentity()
        try expectRefusal(TestIdentity(), trusting: stranger.authorityPath, ["certificate"])
    }

    @Test func theSystemsAuthoritiesDoNotTrustOurs() throws {
        try expectRefusal(TestIdentity(), trusting: "/etc/ssl/certs/ca-certificates.crt", ["certificate"])
    }

    @Test func anExpiredCertificateIsRefused() throws {
        try expectRefusal(TestIdentity(isExpired: true), ["expired"])
    }

    @Test func aServerWithoutHTTP2IsRefused() throws {
        try expectRefusal(TestIdentity(), speaksHTTP2: false, ["\"h2\"", "no protocol"])
    }
}
