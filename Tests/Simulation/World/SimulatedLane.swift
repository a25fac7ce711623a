// SPDX-License-Identifier: Apache-2.0
import FanOut
import HTTP2
import RelayEngine

/// A lane without sockets: queues, connections that are up or down, streams, time-outs. The fate of a request whose stream ended without an
/// answer is decided by the product's own rule (`PoolMachine.fate`).
///
/// Unchecked: only the world's thread uses it.
final class SimulatedLane: BatchLane, @unchecked Sendable {
    private struct Request {
        var batch: RequestBatch
        var place: Int
        var push: SeenPush
        var enqueuedAt: MonotonicTime
        var isSecond = false
        /// It was called back while it was on a connection.
        var wasCalledBack = false
    }

    private struct InFlight {
        var request: Request
        var answer: ServiceAnswer
        var due: MonotonicTime
        var isWithdrawn = false
    }

    private final class Pool {
        let id: PoolID
        let receiver: any BatchReceiver
        let judge: any AnswerJudge
        let place: PushPlace
        let streams: Int
        var rules: PoolMachine
        var waiting: [Request] = []
        var inFlight: [InFlight] = []
        var isConnected = false
        var dialsAt: MonotonicTime?
        var isRemoved = false

        init(_ id: PoolID, _ receiver: any BatchReceiver, _ judge: any AnswerJudge, _ place: PushPlace, streams: Int) {
            self.id = id
            self.receiver = receiver
            self.judge = judge
            self.place = place
            self.streams = streams
            rules = PoolMachine(maximumConnections: 1)
        }
    }

    private unowned let world: World
    private var pools: [Pool] = []
    /// By batch: the number of its requests that have no answer yet.
    private var unanswered: [ObjectIdentifier: Int] = [:]
    /// By batch: the pushes that the service took.
    private var taken: [ObjectIdentifier: [SeenPush]] = [:]
    /// By batch: how its requests ended so far.
    private var ends: [ObjectIdentifier: [SeenEnd]] = [:]

    init(_ world: World) { self.world = world }

