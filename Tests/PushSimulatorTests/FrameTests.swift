// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import PushSimulator

/// The simulator on the level of HTTP/2 frames.
@Suite(.serialized, .ownThread) struct FrameTests {
    private let fixture: Fixture
    private let jwt: String

    init() throws {
        fixture = try Fixture()
        jwt = try fixture.jwt()
    }

    private func headers(_ number: Int) -> [(String, String)] {
        fixture.headers(token: Fixture.token(number), jwt: jwt, id: Fixture.id(number))
    }

    private func answered(_ frames: [RawClient.Frame], _ stream: UInt32) -> Bool {
        frames.contains { $0.type == RawClient.Frame.headers && $0.stream == stream }
    }

    @Test func oneStreamUntilAValidTokenThenAThousand() throws {
        let server = try RunningSimulator(fixture.configuration())
        let client = try RawClient(server)
        try client.read { $0.contains { $0.maximumStreams == 1 } }
        try client.acknowledgeSettings()
        // A wrong token changes nothing.
        try client.send(client.request(1, fixture.headers(jwt: "x.y.z")))
        try client.read { answered($0, 1) }
        #expect(client.frames.compactMap(\.maximumStreams) == [1])
        try client.send(client.request(3, headers(3)))
        try client.read { answered($0, 3) }
        #expect(client.frames.compactMap(\.maximumStreams) == [1, 1000])
        // The answer to an accepted push is HEADERS with END_STREAM, beginning with the indexed ":status: 200".
        let answer = try #require(client.frames.last { $0.type == RawClient.Frame.headers })
        #expect(answer.flags & 1 == 1)
        #expect(answer.payload.first == 0x88)
    }

    @Test func beforeTheLimitIsKnownTheSecondStreamIsRefused() throws {
        let server = try RunningSimulator(fixture.configuration())
        let client = try RawClient(server)
        // HEADERS only: the first request stays open.
        let first = client.request(1, headers(1))
        let size = 9 + (Int(first[0]) << 16 | Int(first[1]) << 8 | Int(first[2]))
        try client.send(Array(first[..<size]) + client.request(3, headers(3)) + Array(first[size...]))
        try client.read { answered($0, 1) && $0.contains { $0.type == RawClient.Frame.reset } }
        let reset = try #require(client.frames.first { $0.type == RawClient.Frame.reset })
        #expect(reset.stream == 3)
        #expect(reset.payload == [0, 0, 0, 7])
        #expect(server.simulator.figures.accepted == 1)
    }

    @Test func overTheLimitTheConnectionEnds() throws {
        let server = try RunningSimulator(fixture.configuration())
        let client = try RawClient(server)
        try client.read { $0.contains { $0.maximumStreams == 1 } }
        try client.acknowledgeSettings()
        let first = client.request(1, headers(1))
        let size = 9 + (Int(first[0]) << 16 | Int(first[1]) << 8 | Int(first[2]))
        try client.send(Array(first[..<size]) + client.request(3, headers(3)))
        try client.read { $0.contains { $0.type == RawClient.Frame.goAway } }
        try client.readUntilClosed()
        #expect(server.simulator.figures.accepted == 0)
    }

    @Test func aGoAwayCarriesJSONAndCoversWhatWasTaken() throws {
        var configuration = fixture.configuration()
        configuration.faults.goAwayAfter = 2
        let server = try RunningSimulator(configuration)
        let client = try RawClient(server)
        try client.send(client.request(1, headers(1)))
        try client.read { answered($0, 1) }
        try client.acknowledgeSettings()
        try client.acknowledgeSettings()
        try client.send(client.request(3, headers(3)) + client.request(5, headers(5)) + client.request(7, headers(7)))
        try client.read { $0.contains { $0.type == RawClient.Frame.goAway } && answered($0, 3) }
        let goAway = try #require(client.frames.first { $0.type == RawClient.Frame.goAway })
        #expect(goAway.payload.prefix(8) == [0, 0, 0, 3, 0, 0, 0, 0])
        #expect(String(decoding: goAway.payload.dropFirst(8), as: UTF8.self) == #"{"reason":"Shutdown"}"#)
        try client.readUntilClosed()
        #expect(!answered(client.frames, 5))
        #expect(!answered(client.frames, 7))
        #expect(server.simulator.figures.accepted == 2)
        #expect(server.simulator.figures.goAways == 1)
        #expect(server.simulator.accepted().count(ofToken: Fixture.token(5)) == 0)
    }

    /// A client whose token has been seen, so that it may open more than one stream.
    private func provenClient(_ server: RunningSimulator) throws -> RawClient {
        let client = try RawClient(server)
        try client.send(client.request(1, headers(1)))
        try client.read { answered($0, 1) }
        try client.acknowledgeSettings()
        try client.acknowledgeSettings()
        return client
    }

    /// Two pushes, of which the one with the lower number ends last, and a GOAWAY: it names the higher number, and both have
    /// their answers.
    private func expectOneGoAwayForBoth(_ client: RawClient) throws {
        let (head, body) = client.parts(3, headers(3))
        try client.send(head + client.request(5, headers(5)) + body)
        try client.readUntilClosed()
        #expect(answered(client.frames, 3) && answered(client.frames, 5))
        let goAways = client.frames.filter { $0.type == RawClient.Frame.goAway }
        #expect(goAways.map { Array($0.payload.prefix(4)) } == [[0, 0, 0, 5]])
    }

