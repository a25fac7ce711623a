// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import WireFormat

/// A batch on its way by libcurl.
final class CarriedBatch {
    let batch: RequestBatch
    let bytes: RequestBytes
    let enqueuedAt: MonotonicTime
    /// The first request that has not been taken from the queue yet.
    var next = 0
    /// Requests whose answer is still open.
    var open: Int
    /// Whether the batch was called back: then a request that its connection does not conclude is not sent again.
    var isWithdrawn = false

    init(_ batch: RequestBatch, at now: MonotonicTime) {
        self.batch = batch
        bytes = batch.bytes
        enqueuedAt = now
        open = batch.count
        batch.bytes.release()
        batch.answers = Array(repeating: Answer(), count: batch.count)
    }
}

/// One request of a carried batch.
struct CarriedRequest {
    let carried: CarriedBatch
    let place: Int
    /// Whether the request was sent once with an unknown outcome.
    var isSecond = false

    var sends: Int { Int(carried.batch.answers[place].sends) }
}

/// One pool on the thread of a lane by libcurl: its queue and what it may have under way.
final class CurlPool {
    let id: PoolID
    let configuration: PoolConfiguration
    let judge: any AnswerJudge
    let client: HTTPClient
    /// Its back-off after failures, and the fate of requests without an answer. libcurl keeps the connections.
    private(set) var machine: PoolMachine
    /// Requests under way.
    var inFlight = 0
    private(set) var isClosing = false
    var isOver: Bool { isClosing && inFlight == 0 }
    private(set) var queued = 0
    /// The batches with requests not taken yet, and the requests that go out again, before all others.
    private var waiting: [CarriedBatch] = []
    private var again: [CarriedRequest] = []
    /// All batches that have not been handed back.
    private var batches: [CarriedBatch] = []

    /// Whether a good answer has shown that the server takes requests.
    private var isProven = false
    private var isHTTP2 = false
    /// Whether a good answer has come since the last failure.
    private var hasDelivered = false
    /// Answers in a row that blame the credential.
    private var doubts = 0
    private var condition: PoolCondition?
    private var reportedWidth = 0

    /// The reports to the receiver, which is called once the turn is over.
    private(set) var finished: [RequestBatch] = []
    private(set) var conditions: [PoolCondition] = []

    /// Requests that one connection of HTTP/2 carries at most: libcurl's own limit (CURLMOPT_MAX_CONCURRENT_STREAMS(3)). Where the
    /// server allows less, libcurl makes more connections.
    private static let streams = 100

    init(id: PoolID, configuration: PoolConfiguration, judge: any AnswerJudge) {
        self.id = id
        self.configuration = configuration
        self.judge = judge
        client = HTTPClient(to: configuration.dialer.destination, egress: configuration.dialer.egress)
        machine = PoolMachine(maximumConnections: configuration.maximumConnections)
    }

    /// Requests that may be under way at once: one until the server has taken one, then one for each connection, or for each stream.
    var width: Int {
        guard isProven else { return 1 }
        return isHTTP2
            ? min(Self.streams, configuration.connection.maximumStreams) : max(1, configuration.maximumConnections)
    }

    // MARK: The queue

    func enqueue(_ batch: RequestBatch, at now: MonotonicTime) {
        guard batch.count > 0 else { return finished.append(batch) }
        let carried = CarriedBatch(batch, at: now)
        batches.append(carried)
        waiting.append(carried)
        queued += batch.count
        if isClosing { withdraw() }
    }

    /// The next request that may go out now.
    func take(at now: MonotonicTime) -> CarriedRequest? {
        guard inFlight < width, machine.dialPause(at: now) == nil else { return nil }
        return takeAny()
    }

    private func takeAny() -> CarriedRequest? {
        if !again.isEmpty {
            queued -= 1
            return again.removeFirst()
        }
        guard let first = waiting.first else { return nil }
        let request = CarriedRequest(carried: first, place: first.next)
        first.next += 1
        queued -= 1
        if first.next == first.batch.count { waiting.removeFirst() }
        return request
    }

    func withdraw() {
        for carried in batches { carried.isWithdrawn = true }
        while let request = takeAny() {
            resolve(request, PoolMachine.fateWhenWithdrawn(isSecond: request.isSecond) == .lost ? .lost : .unsent)
        }
    }

    /// Answers requests that have waited for too long, or would have before the server is dialled again (`Pool.handBackStale`).
    func handBackStale(at now: MonotonicTime) {
        guard queued > 0 else { return }
        let pause = machine.dialPause(at: now)
        func canWait(_ carried: CarriedBatch) -> Bool {
            if carried.batch.reportsUnreachable, pause != nil { return false }
            return PoolMachine.canWait(since: carried.enqueuedAt, until: now + (pause ?? .zero))
        }
        let seconds = pause.map { Int32(clamping: max(1, ($0.milliseconds + 999) / 1000)) } ?? -1
        func handBack(_ request: CarriedRequest) {
            queued -= 1
            let unsent: Answer.Kind =
                request.carried.batch.reportsUnreachable && pause != nil ? .unreachable : .unsent
            resolve(request, request.isSecond ? .lost : unsent, retryAfter: seconds)
        }
        let stale = again.filter { !canWait($0.carried) }
        again.removeAll { !canWait($0.carried) }
        for request in stale { handBack(request) }
        let staleBatches = waiting.filter { !canWait($0) }
        waiting.removeAll { !canWait($0) }
        for carried in staleBatches {
            while carried.next < carried.batch.count {
                carried.next += 1
                handBack(CarriedRequest(carried: carried, place: carried.next - 1))
            }
        }
    }