    func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver) -> PoolID {
        let id = PoolID(number: pools.count, receiver: receiver)
        let place = PushPlace(host: configuration.origin.host)
        pools.append(Pool(id, receiver, judge, place, streams: world.streams(of: place.app)))
        return id
    }

    func submit(_ batch: RequestBatch, to pool: PoolID) {
        let pool = pools[pool.number]
        batch.answers = Array(repeating: Answer(), count: batch.count)
        unanswered[ObjectIdentifier(batch)] = batch.count
        let pushes = (0..<batch.count).map { pool.place.push(batch, $0) }
        pool.waiting += pushes.enumerated().map { place, push in
            Request(batch: batch, place: place, push: push, enqueuedAt: world.tick)
        }
        world.submitted(pushes, to: pool.place)
        if pool.isRemoved { withdraw(pool) }
        pump(pool)
    }

    func withdraw(_ pool: PoolID) { withdraw(pools[pool.number]) }

    private func withdraw(_ pool: Pool) {
        for index in pool.inFlight.indices { pool.inFlight[index].isWithdrawn = true }
        let waiting = pool.waiting
        pool.waiting = []
        for request in waiting {
            resolve(request, request.isSecond ? .lost : .unsent, pool)
        }
    }

    func removePool(_ pool: PoolID) {
        let pool = pools[pool.number]
        pool.isRemoved = true
        withdraw(pool)
    }

    func stop(deadline: Duration) {}

    /// Pushes of a campaign that are on a connection, by their ids.
    func inFlight(of campaign: String) -> [String] {
        pools.flatMap { $0.inFlight.map(\.request.push).filter { $0.campaign == campaign }.map(\.id) }
    }

    /// Whether a push is on its way to a token.
    func isInFlight(app: Int, _ token: String) -> Bool {
        pools.contains { pool in
            pool.place.app == app && pool.inFlight.contains { $0.request.push.token == token }
        }
    }

    // MARK: Time

    /// When something happens here next without a call from outside.
    var nextEvent: MonotonicTime? {
        pools.flatMap { pool in
            pool.inFlight.map(\.due) + (pool.waiting.isEmpty ? [] : [pool.dialsAt].compactMap(\.self))
                + pool.waiting.prefix(1).map { $0.enqueuedAt + PoolMachine.longestWait + .milliseconds(1) }
        }
        .min()
    }

    /// Whether nothing waits and nothing is on its way.
    var isIdle: Bool { pools.allSatisfy { $0.waiting.isEmpty && $0.inFlight.isEmpty } }

    /// Ends the requests that are due, and sends those that can leave.
    func proceed() {
        for pool in pools {
            while let place = pool.inFlight.indices.filter({ pool.inFlight[$0].due <= world.tick })
                .min(by: { pool.inFlight[$0].due < pool.inFlight[$1].due })
            {
                end(pool.inFlight.remove(at: place), pool)
            }
            pump(pool)
        }
    }

    /// The weather of a place has changed for the worse: its connections are gone.
    func disconnect(_ place: PushPlace) {
        for pool in pools where pool.place == place {
            pool.isConnected = false
            let inFlight = pool.inFlight
            pool.inFlight = []
            for one in inFlight { streamEnded(one, .unknown, pool) }
        }
    }

    private func pump(_ pool: Pool) {
        guard !pool.waiting.isEmpty, !world.isDying else { return }
        // As `LaneLoop` does it.
        guard !world.isBack || world.relay?.mayBegin == true else { return withdraw(pool) }
        if !pool.isConnected {
            if let time = pool.dialsAt, time > world.tick { return handBack(pool) }
            guard world.isReachable(pool.place) else {
                pool.rules.dialFailed(at: world.tick, random: 0)
                pool.dialsAt = world.tick + (pool.rules.dialPause(at: world.tick) ?? .seconds(1))
                pool.receiver.pool(pool.id, is: .failing(error: "connection refused", attempts: pool.rules.setbacks))
                return handBack(pool)
            }
            pool.isConnected = true
            pool.rules = PoolMachine(maximumConnections: 1)
            pool.dialsAt = nil
            pool.receiver.pool(pool.id, is: .connected)
            pool.receiver.pool(pool.id, carries: pool.streams)
        }
        while pool.inFlight.count < pool.streams, !pool.waiting.isEmpty, pool.isConnected {
            let request = pool.waiting.removeFirst()
            if request.wasCalledBack { world.leavesCalledBack(request.push) }
            request.batch.answers[request.place].sends += 1
            let answer = world.leaves(request.push, at: pool.place)
            pool.inFlight.append(
                InFlight(request: request, answer: answer, due: world.tick + .milliseconds(answer.milliseconds)))
        }
        handBack(pool)
    }

    /// Hands back the requests that would wait too long for a connection or for their turn on one.
    private func handBack(_ pool: Pool) {
        let dialsAt = pool.isConnected ? nil : pool.dialsAt ?? world.tick
        let seconds = dialsAt.map { Int32(clamping: max(1, ($0 - world.tick).milliseconds / 1000)) } ?? -1
        let waiting = pool.waiting
        func canWait(_ request: Request) -> Bool {
            if request.batch.reportsUnreachable, dialsAt != nil { return false }
            return PoolMachine.canWait(since: request.enqueuedAt, until: dialsAt ?? world.tick)
        }
        pool.waiting = waiting.filter(canWait)
        for request in waiting where !canWait(request) {
            let unsent: Answer.Kind = request.batch.reportsUnreachable && dialsAt != nil ? .unreachable : .unsent
            resolve(request, request.isSecond ? .lost : unsent, pool, retryAfter: seconds)
        }
    }

    // MARK: Answers

    private func end(_ one: InFlight, _ pool: Pool) {
        switch one.answer.kind {
        case .lost: streamEnded(one, .unknown, pool)
        case .refused: streamEnded(one, .notProcessed, pool)
        case .answered:
            let batch = one.request.batch
            let body = Array(one.answer.body.utf8)
            var isHalted = false
            world.delivered(one.answer, to: one.request.push, of: ObjectIdentifier(batch), at: pool.place)
            batch.answers[one.request.place].status = one.answer.status
            if one.answer.status == 200 {
                taken[ObjectIdentifier(batch), default: []].append(one.request.push)
            } else {
                batch.answers[one.request.place].body = Int32(batch.bodies.count)
                let (verdict, reading) = pool.judge.judge(status: one.answer.status, body: body)
                batch.append(body: body, reading)
                isHalted = verdict == .halt
            }
            resolve(one.request, .answered, pool, retryAfter: one.answer.retryAfter, one.answer)
            if isHalted { withdraw(pool) }
        }
    }

    private func streamEnded(_ one: InFlight, _ end: PoolMachine.RequestEnd, _ pool: Pool) {
        let sends = Int(one.request.batch.answers[one.request.place].sends)
        let fate = pool.rules.fate(
            after: end, isSecond: one.request.isSecond, sends: sends, isWithdrawn: one.isWithdrawn || pool.isRemoved)
        switch fate {
        case .sendAgain(let isSecond):
            var again = one.request
            (again.isSecond, again.wasCalledBack) = (isSecond, one.isWithdrawn || pool.isRemoved)
            pool.waiting.insert(again, at: 0)
        case .lost: resolve(one.request, .lost, pool)
        case .unsent: resolve(one.request, .unsent, pool)
        }
    }

    private func resolve(
        _ request: Request, _ kind: Answer.Kind, _ pool: Pool, retryAfter: Int32 = -1, _ answer: ServiceAnswer? = nil
    ) {
        let batch = request.batch
        ends[ObjectIdentifier(batch), default: []].append(
            SeenEnd(
                push: request.push, kind: kind, answer: answer, retryAfter: retryAfter,
                sends: Int(batch.answers[request.place].sends)))
        batch.answers[request.place].kind = kind
        batch.answers[request.place].retryAfter = retryAfter
        let left = (unanswered[ObjectIdentifier(batch)] ?? 1) - 1
        unanswered[ObjectIdentifier(batch)] = left
        guard left == 0 else { return }
        unanswered[ObjectIdentifier(batch)] = nil
        let id = ObjectIdentifier(batch)
        world.ended(ends.removeValue(forKey: id) ?? [])
        world.returned(id, taken: taken.removeValue(forKey: id) ?? [])
        pool.receiver.finished(batch)
    }
}