    @Test func aGoAwayCoversWhatEndedBeforeAStreamWithALowerNumber() throws {
        var configuration = fixture.configuration()
        configuration.faults.goAwayAfter = 3
        configuration.latency = .milliseconds(50)
        let server = try RunningSimulator(configuration)
        let client = try provenClient(server)
        try expectOneGoAwayForBoth(client)
        #expect(server.simulator.figures.accepted == 3)
    }

    @Test func aConnectionGetsOneGoAway() throws {
        let server = try RunningSimulator(fixture.configuration())
        let client = try provenClient(server)
        var script = FaultScript()
        script.shares = [.goAway: 1]
        try server.simulator.play(script)
        try expectOneGoAwayForBoth(client)
        #expect(server.simulator.figures.goAways == 1)
    }

    @Test func trailersAreNoRequestAndNobodysHeaders() throws {
        let server = try RunningSimulator(fixture.configuration())
        let client = try provenClient(server)
        let (head, body) = client.parts(3, headers(3), isLast: false)
        let (otherHead, otherBody) = client.parts(5, headers(5))
        let trailers = client.headers(3, [("apns-topic", "com.example.other"), ("apns-id", "x")], isLast: true)
        // They come while another stream's header fields were the last to arrive.
        try client.send(head + body + otherHead + trailers + otherBody)
        try client.read { answered($0, 3) && answered($0, 5) }
        #expect(server.simulator.figures.accepted == 3)
        #expect(server.simulator.figures.rejected == 0)
        // A slot that is not given back would count as an open stream.
        #expect(server.simulator.figures.peakStreams == 2)
        try client.send(client.request(7, headers(7)))
        try client.read { answered($0, 7) }
        #expect(server.simulator.figures.peakStreams == 2)
    }

    @Test func settingsShrink() throws {
        var configuration = fixture.configuration()
        configuration.faults.shrinkSettings = .init(afterN: 2, to: 10)
        let server = try RunningSimulator(configuration)
        let client = try RawClient(server)
        try client.send(client.request(1, headers(1)))
        try client.read { answered($0, 1) }
        try client.send(client.request(3, headers(3)))
        try client.read { answered($0, 3) }
        #expect(client.frames.compactMap(\.maximumStreams) == [1, 1000, 10])
    }

    @Test func everyThirdStreamIsRefused() throws {
        var configuration = fixture.configuration()
        configuration.faults.refuseEvery = 3
        let server = try RunningSimulator(configuration)
        let client = try RawClient(server)
        for stream in [1, 3, 5, 7] as [UInt32] {
            try client.send(client.request(stream, headers(Int(stream))))
            try client.read { frames in
                answered(frames, stream) || frames.contains { $0.type == RawClient.Frame.reset && $0.stream == stream }
            }
        }
        let resets = client.frames.filter { $0.type == RawClient.Frame.reset }
        #expect(resets.map(\.stream) == [5])
        #expect(resets.first?.payload == [0, 0, 0, 7])
        #expect(server.simulator.figures.accepted == 3)
        #expect(server.simulator.figures.refused == 1)
    }

    @Test func aSilentConnectionAnswersNoPing() throws {
        var configuration = fixture.configuration()
        configuration.faults.silentAfter = 2
        let server = try RunningSimulator(configuration)
        let client = try RawClient(server)
        let ping = client.frame(RawClient.Frame.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        try client.send(client.request(1, headers(1)))
        try client.read { answered($0, 1) }
        try client.send(ping)
        try client.read { $0.contains { $0.type == RawClient.Frame.ping && $0.flags == 1 } }
        try client.send(client.request(3, headers(3)))
        try server.wait { $0.accepted == 2 }
        try client.send(ping)
        #expect(client.isQuiet(for: 300))
        // A second connection is served in the meantime.
        #expect(try server.curl(headers(9)).output.hasPrefix("HTTP/2 200"))
    }

    @Test func answersWaitTogether() throws {
        var configuration = fixture.configuration()
        configuration.latency = .milliseconds(300)
        let server = try RunningSimulator(configuration)
        let client = try RawClient(server)
        try client.send(client.request(1, headers(1)))
        try client.read { answered($0, 1) }
        try client.acknowledgeSettings()
        try client.acknowledgeSettings()
        let began = ContinuousClock.now
        let streams = (1...100).map { UInt32(2 * $0 + 1) }
        for stream in streams { try client.send(client.request(stream, headers(Int(stream)))) }
        try client.read { frames in streams.allSatisfy { answered(frames, $0) } }
        // Together, not one after the other: that would be 30 seconds.
        #expect(ContinuousClock.now - began < .seconds(25))
        #expect(server.simulator.figures.accepted == 101)
        #expect(server.simulator.figures.peakStreams > 1)
    }

    @Test func connectionsAreCounted() throws {
        let server = try RunningSimulator(fixture.configuration())
        let first = try RawClient(server)
        try first.read { !$0.isEmpty }
        let second = try RawClient(server)
        try second.read { !$0.isEmpty }
        #expect(server.simulator.figures.connectionsOpen == 2)
        _ = try server.curl(headers(1))
        try server.wait { $0.connectionsOpen == 2 && $0.connectionsOpened == 3 }
        second.close()
        try server.wait { $0.connectionsOpen == 1 && $0.connectionsOpened == 3 }
    }
}
