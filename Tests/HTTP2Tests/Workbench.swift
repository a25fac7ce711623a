// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import HTTP2
import OwnThread
import TestPeers
import Testing
import Threading

/// Collects the batches that a lane hands back.
final class Collector: BatchReceiver {
    struct State {
        var batches: [RequestBatch] = []
        var conditions: [PoolCondition] = []
        /// Streams of its pool, as they became more or fewer.
        var widths: [Int] = []
    }

    let state = Watched(State())

    func finished(_ batch: RequestBatch) { state.change { $0.batches.append(batch) } }

    func pool(_ pool: PoolID, carries streams: Int) { state.change { $0.widths.append(streams) } }

    func pool(_ pool: PoolID, is condition: PoolCondition) { state.change { $0.conditions.append(condition) } }

    /// Returns all batches that came back once there are `count`. Some tests send 20,000 requests over TLS: the deadline is for
    /// a lane that hangs, not for a slow one.
    func batches(_ count: Int = 1) throws -> [RequestBatch] {
        let deadline = 300 * Patience.factor
        try #require(state.wait(seconds: deadline) { $0.batches.count >= count }, "batches did not come back")
        return state.now.batches
    }
}

/// Judges each bad answer by its status alone.
struct FixedJudge: AnswerJudge {
    var verdicts: [UInt16: AnswerVerdict] = [:]
    /// The beginning of a good answer's body; nil: any is good.
    var good: [UInt8]?
    func isGood(_ body: Span<UInt8>) -> Bool {
        guard let good else { return true }
        return good.count <= body.count && good.indices.allSatisfy { good[$0] == body[$0] }
    }
    func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        (verdicts[status] ?? .keep, AnswerReading())
    }
}

/// A lane with one pool that leads to a scripted peer.
struct Workbench {
    /// How long a test waits for a peer that is silent on purpose. The same time is given to the well-behaved peer of the next
    /// connection, whose thread must get its turn within it on a busy machine.
    static let patience = Duration.seconds(3)

    let identity: TestIdentity
    let peer: ScriptedPeer
    let lane: Lane
    let collector = Collector()
    let pool: PoolID

    init(
        identity: TestIdentity? = nil, maximumStreams: Int? = 1000, speaksHTTP2: Bool = true,
        judge: any AnswerJudge = FixedJudge(),
        configure: (inout PoolConfiguration) -> Void = { _ in },
        script: @escaping ScriptedPeer.Script
    ) throws {
        var manner = PeerManner()
        manner.maximumStreams = maximumStreams
        manner.speaksHTTP2 = speaksHTTP2
        try self.init(identity: identity, manner: manner, judge: judge, configure: configure, script: script)
    }

    init(
        identity: TestIdentity? = nil, manner: PeerManner, host: String = "localhost",
        judge: any AnswerJudge = FixedJudge(), configure: (inout PoolConfiguration) -> Void = { _ in },
        script: @escaping ScriptedPeer.Script
    ) throws {
        let identity = try identity ?? TestIdentity()
        self.identity = identity
        peer = try ScriptedPeer(identity, manner, script: script)
        lane = try Lane(name: "test lane")
        var configuration = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: host, port: peer.port))
        configuration.dialer.egress.trustedCertificates = identity.authorityPath
        // At a time, so that tests can count them; tests about several set more.
        configuration.maximumConnections = 1
        // A peer's thread may wait for its turn on a busy machine; no test here is about this time.
        configuration.dialer.connectTimeout = .seconds(60)
        configure(&configuration)
        pool = lane.addPool(configuration, judge: judge, receiver: collector)
    }

    func finish() {
        lane.stop(deadline: .zero)
        peer.stop()
    }

    static let template = RequestTemplate(
        fields: [
            .init(":method", "POST"), .init(":scheme", "https"), .init(":authority", "push.example"),
            .init(":path", .slot(0), isIndexed: false),
            .init("authorization", "bearer a.b.c", isIndexed: false),
            .init("apns-id", .slot(1), isIndexed: false),
            .init("apns-topic", "com.example.app"),
        ],
        body: [.constant(Array("{\"to\":\"".utf8)), .slot(2), .constant(Array("\"}".utf8))], slotCount: 3)

    /// Requests numbered from `first`: path /3/device/N, apns-id id-N, body {"to":"user N"}.
    static func batch(_ count: Int, from first: Int = 0, tag: Int = 0, body: Int = 0) -> RequestBatch {
        let batch = RequestBatch(template: template, tag: tag, capacity: count, bytesPerRequest: 64)
        for number in first..<first + count {
            batch.append { request in
                request.appendSlot { $0 += Array("/3/device/\(number)".utf8) }
                request.appendSlot { $0 += Array("id-\(number)".utf8) }
                request.appendSlot {
                    $0 += Array("user \(number)".utf8)
                    $0 += [UInt8](repeating: 0x78, count: body)
                }
            }
        }
        return batch
    }

    func send(_ count: Int, from first: Int = 0, tag: Int = 0, body: Int = 0) {
        lane.submit(Self.batch(count, from: first, tag: tag, body: body), to: pool)
    }

    /// How often each apns-id was seen.
    var seen: [String: Int] {
        var seen: [String: Int] = [:]
        for request in peer.state.now.requests { seen[request.headers["apns-id"] ?? "?", default: 0] += 1 }
        return seen
    }
}

extension RequestBatch {
    func count(of kind: Answer.Kind) -> Int { answers.count { $0.kind == kind } }
    func count(of status: UInt16) -> Int { answers.count { $0.kind == .answered && $0.status == status } }
}

/// A thread to be joined.
struct TestThread {
    private let thread: NativeThread
    init(_ body: @escaping @Sendable () -> Void) throws { thread = try NativeThread(name: "test", body) }
    func join() { thread.join() }
}
