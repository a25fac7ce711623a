// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// One pool on its lane's thread: the queue, the batches on their way, the connections.
final class Pool {
    let id: PoolID
    let configuration: PoolConfiguration
    let judge: any AnswerJudge
    let turn: TurnState
    var machine: PoolMachine
    var connections: [HTTP2Connection] = []
    /// Whether the pool takes nothing new; it is forgotten once its last connection has ended.
    private(set) var isClosing = false
    /// Whether nothing is left to do for it.
    var isOver: Bool { isClosing && connections.isEmpty }
    /// Whether an answer has shown that the credential is bad: queued requests go back before anything more is sent.
    var isHalted = false
    private var condition: PoolCondition?
    /// Measures the time of answers, for the machine.
    var meter = AnswerMeter()
    /// The number of streams that was last reported to the receiver.
    private var reportedStreams = 0

    /// Batches by number; numbers are used again.
    private var batches: [PreparedBatch?] = []
    private var freeNumbers: [Int32] = []
    /// Batches with requests not taken yet, from `waitingHead` on.
    private var waiting: [Int32] = []
    private var waitingHead = 0
    /// Requests that go out again, before all others, from `returnedHead` on.
    private var returned: [RequestReference] = []
    private var returnedHead = 0
    private(set) var queued = 0
    private var lastTemplate: PreparedTemplate?

    init(
        id: PoolID, configuration: PoolConfiguration, judge: any AnswerJudge, turn: TurnState
    ) {
        self.id = id
        self.configuration = configuration
        self.judge = judge
        self.turn = turn
        machine = PoolMachine(maximumConnections: configuration.maximumConnections)
    }

    // MARK: The queue

    func enqueue(_ batch: RequestBatch, at now: MonotonicTime) {
        guard batch.count > 0 else {
            turn.finished.append((batch, id.receiver))
            return
        }
        let template: PreparedTemplate
        if let lastTemplate, lastTemplate.template === batch.template {
            template = lastTemplate
        } else {
            template = PreparedTemplate(batch.template)
            lastTemplate = template
        }
        let prepared = PreparedBatch(batch, template: template, at: now)
        let number: Int32
        if let free = freeNumbers.popLast() {
            number = free
            batches[Int(number)] = prepared
        } else {
            number = Int32(batches.count)
            batches.append(prepared)
        }
        waiting.append(number)
        queued += prepared.count
        if isClosing { withdraw() }
    }

