// SPDX-License-Identifier: Apache-2.0
import FanOut
import HTTP2
import RelayEngine

/// A relay's lane to a push service that takes everything: a queue, a number of streams, and an answer after a while.
///
/// Unchecked: only the world's thread uses it.
final class FleetLane: BatchLane, @unchecked Sendable {
    private struct Request {
        var batch: RequestBatch
        var place: Int
        var push: SeenPush
    }

    private final class Pool {
        let id: PoolID
        let receiver: any BatchReceiver
        let place: PushPlace
        var waiting: [Request] = []
        var inFlight: [(request: Request, due: MonotonicTime)] = []
        var isConnected = false

        init(_ id: PoolID, _ receiver: any BatchReceiver, _ place: PushPlace) {
            (self.id, self.receiver, self.place) = (id, receiver, place)
        }
    }

    private unowned let world: FleetWorld
    private let relay: Int
    private var pools: [Pool] = []
    private var unanswered: [ObjectIdentifier: Int] = [:]

    init(_ world: FleetWorld, of relay: Int) { (self.world, self.relay) = (world, relay) }

    func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver) -> PoolID {
        let id = PoolID(number: pools.count, receiver: receiver)
        pools.append(Pool(id, receiver, PushPlace(host: configuration.origin.host)))
        return id
    }

    func submit(_ batch: RequestBatch, to pool: PoolID) {
        let pool = pools[pool.number]
        batch.answers = Array(repeating: Answer(), count: batch.count)
        unanswered[ObjectIdentifier(batch)] = batch.count
        for place in 0..<batch.count {
            pool.waiting.append(Request(batch: batch, place: place, push: pool.place.push(batch, place)))
        }
        pump(pool)
    }

    func withdraw(_ pool: PoolID) {
        let pool = pools[pool.number]
        let waiting = pool.waiting
        pool.waiting = []
        for request in waiting { resolve(request, .unsent, pool) }
    }

    func removePool(_ pool: PoolID) { withdraw(pool) }

    func stop(deadline: Duration) {
        for pool in pools {
            withdraw(pool.id)
            // Waits for each answer.
            for one in pool.inFlight { answer(one.request, pool) }
            pool.inFlight = []
        }
    }

    var nextEvent: MonotonicTime? { pools.flatMap { $0.inFlight.map(\.due) }.min() }

    func proceed() {
        for pool in pools {
            while let place = pool.inFlight.indices.filter({ pool.inFlight[$0].due <= world.tick }).min() {
                answer(pool.inFlight.remove(at: place).request, pool)
            }
            pump(pool)
        }
    }

    private func pump(_ pool: Pool) {
        if !world.mayBegin(relay) { withdraw(pool.id) }
        guard !pool.waiting.isEmpty else { return }
        if !pool.isConnected {
            pool.isConnected = true
            pool.receiver.pool(pool.id, is: .connected)
            pool.receiver.pool(pool.id, carries: world.script["streams"])
        }
        while pool.inFlight.count < world.script["streams"], !pool.waiting.isEmpty {
            let request = pool.waiting.removeFirst()
            request.batch.answers[request.place].sends += 1
            world.leaves(request.push, from: relay)
            pool.inFlight.append((request, world.tick + .milliseconds(world.script["latency"])))
        }
    }

    private func answer(_ request: Request, _ pool: Pool) {
        request.batch.answers[request.place].status = 200
        resolve(request, .answered, pool)
    }

    private func resolve(_ request: Request, _ kind: Answer.Kind, _ pool: Pool) {
        let batch = request.batch
        batch.answers[request.place].kind = kind
        let left = (unanswered[ObjectIdentifier(batch)] ?? 1) - 1
        unanswered[ObjectIdentifier(batch)] = left
        guard left == 0 else { return }
        unanswered[ObjectIdentifier(batch)] = nil
        pool.receiver.finished(batch)
    }
}
