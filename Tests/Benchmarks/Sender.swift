// SPDX-License-Identifier: Apache-2.0
import CAllocationCount
import CurlTransport
import Foundation
import HTTP2
import PushProviders
import RelayEngine
import Signing
import Synchronization
import UpgradeRules

/// The relay's transport alone: batches are built as the fan-out builds them, with distinct tokens, ids and telephones, sent by one
/// lane, and counted when they come back.
///
/// A process of its own (`relay-bench send PORT AUTHORITY KEY PUSHES STREAMS [CARRIER TOKENS]`), so that its CPU is the sending
/// side's alone.
struct Sender {
    private let origin: Origin
    private let trustedCertificates: String
    private let key: ES256PrivateKey
    private let pushes: Int
    private let streams: Int
    private let carrier: Transport
    /// Tokens in each request: more than one are its body, one after the other, in place of a push's form.
    private let tokens: Int

    init(_ words: ArraySlice<String>) throws {
        let words = Array(words)
        guard words.count == 5 || words.count == 7, let port = UInt16(words[0]), let pushes = Int(words[3]),
            let streams = Int(words[4]), let tokens = words.count == 7 ? Int(words[6]) : 1
        else { throw BenchError("send wants: PORT AUTHORITY KEY PUSHES STREAMS [CARRIER TOKENS]") }
        carrier = words.count == 7 && words[5] == "libcurl" ? .libcurl : .nghttp2
        self.tokens = tokens
        origin = Origin(host: "127.0.0.1", port: port)
        trustedCertificates = words[1]
        key = try ES256PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: words[2]))))
        self.pushes = pushes
        self.streams = streams
    }

    /// The figures of a run.
    struct Result: Codable {
        var accepted = 0
        var connections = 0
        /// From the first submitted batch to the last answer, dialling included, in seconds.
        var seconds = 0.0
        /// The processor time of the lane's thread, in nanoseconds: frames, TLS, system calls, answers.
        var laneTime: UInt64 = 0
        /// Allocations by the lane's thread, per push, without the first half of the run; nil if a sanitizer replaces malloc.
        var allocations: Double?
    }

    static let topic = "com.example.taxi"
    static let teamID = "BENCHTEAM1"
    static let keyID = "BENCHKEY01"
    static let payload = UpgradePayload(
        type: "mddy_needUpgrade", alert: "A new version is ready. Please upgrade.",
        downloadURL: "https://apps.apple.com/app/id1173193999")
    private static let campaign = Array("0123456789ab".utf8)
    private static let laneName = "lane 0"
    static let batchSize = 1000
    /// The number of batches that the fan-out has on their way for two shards.
    private static let batchesOut = 8

    func run() throws -> Result {
        let inbox = Inbox()
        let lane: any BenchLane =
            switch carrier {
            case .nghttp2: try Lane(name: Self.laneName)
            case .libcurl: try CurlLane(name: Self.laneName)
            }
        var configuration = PoolConfiguration(.apns, egress: .direct, origin: origin)
        configuration.dialer.egress.trustedCertificates = trustedCertificates
        configuration.maximumConnections = 1
        configuration.connection.maximumStreams = streams
        let provider = Self.provider(key: key)
        let template = try Self.template(provider, authority: origin.authority)
        let pool = lane.addPool(configuration, judge: APNsJudge(), receiver: inbox)
        let began = ContinuousClock.now
        var submitted = 0
        var answered = 0
        var result = Result()
        while answered < pushes {
            while submitted < pushes, submitted - answered < Self.batchSize * Self.batchesOut {
                let count = min(Self.batchSize, pushes - submitted)
                let batch =
                    tokens == 1
                    ? Self.batch(provider, template, from: submitted, count: count)
                    : Self.batch(of: tokens, template, from: submitted, count: count)
                lane.submit(batch, to: pool)
                submitted += count
            }
            for batch in inbox.wait() {
                answered += batch.pushCount
                for (request, answer) in batch.answers.enumerated() where answer.isPlainSuccess {
                    result.accepted += batch.pushes(of: request).count
                }
            }
        }
        result.seconds = (ContinuousClock.now - began) / .seconds(1)
        result.connections = lane.figures.connectionsOpened
        result.allocations = inbox.allocations
        result.laneTime = ThreadUsage.all(of: getpid()).first { $0.name == Self.laneName }?.processorTime ?? 0
        lane.stop(deadline: .seconds(5))
        return result
    }

    private static func provider(key: ES256PrivateKey) -> APNsProvider {
        let tokens = APNsTokenSource(teamID: teamID, keyID: keyID, key: key)
        return APNsProvider(settings: .init(topic: topic, priority: 10), tokens: tokens)
    }

    private static func template(_ provider: APNsProvider, authority: String) throws -> RequestTemplate {
        let now = Timestamp(seconds: Int64(Date.now.timeIntervalSince1970))
        return try provider.template(
            for: payload, of: "000000000000", authority: authority, expiresAt: now + .seconds(86_400), at: now
        ).request
    }

    private static func batch(
        _ provider: APNsProvider, _ template: RequestTemplate, from first: Int, count: Int
    ) -> RequestBatch {
        let batch = RequestBatch(
            template: template, tag: 0, capacity: count, bytesPerRequest: provider.bytesPerPush)
        var arena: [UInt8] = []
        let targets = (first..<first + count).map { device($0, in: &arena) }
        provider.append(targets, of: arena, campaign: campaign, to: batch)
        return batch
    }

    /// Requests of so many tokens, each with the fields of one push.
    private static func batch(
        of tokens: Int, _ template: RequestTemplate, from first: Int, count: Int
    ) -> RequestBatch {
        let fields = template.fields.map { field in
            let name = String(decoding: field.name, as: UTF8.self)
            guard case .slot(let slot) = field.value else { return field }
            return RequestTemplate.Field(name, .slot(slot), isIndexed: false)
        }
        let shared = RequestTemplate(
            fields: fields, body: [.slot(template.slotCount)], slotCount: template.slotCount + 1)
        let batch = RequestBatch(template: shared, tag: 0, capacity: count, bytesPerRequest: tokenLength * tokens)
        for start in stride(from: first, to: first + count, by: tokens) {
            var arena: [UInt8] = []
            let targets = (start..<min(start + tokens, first + count)).map { device($0, in: &arena) }
            batch.append(pushes: targets.count) { request in
                // The path is one of them; the sink looks at none.
                for _ in 0..<template.slotCount {
                    request.appendSlot { $0 += Array("/3/device/".utf8) + arena[targets[0].token.range] }
                }
                request.appendSlot { bytes in
                    for target in targets { bytes += arena[target.token.range] }
                }
            }
        }
        return batch
    }

    private static let tokenLength = 64

    // MARK: For other senders

    /// The header fields of one push, without the pseudo-fields.
    static func sampleFields(key: ES256PrivateKey) throws -> [(name: String, value: String)] {
        let template = try template(provider(key: key), authority: "")
        return template.fields.compactMap { field in
            let name = String(decoding: field.name, as: UTF8.self)
            guard !name.hasPrefix(":") else { return nil }
            return switch field.value {
            case .constant(let bytes): (name, String(decoding: bytes, as: UTF8.self))
            // The path is a pseudo-field: what remains is the apns-id.
            case .slot: (name, PushID.text(campaign: String(decoding: campaign, as: UTF8.self), device: 1))
            }
        }
    }

    static var sampleBody: [UInt8] { payload.beforeTelephone + telephone(1).utf8 + payload.afterTelephone }

    // MARK: Devices

    static func token(_ number: Int) -> String { text(number, \.token) }
    static func telephone(_ number: Int) -> String { text(number, \.telephone) }

    private static func text(_ number: Int, _ part: KeyPath<PushTarget, ByteSlice>) -> String {
        var bytes: [UInt8] = []
        let device = device(number, in: &bytes)
        return String(decoding: bytes[device[keyPath: part].range], as: UTF8.self)
    }

    /// Makes a token as random as real ones, for HPACK's Huffman code, and a telephone.
    private static func device(_ number: Int, in arena: inout [UInt8]) -> PushTarget {
        let start = arena.count
        var state = UInt64(number)
        for _ in 0..<tokenLength / 16 {
            // Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014).
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            mixed ^= mixed >> 31
            for _ in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: mixed & 15)
                arena.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
                mixed >>= 4
            }
        }
        // Eleven digits, the first of which are always the same.
        var place = 10_000_000_000
        while place > 0 {
            arena.append(0x30 + UInt8((13_800_000_000 + number % 100_000_000) / place % 10))
            place /= 10
        }
        return PushTarget(
            token: ByteSlice(offset: UInt32(start), length: UInt32(tokenLength)),
            telephone: ByteSlice(
                offset: UInt32(start + tokenLength), length: UInt32(arena.count - start - tokenLength)),
            device: Int64(number))
    }

    /// Finished batches, for the thread that builds new ones.
    private final class Inbox: BatchReceiver {
        private struct State {
            var batches: [RequestBatch] = []
            /// The allocations by the lane's thread until each batch came, with the batch's pushes.
            var counts: [(asked: Int, pushes: Int)] = []
        }

        private let state = Mutex(State())
        private let arrival = DispatchSemaphore(value: 0)

        /// The allocations per push, without the first half; nil: they were not counted.
        var allocations: Double? {
            state.withLock { state in
                let counts = state.counts.suffix(state.counts.count / 2)
                guard let first = counts.first, let last = counts.last, first.asked >= 0, counts.count > 1 else {
                    return nil
                }
                return Double(last.asked - first.asked) / Double(counts.dropFirst().reduce(0) { $0 + $1.pushes })
            }
        }

        func finished(_ batch: RequestBatch) {
            let asked = allocation_count()
            let isFirst = state.withLock { state in
                state.counts.append((asked, batch.count))
                state.batches.append(batch)
                return state.batches.count == 1
            }
            if isFirst { arrival.signal() }
        }

        func pool(_ pool: PoolID, carries streams: Int) {}

        func pool(_ pool: PoolID, is condition: PoolCondition) {
            guard case .failing(let error, _) = condition else { return }
            FileHandle.standardError.write(Data("relay-bench send: \(error)\n".utf8))
            exit(1)
        }

        func wait() -> [RequestBatch] {
            arrival.wait()
            return state.withLock { state in
                let all = state.batches
                state.batches.removeAll()
                return all
            }
        }
    }
}

/// The part of a lane that is measured.
private protocol BenchLane: AnyObject {
    func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver) -> PoolID
    func submit(_ batch: RequestBatch, to pool: PoolID)
    func stop(deadline: Duration)
    var figures: LaneFigures { get }
}

extension Lane: BenchLane {}
extension CurlLane: BenchLane {}