    /// The next request to send: requests that are sent again come first.
    func take() -> (reference: RequestReference, prepared: PreparedBatch)? {
        while returnedHead < returned.count {
            let reference = returned[returnedHead]
            returnedHead += 1
            if returnedHead == returned.count {
                returned.removeAll(keepingCapacity: true)
                returnedHead = 0
            }
            queued -= 1
            guard let prepared = batches[Int(reference.batch)] else { continue }
            return (reference, prepared)
        }
        while waitingHead < waiting.count {
            let number = waiting[waitingHead]
            if let prepared = batches[Int(number)], prepared.next < prepared.count {
                let reference = RequestReference(batch: number, request: Int32(prepared.next), isSecond: false)
                prepared.next += 1
                queued -= 1
                return (reference, prepared)
            }
            waitingHead += 1
            if waitingHead == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                waitingHead = 0
            } else if waitingHead > 1024 {
                waiting.removeFirst(waitingHead)
                waitingHead = 0
            }
        }
        return nil
    }

    func prepared(_ reference: RequestReference) -> PreparedBatch? {
        reference.batch < 0 ? nil : batches[Int(reference.batch)]
    }

    /// Answers every queued request now: `.unsent`, or `.lost` where it went out once with an unknown outcome. Requests on a
    /// connection do not come back into the queue: nothing would call them back from there, and a pool that cannot dial would
    /// keep them for ever.
    func withdraw() {
        for prepared in batches { prepared?.isWithdrawn = true }
        while let (reference, _) = take() {
            switch PoolMachine.fateWhenWithdrawn(isSecond: reference.isSecond) {
            case .lost: resolve(reference, .lost)
            case .unsent, .sendAgain: resolve(reference, .unsent)
            }
        }
    }

    /// Answers requests that have waited for too long, or would have before the next dial. The caller then decides anew
    /// which devices get a push, since devices change hands, log out and upgrade.
    func handBackStale(at now: MonotonicTime) {
        guard queued > 0 else { return }
        let pause = connections.contains(where: \.machine.isUsable) ? nil : machine.dialPause(at: now)
        func canWait(_ number: Int32) -> Bool {
            guard let prepared = batches[Int(number)] else { return true }
            if prepared.batch.reportsUnreachable, pause != nil { return false }
            return PoolMachine.canWait(since: prepared.enqueuedAt, until: now + (pause ?? .zero))
        }
        // There are few batches, so this check is cheap, and it ends most turns here, however many requests are sent again.
        guard batches.indices.contains(where: { !canWait(Int32($0)) }) else { return }
        let (again, numbers) = (returned[returnedHead...], waiting[waitingHead...])
        guard !again.allSatisfy({ canWait($0.batch) }) || !numbers.allSatisfy(canWait) else { return }
        let seconds = pause.map { Int32(clamping: max(1, ($0.milliseconds + 999) / 1000)) } ?? -1
        returned = []
        returnedHead = 0
        waiting = []
        waitingHead = 0
        for reference in again {
            guard let prepared = prepared(reference), !canWait(reference.batch) else {
                returned.append(reference)
                continue
            }
            queued -= 1
            let unsent = prepared.unsent(isConnected: pause == nil)
            resolve(reference, reference.isSecond ? .lost : unsent, retryAfter: seconds)
        }
        for number in numbers {
            guard let prepared = batches[Int(number)], !canWait(number) else {
                waiting.append(number)
                continue
            }
            while prepared.next < prepared.count {
                let reference = RequestReference(batch: number, request: Int32(prepared.next), isSecond: false)
                prepared.next += 1
                queued -= 1
                resolve(reference, prepared.unsent(isConnected: pause == nil), retryAfter: seconds)
            }
        }
    }

    // MARK: Answers

    func resolve(
        _ reference: RequestReference, _ kind: Answer.Kind, after latency: UInt64? = nil, status: UInt16 = 0,
        retryAfter: Int32 = -1, body: [UInt8]? = nil, _ reading: AnswerReading = AnswerReading()
    ) {
        guard let prepared = prepared(reference) else { return }
        let answer = unsafe prepared.answers + Int(reference.request)
        unsafe answer.pointee.kind = kind
        if kind != .lost { unsafe answer.pointee.retryAfter = retryAfter }
        if kind == .answered {
            unsafe answer.pointee.status = status
            if let latency { prepared.batch.latency.add(nanoseconds: latency) }
            if let body, !body.isEmpty {
                unsafe answer.pointee.body = Int32(prepared.batch.bodies.count)
                prepared.batch.append(body: body, reading)
            }
        }
        prepared.unanswered -= 1
        guard prepared.unanswered == 0 else { return }
        prepared.finish()
        turn.finished.append((prepared.batch, id.receiver))
        discardIfIdle(reference.batch, prepared)
    }

    /// Decides about a request whose stream ended without an answer.
    func streamEnded(_ reference: RequestReference, _ end: PoolMachine.RequestEnd) {
        guard let prepared = prepared(reference) else { return }
        let sends = Int(unsafe prepared.answers[Int(reference.request)].sends)
        let fate = machine.fate(
            after: end, isSecond: reference.isSecond, sends: sends, isWithdrawn: prepared.isWithdrawn)
        switch fate {
        case .sendAgain(let isSecond):
            var again = reference
            again.isSecond = isSecond
            returned.append(again)
            queued += 1
            if sends > 0 { turn.figures.resends += 1 }
        case .lost:
            resolve(reference, .lost)
        case .unsent:
            resolve(reference, .unsent)
        }
    }

    /// Notes that nghttp2 has closed a stream whose request had its answer before.
    func unpin(_ reference: RequestReference) {
        guard let prepared = prepared(reference) else { return }
        prepared.abandoned -= 1
        if prepared.unanswered == 0 { discardIfIdle(reference.batch, prepared) }
    }

    private func discardIfIdle(_ number: Int32, _ prepared: PreparedBatch) {
        guard prepared.abandoned == 0 else { return }
        batches[Int(number)] = nil
        freeNumbers.append(number)
        turn.discarded.append(prepared)
    }

    // MARK: Connections

    func census(at now: MonotonicTime) -> PoolMachine.Connections {
        var census = PoolMachine.Connections()
        for connection in connections {
            if connection.machine.isUsable {
                census.usable += 1
                census.streams += connection.machine.width(at: now) ?? 0
                census.inFlight += connection.machine.inFlight
                if connection.machine.isFull(at: now) { census.full += 1 }
                if connection.machine.room > 0 { census.ready += 1 }
                if connection.machine.hasOutlived { machine.outlived() }
            } else {
                census.ending += 1
                census.inFlightOnRetired += connection.machine.inFlight
            }
        }
        return census
    }

    /// Begins a new measurement where the connections' width has changed; called before they are filled to it.
    func noteWidth(at now: MonotonicTime) {
        let streams = census(at: now).streams
        if streams != reportedStreams {
            reportedStreams = streams
            turn.widths.append((id, streams, id.receiver))
        }
        guard max(streams, 1) != meter.streams else { return }
        if meter.streams == 1, let reading = meter.reading(at: now) { machine.considerFirst(reading) }
        meter.restart(streams: streams, at: now)
    }

    /// Passes a complete measurement to the machine, and lets it decide.
    func decide(at now: MonotonicTime) -> PoolMachine.DialDecision {
        let census = census(at: now)
        if PoolMachine.isShort(queued: queued, census) {
            if let reading = meter.reading(at: now) {
                machine.consider(reading, census, at: now)
                meter.restart(streams: census.streams, at: now)
            }
        } else if queued == 0, meter.streams > 1 {
            // Empty streams measure nothing about full ones.
            meter.restart(streams: census.streams, at: now)
        }
        let surplus = machine.surplus(census, at: now)
        if surplus > 0 {
            // The oldest stay.
            for connection in connections.filter(\.machine.isUsable).suffix(surplus) { connection.retire(.surplus) }
        }
        return machine.decide(queued: queued, census, at: now)
    }

    /// Fills the connections as far as they have room, in turns, so that they share the load.
    func pump(at now: MonotonicTime) {
        if isHalted {
            isHalted = false
            withdraw()
        }
        var isMoving = true
        while isMoving, queued > 0 {
            isMoving = false
            for connection in connections where connection.fill(atMost: 64, at: now) {
                isMoving = true
                // Written at once, while the CPU still has the requests' data in its cache.
                connection.flush(fullRecordsOnly: true)
            }
        }
    }

    /// Hands back queued requests, sends nothing new, lets requests in flight end.
    func close() {
        isClosing = true
        machine.stop()
        withdraw()
        for connection in connections { connection.retire(.stopped) }
    }

    /// Reports the first connection. After a fault a connection is not reported: only an answer shows that requests get
    /// through again.
    func connected() {
        if condition == nil { report(.connected) }
    }

    /// Reports, after a fault, that the server answers requests again, whatever the answers are.
    func answers() {
        if case .failing? = condition { report(.connected) }
    }

    func report(_ new: PoolCondition) {
        guard condition != new else { return }
        condition = new
        turn.conditions.append((id, new, id.receiver))
    }
}
