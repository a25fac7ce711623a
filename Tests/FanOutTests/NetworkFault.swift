// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import RelayEngine
import TestPeers
import Testing

/// One fault between the relay and the push service, as a peer on loopback plays it.
///
/// Unless a case differs, the first connection answers `healthy` pushes and then misbehaves; all later connections behave well.
struct NetworkFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var manner = PeerManner()
    var configure: @Sendable (inout PoolConfiguration) -> Void = { _ in }
    /// The most pushes that the peer may see more than once: those in flight with an unknown outcome, and refused ones.
    var repeated = 0
    /// The most pushes that are put on a connection once more.
    var resends = Int.max
    /// Whether pushes wait for a connection so long that they come back and are read anew: earlier refusals then count as no
    /// attempt.
    var handsBack = false
    /// Connections that the whole campaign takes.
    var connections = 2
    /// The longest time without an answer. The library's own time-outs, for a connection that dies unnoticed, come to 15 s; a
    /// noticed fault takes a tenth of that. Faults that a test must wait for use `impatient`.
    var rest: ClosedRange<Duration> = .zero ... .seconds(15)
    let script: ScriptedPeer.Script

    static let devices = 300
    /// Pushes of the first connection before it misbehaves: the probe and a part of the first large batch.
    static let healthy = 100
    /// Streams that the peer allows.
    static let streams = 50

    init(_ name: String, script: @escaping ScriptedPeer.Script) {
        testDescription = name
        self.script = script
        manner.maximumStreams = Self.streams
    }

    /// After its healthy time, the first connection does `steps` and answers nothing more.
    init(_ name: String, then steps: @escaping @Sendable (SeenRequest) -> [Step]) {
        self.init(
            name,
            script: { request in
                guard request.connection == 0, request.number >= Self.healthy else { return [.answer(200)] }
                return request.number == Self.healthy ? steps(request) : [.hold]
            })
        repeated = Self.streams
    }

    /// The first connection does `steps` instead of one answer, and goes on answering the other requests.
    init(_ name: String, once steps: @escaping @Sendable (SeenRequest) -> [Step]) {
        self.init(
            name,
            script: { request in
                request.connection == 0 && request.number == Self.healthy ? steps(request) : [.answer(200)]
            })
    }

    func with(_ change: (inout NetworkFault) -> Void) -> NetworkFault {
        var fault = self
        change(&fault)
        return fault
    }

    /// Time-outs that a test can wait for, and that the well-behaved second connection keeps, although its thread may have to
    /// wait for a processor.
    private static let impatient: @Sendable (inout NetworkFault) -> Void = {
        $0.configure = {
            $0.connection.pingAfterSilence = .milliseconds(500)
            $0.connection.pingTimeout = .seconds(3)
            $0.requestTimeout = .seconds(4)
            $0.connection.zeroStreamsTimeout = .milliseconds(500)
        }
        $0.rest = .zero ... .seconds(45)
    }

    // MARK: Connections that end or fall silent

    private static let cuts: [NetworkFault] = [
        NetworkFault("cut between frames", then: { _ in [.cut] }),
        NetworkFault("cut in the head of a frame", then: { _ in [.raw([0, 0, 0x10, 0x01]), .cut] }),
        NetworkFault(
            "cut in the middle of an answer's header",
            then: {
                [.raw(Array(Frame.headers([(":status", "200")], flags: 5, stream: $0.streamID).dropLast(3))), .cut]
            }),
        NetworkFault(
            "headers without END_HEADERS, then cut",
            then: { [.raw(Frame.headers([(":status", "200")], flags: 0, stream: $0.streamID)), .cut] }),
        NetworkFault(
            "headers without END_HEADERS, then silence",
            then: { [.raw(Frame.headers([(":status", "200")], flags: 0, stream: $0.streamID)), .silence] }
        ).with(impatient),
        NetworkFault("black hole in mid-campaign", then: { _ in [.silence] }).with(impatient),
        NetworkFault(
            "black hole from the first push on",
            script: { $0.connection == 0 ? [.silence] : [.answer(200)] }
        ).with(impatient).with { $0.repeated = 1 },
        NetworkFault("PING is answered, pushes are not", then: { _ in [.hold] }).with(impatient),
        NetworkFault("windows that never open", script: { _ in [.answer(200)] }).with(impatient).with {
            $0.manner.window = { $0 == 0 ? 0 : nil }
        },
        NetworkFault("hung up before TLS, twice", script: { _ in [.answer(200)] }).with {
            $0.manner.reception = { $0 < 2 ? .hangUp : .serve }
            $0.connections = 3
        },
        NetworkFault("TLS that is never answered", script: { _ in [.answer(200)] }).with {
            $0.manner.reception = { $0 == 0 ? .ignore : .serve }
            $0.configure = { $0.dialer.connectTimeout = .seconds(3) }
            $0.rest = .zero ... .seconds(45)
        },
        NetworkFault("a mail server instead of TLS", script: { _ in [.answer(200)] }).with {
            $0.manner.reception = { $0 == 0 ? .babble : .serve }
        },
    ]

    // MARK: The server's frames about connections and streams

    private static let words: [NetworkFault] = [
        NetworkFault(
            "GOAWAY, twenty streams not looked at",
            then: { [.goAway(lastStreamID: max(0, $0.streamID - 2), debug: #"{"reason":"Shutdown"}"#)] }),
        NetworkFault(
            "GOAWAY that lets what is in flight end",
            script: { request in
                request.connection == 0 && request.number == healthy
                    ? [.goAway(lastStreamID: .max), .answer(200)] : [.answer(200)]
            }),
        NetworkFault(
            "GOAWAY ENHANCE_YOUR_CALM on three connections in a row",
            script: { request in
                guard request.connection < 3, request.number >= 20 else { return [.answer(200)] }
                return request.number == 20
                    ? [.answer(200), .goAway(lastStreamID: request.streamID, code: 11)] : [.hold]
            }
        ).with {
            $0.repeated = 3 * streams
            $0.handsBack = true
            $0.connections = 4
            // Waits of 1 s, 2 s and 4 s, although each connection had its good answers.
            $0.rest = .seconds(4) ... .seconds(45)
        },
        NetworkFault(
            "REFUSED_STREAM, every fifth",
            script: { $0.connection == 0 && $0.number % 5 == 0 ? [.reset(code: 7)] : [.answer(200)] }
        )
        .with {
            $0.repeated = devices
            $0.connections = 1
        },
        NetworkFault("a stream reset with INTERNAL_ERROR", once: { _ in [.reset(code: 2)] }).with { $0.repeated = 1 },
        NetworkFault(
            "SETTINGS to one stream and back",
            script: { request in
                switch request.number {
                case healthy: [.settings(maximumStreams: 1), .answer(200)]
                case healthy + 80: [.settings(maximumStreams: streams), .answer(200)]
                default: [.answer(200)]
                }
            }
        ).with { $0.connections = 1 },
        NetworkFault(
            "SETTINGS to no stream and back",
            once: { _ in
                [
                    .settings(maximumStreams: 0), .after(.milliseconds(400), .settings(maximumStreams: streams)),
                    .answer(200),
                ]
            }
        ).with {
            $0.connections = 1
            // The peer starts its timer before it notes the answer, so the pause that it sees is some milliseconds shorter than 400.
            $0.rest = .milliseconds(300) ... .seconds(20)
        },
        NetworkFault("SETTINGS to no stream, for ever", once: { _ in [.settings(maximumStreams: 0), .answer(200)] })
            .with(impatient),
    ]

    // MARK: Answers

    private static let answers: [NetworkFault] = [
        NetworkFault(
            "an answer without :status",
            once: { [.raw(Frame.headers([("apns-id", "x")], flags: 5, stream: $0.streamID))] }
        ).with { $0.repeated = 1 },
        NetworkFault(
            "an answer whose :status is no number",
            once: { [.raw(Frame.headers([(":status", "2OO")], flags: 5, stream: $0.streamID))] }
        ).with { $0.repeated = 1 },
        NetworkFault(
            "an answer of status 000",
            once: { [.raw(Frame.headers([(":status", "000")], flags: 5, stream: $0.streamID))] }
        ).with { $0.repeated = 1 },
        NetworkFault(
            "DATA instead of an answer", once: { [.raw(Frame.data(10, flags: 1, stream: $0.streamID))] }
        ).with {
            $0.repeated = streams
            $0.resends = streams
        },
        NetworkFault(
            "two interim answers, then the real one",
            once: { request in
                [
                    .raw(Frame.headers([(":status", "100")], stream: request.streamID)),
                    .raw(Frame.headers([(":status", "103"), ("retry-after", "86400")], stream: request.streamID)),
                    .answer(200),
                ]
            }
        ).with { $0.connections = 1 },
        NetworkFault(
            "interim answers without end",
            then: { [.raw(many(Frame.headers([(":status", "103")], stream: $0.streamID)), times: 10_000)] }),
        NetworkFault(
            "an answer without end",
            once: { request in
                [
                    .raw(Frame.headers([(":status", "200")], stream: request.streamID)),
                    .raw(Frame.data(8192, stream: request.streamID), times: 7),
                    .raw(Frame.data(8192, stream: request.streamID)),
                    .raw(Frame.data(1, stream: request.streamID)),
                ]
            }
        )  // No yes of APNs has such a body (`APNsJudge`): the push goes out again.
        .with { ($0.connections, $0.repeated) = (1, 1) },
        NetworkFault(
            "an HPACK bomb",
            then: { request in
                // 4000 bytes once, then one byte for each repetition: 12,000 of them are 47 MB.
                let bomb =
                    Frame.indexed("x-bomb", String(repeating: "b", count: 3900))
                    + [UInt8](repeating: Frame.newestField, count: 12_000)
                return [.raw(Frame.of(1, flags: 5, stream: request.streamID, bomb))]
            }),
        NetworkFault(
            "CONTINUATION without end",
            then: { request in
                [
                    .raw(Frame.headers([(":status", "200")], flags: 0, stream: request.streamID)),
                    .raw(Frame.continuation([("a", "b")], stream: request.streamID), times: 1_000_000),
                ]
            }),
    ]

    // MARK: Refusals without their reason

    private static let refusals: [NetworkFault] = [403, 400].flatMap { status in
        let refusal: @Sendable (SeenRequest) -> Step = { request in
            .raw(
                Frame.headers([(":status", String(status))], stream: request.streamID)
                    + Frame.of(0, stream: request.streamID, Array(#"{"reason":"Exp"#.utf8)))
        }
        return [
            NetworkFault("\(status), cut before its reason", then: { [refusal($0), .endOfOutput] }),
            NetworkFault("\(status), reset before its reason", once: { [refusal($0), .reset(code: 2)] })
                .with { $0.repeated = 1 },
            NetworkFault("\(status) whose reason never comes", then: { [refusal($0)] }).with(impatient),
        ]
    }

    // MARK: Floods

    private static let floods: [NetworkFault] =
        [
            ("PING", Frame.ping), ("SETTINGS", Frame.settings(3, 50)),
            ("frames that nobody knows", Frame.of(0xF0, [1])),
            ("WINDOW_UPDATE", Frame.windowUpdate(1, stream: 0)), ("PRIORITY", Frame.of(2, stream: 1, [0, 0, 0, 0, 0])),
        ].map { name, frame in flood(name) { _ in frame } } + [
            flood("empty DATA") { Frame.data(0, stream: $0.streamID) },
            flood("RST_STREAM") { _ in Frame.reset(8, stream: 1) },
        ]

    private static func flood(_ name: String, _ frame: @escaping @Sendable (SeenRequest) -> [UInt8]) -> NetworkFault {
        NetworkFault(
            "a flood of \(name)",
            then: { request in
                [
                    .raw(Frame.headers([(":status", "200")], stream: request.streamID)),
                    .raw(many(frame(request)), times: 10_000),
                ]
            })
    }

    /// A thousand copies of the frame, written at once.
    private static func many(_ frame: [UInt8]) -> [UInt8] { Array(repeatElement(frame, count: 1000).joined()) }

    static let all = cuts + words + answers + refusals + floods
}