    func close() {
        isClosing = true
        machine.stop()
        withdraw()
    }

    // MARK: Ends

    /// Takes the server's answer.
    ///
    /// - Returns: whether the next request must go over another connection.
    func answered(_ request: CarriedRequest, _ response: HTTPResponse, isHTTP2: Bool, at now: Int64) -> Bool {
        self.isHTTP2 = isHTTP2
        count(request)
        let status = UInt16(clamping: response.status)
        let retryAfter = response["retry-after"].flatMap { RetryAfter.seconds($0.utf8, now: now) } ?? -1
        report(.connected)
        guard !(200..<300).contains(status) || !response.body.isEmpty && !judge.isGood(response.body.span) else {
            (isProven, hasDelivered, doubts) = (true, true, 0)
            machine.proved()
            resolve(request, .answered, status: status, retryAfter: retryAfter)
            return false
        }
        let (verdict, reading) = judge.judge(status: status, body: response.body)
        if case .doubt = verdict { doubts += 1 } else { doubts = 0 }
        let isHalted: Bool
        switch verdict {
        case .halt: isHalted = true
        case .doubt: isHalted = doubts >= ConnectionMachine.doubtLimit
        case .keep, .recycle: isHalted = false
        }
        resolve(request, .answered, status: status, retryAfter: retryAfter, body: response.body, reading)
        if isHalted { withdraw() }
        if case .recycle = verdict { return true }
        return isHalted
    }

    /// Takes a failure: no answer came.
    ///
    /// - Parameter mayHaveLeft: whether the server may have seen the request.
    /// - Returns: whether a request that may have left goes out again.
    func failed(
        _ request: CarriedRequest, _ error: TransportError, mayHaveLeft: Bool, at now: MonotonicTime
    ) -> Bool {
        if mayHaveLeft { count(request) }
        // A server that takes connections and ends them without an answer gets a pause, like one that cannot be reached.
        if !mayHaveLeft || !hasDelivered { machine.dialFailed(at: now, random: .random(in: 0..<1)) }
        hasDelivered = false
        let fate = machine.fate(
            after: mayHaveLeft ? .unknown : .notProcessed, isSecond: request.isSecond, sends: request.sends,
            isWithdrawn: request.carried.isWithdrawn)
        switch fate {
        case .sendAgain(let isSecond):
            var next = request
            next.isSecond = isSecond
            again.append(next)
            queued += 1
        case .lost: resolve(request, .lost)
        case .unsent: resolve(request, .unsent)
        }
        if machine.dialPause(at: now) != nil, !isClosing {
            report(.failing(error: error.description, attempts: machine.setbacks))
        }
        if case .sendAgain = fate { return mayHaveLeft }
        return false
    }

    /// Concludes a request as lost, because the lane stops before its answer.
    func abandoned(_ request: CarriedRequest) {
        count(request)
        resolve(request, .lost)
    }

    private func count(_ request: CarriedRequest) {
        let sends = request.carried.batch.answers[request.place].sends
        if sends < .max { request.carried.batch.answers[request.place].sends = sends + 1 }
    }

    private func resolve(
        _ request: CarriedRequest, _ kind: Answer.Kind, status: UInt16 = 0, retryAfter: Int32 = -1, body: [UInt8] = [],
        _ reading: AnswerReading = AnswerReading()
    ) {
        let carried = request.carried
        let batch = carried.batch
        batch.answers[request.place].kind = kind
        if kind != .lost { batch.answers[request.place].retryAfter = retryAfter }
        if kind == .answered {
            batch.answers[request.place].status = status
            if !body.isEmpty {
                batch.answers[request.place].body = Int32(batch.bodies.count)
                batch.append(body: body, reading)
            }
        }
        carried.open -= 1
        guard carried.open == 0 else { return }
        batches.removeAll { $0 === carried }
        finished.append(batch)
    }

    // MARK: Reports

    private func report(_ new: PoolCondition) {
        guard condition != new else { return }
        condition = new
        conditions.append(new)
    }

    /// Calls the receiver. Last in a turn: it may submit anew.
    func report() {
        let receiver = id.receiver
        for condition in conditions { receiver.pool(id, is: condition) }
        conditions.removeAll()
        if isProven, width != reportedWidth {
            reportedWidth = width
            receiver.pool(id, carries: width)
        }
        let done = finished
        finished.removeAll()
        for batch in done { receiver.finished(batch) }
    }
}
