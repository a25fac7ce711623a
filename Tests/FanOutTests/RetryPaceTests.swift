// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FanOut
import Foundation
import HTTP2
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestPeers
import Testing

/// No push goes out again before its time, measured where it arrives.
///
/// Days pass in seconds: the clock stands still while pushes travel, and then jumps to the moment at which the ledger's next
/// push is due.
@Suite(.ownThread) struct RetryPaceTests {
    private enum Reply {
        case busy, service, serviceWithTime, reset, refused, accepted
    }

    private struct Visit {
        var at: Timestamp
        var reply: Reply
    }

    /// The peer's requests and answers, by apns-id.
    private final class Diary: Sendable {
        let visits = Mutex<[String: [Visit]]>([:])

        /// The earliest moment at which a push may come again after these visits.
        static func earliest(after visits: [Visit]) -> Timestamp? {
            guard let last = visits.last else { return nil }
            // A refused visit is not counted here. The ledger counts it if the push was sent again at once, but not if it came
            // back unsent, as on a busy machine after five seconds (`PoolMachine.longestWait`).
            let attempts = visits.count { $0.reply != .refused }
            func doubled(_ first: Int64, _ limit: Int64) -> Duration {
                .seconds(min(limit, first << Int64(min(attempts - 1, 20))))
            }
            switch last.reply {
            case .busy: return last.at + doubled(2, 300)
            case .service: return last.at + doubled(900, 14_400)
            case .serviceWithTime: return last.at + .seconds(40)
            case .refused: return last.at
            case .accepted: return nil
            case .reset:
                // The connection pool tries once more at once, unless no connection is available soon. The clock stands still,
                // so a second loss at the same moment is the ledger's.
                let before = visits.dropLast().last { $0.reply != .refused }
                let isSecond = before.map { $0.reply == .reset && $0.at == last.at } ?? false
                return isSecond ? last.at + doubled(1, 300) : last.at
            }
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: 1...3 as ClosedRange<UInt64>)
    func noPushComesBeforeItsTime(seed: UInt64) throws {
        let bench = try FanOutBench()
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let identity = try TestIdentity()
        let diary = Diary()
        let clock = bench.clock
        var manner = PeerManner()
        manner.maximumStreams = 8
        let peer = try ScriptedPeer(identity, manner) { request in
            let now = clock.now
            let id = request.headers["apns-id"] ?? ""
            let reply = diary.visits.withLock { visits in
                let known = visits[id] ?? []
                if let earliest = Diary.earliest(after: known), now < earliest {
                    Issue.record("\(id) came \(earliest - now) early after \(known)")
                }
                if known.last?.reply == .accepted { Issue.record("\(id) came again after it was accepted") }
                // The dice are thrown for each visit of each push, with the same result for the same seed. Few streams are
                // reset: each costs a connection, and the pool's patience with those is real time.
                let hash = id.utf8.reduce(seed &+ UInt64(known.count)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
                let reply: Reply =
                    switch hash >> 20 {
                    case _ where known.count > 5: .accepted
                    case let dice where dice % 40 == 0: .reset
                    case let dice: [.busy, .service, .serviceWithTime, .refused, .accepted][Int(dice % 5)]
                    }
                visits[id, default: []].append(Visit(at: now, reply: reply))
                return reply
            }
            switch reply {
            case .busy: return [.answer(429, [:], #"{"reason":"TooManyRequests"}"#)]
            case .service: return [.answer(503, [:], #"{"reason":"ServiceUnavailable"}"#)]
            case .serviceWithTime: return [.answer(503, ["retry-after": "40"], #"{"reason":"ServiceUnavailable"}"#)]
            case .reset: return [.reset(code: 2)]
            case .refused: return [.reset(code: 7)]
            case .accepted: return [.answer(200)]
            }
        }
        defer { peer.stop() }
        var pool = PoolConfiguration(.apns, egress: .direct, origin: Origin(host: "127.0.0.1", port: peer.port))
        pool.dialer.egress.trustedCertificates = identity.authorityPath
        try bench.register(25)
        let fanOut = try bench.fanOut(pool, timeToLive: .seconds(30 * 86_400))
        defer { fanOut.stop(within: .zero) }
        try bench.raise("2.0")
        fanOut.poke()
        try bench.runToTheEnd(fanOut)

        let visits = diary.visits.withLock { $0 }
        #expect(visits.count == 25)
        #expect(visits.values.allSatisfy { $0.last?.reply == .accepted })
        // Attempts are the visits that the peer saw. A refused visit was no attempt, unless the push was answered in the end.
        for delivery in try bench.deliveries() {
            #expect(delivery.state == .accepted)
            let id = PushID.text(campaign: try bench.campaign().id, device: delivery.device)
            let known = try #require(visits[id], "the ledger's apns-id is the wire's")
            let real = known.count { $0.reply != .refused }
            #expect((real...known.count).contains(delivery.attempts), "\(delivery.attempts) for \(known)")
        }
        #expect(visits.values.reduce(0) { $0 + $1.count } > 50, "there were retries to judge")
    }
}