/// Where a pool leads: an app's production or sandbox, by the name of its host.
struct PushPlace: Hashable {
    var app: Int
    var isSandbox: Bool

    init(app: Int, isSandbox: Bool) {
        (self.app, self.isSandbox) = (app, isSandbox)
    }

    /// "push0", "sandbox1".
    init(host: String) {
        self.init(app: Int(String(host.last ?? "0")) ?? 0, isSandbox: host.hasPrefix("sandbox"))
    }

    var host: String { (isSandbox ? "sandbox" : "push") + String(app) }

    /// The push in a request, as the service reads it.
    func push(_ batch: RequestBatch, _ place: Int) -> SeenPush {
        func slot(_ number: Int) -> String {
            String(
                decoding: batch.bytes.arena[batch.bytes.slots[place * batch.template.slotCount + number].range],
                as: UTF8.self)
        }
        let isAPNs = slot(0).hasPrefix("/3/device/")
        // APNs: path, id, telephone. FCM: target, telephone, id.
        let token =
            isAPNs ? String(slot(0).dropFirst("/3/device/".count)) : String(slot(0).dropFirst("token\":\"".count))
        let id = slot(isAPNs ? 1 : 2)
        let telephone = slot(isAPNs ? 2 : 1)
        let campaign = String(id.prefix(8)) + String(id.dropFirst(9).prefix(4))
        return SeenPush(
            app: app, isSandbox: isSandbox, token: token, telephone: telephone, campaign: campaign, id: id)
    }
}
