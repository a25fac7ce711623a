// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

@testable import FanOut
@testable import HTTP2

/// A lane without a network: it keeps the batches that it gets until the test answers.
final class TestLane: BatchLane {
    struct Pool {
        var configuration: PoolConfiguration
        var waiting: [RequestBatch] = []
        var isRemoved = false
    }

    private let state = Mutex<[Pool]>([])

    var pools: [Pool] { state.withLock { $0 } }

    func addPool(
        _ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver
    ) -> PoolID {
        state.withLock { pools in
            pools.append(Pool(configuration: configuration))
            return PoolID(number: pools.count - 1, receiver: receiver)
        }
    }

    func submit(_ batch: RequestBatch, to pool: PoolID) {
        state.withLock { $0[pool.number].waiting.append(batch) }
    }

    /// Calls nothing back: pushes that a test does not answer stay on their way.
    func withdraw(_ pool: PoolID) {}

    func removePool(_ pool: PoolID) { state.withLock { $0[pool.number].isRemoved = true } }

    func stop(deadline: Duration) {}

    struct Reply {
        var status: UInt16 = 200
        var reason = ""
        /// The time of the token's death.
        var timestamp: Timestamp?
        /// Another form of body than that of APNs.
        var body: String?
    }

    /// Gives the same answer to every push that waits at the host, and returns the events for the dispatcher.
    func answer(_ host: String, status: UInt16, reason: String = "") -> [FanOut.Event] {
        answer(host) { _, _ in Reply(status: status, reason: reason) }
    }

    /// Answers every push that waits at the host, one by one.
    func answer(
        _ host: String, _ reply: (_ place: Int, _ batch: RequestBatch) -> Reply
    ) -> [FanOut.Event] {
        state.withLock { pools in
            var events: [FanOut.Event] = []
            for index in pools.indices where pools[index].configuration.origin.host == host {
                for batch in pools[index].waiting {
                    batch.answers = (0..<batch.count).map { Self.answer(reply($0, batch), in: batch) }
                    events.append(.returned(batch))
                }
                pools[index].waiting.removeAll()
            }
            return events
        }
    }

    private static func answer(_ reply: Reply, in batch: RequestBatch) -> Answer {
        var answer = Answer()
        (answer.kind, answer.sends, answer.status) = (.answered, 1, reply.status)
        guard reply.status != 200 || reply.body != nil else { return answer }
        answer.body = Int32(batch.bodies.count)
        let time = reply.timestamp.map { #","timestamp":\#($0.milliseconds)"# } ?? ""
        batch.bodies.append(Array((reply.body ?? #"{"reason":"\#(reply.reason)"\#(time)}"#).utf8))
        return answer
    }

    /// The number of requests that wait at the host.
    func waiting(at host: String) -> Int {
        state.withLock { pools in
            pools.filter { $0.configuration.origin.host == host }.flatMap(\.waiting).reduce(0) { $0 + $1.count }
        }
    }
}
