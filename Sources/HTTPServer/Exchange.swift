// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

/// One request from its first byte to its answer. Pure of sockets: given what arrives, returns what to do.
///
/// `@unchecked Sendable`: it is used by its connection's thread, and between a `.work` and the end of that work by the
/// thread that does it and by nobody else, because the connection is suspended meanwhile. The queue's lock orders the way
/// there, the inbox's (`ServingThread.resume`) the way back.
final class Exchange: @unchecked Sendable {
    enum Step {
        /// Read on.
        case more
        /// To be done on a thread that may wait; then `advance` again.
        case work(WorkKind, @Sendable () -> Void)
        /// Work is still being done: what came was not looked at.
        case busy
        case answer(Response)
        /// There is no way left to be heard.
        case cut
    }

    /// So much of an unwanted body is read and dropped: a client that is still sending when the connection closes sees a
    /// reset instead of the answer (RFC 9112, section 9.6). Bytes.
    static let patience = 1024 * 1024
    /// So much of a body is waited for before anything is decided: then one trip to a thread that may wait does both. What has
    /// no more than this would be read before it is answered in any case. Bytes.
    static let small = 4096
    /// So much of a stream is handed on at once. Bytes.
    static let piece = 128 * 1024

    private enum State {
        case new
        /// The decision waits for the rest of a small body, or for its having turned out not to be small.
        case gathering([UInt8], admit: @Sendable () -> Admission)
        case working
        case admitted(Admission)
        case collecting([UInt8], limit: Int, finish: @Sendable ([UInt8]) -> Response)
        case streaming(any BodyConsumer, waiting: [UInt8])
        case dropping(Response, seen: Int)
        case answered(Response)
        case over
    }

    let connection: ClientConnection
    let target: String
    private var state = State.new
    /// Of the head, for what is decided after it.
    private var declared: Int64?
    private var waits = false
    private var request: (any HandledRequest)?
    private var isNoted = false
    /// What was gathered of a body that was not small.
    private var gathered: [UInt8] = []
    /// What its work waits for.
    private var kind = WorkKind.reads

    init(connection: ClientConnection, target: String) {
        self.connection = connection
        self.target = target
    }

    var isNew: Bool {
        if case .new = state { true } else { false }
    }

    /// The head is complete.
    ///
    /// - Parameter queues: asked whether there is room for more work.
    func begin(_ head: RequestHead, _ handler: any RequestHandler, _ queues: WorkQueues) -> Step {
        declared = head.contentLength
        waits = head.headers["expect"]?.lowercased() == "100-continue"
        let request = handler.handle(head)
        self.request = request
        return marked(RequestMark.with(request.id) { open(request, queues) })
    }

    private func open(_ request: any HandledRequest, _ queues: WorkQueues) -> Step {
        switch request.open() {
        case .answer(let response):
            return settle(.answer(response))
        case .work(let kind, _) where queues[kind].isFull:
            return settle(.answer(request.refuse(.busy)))
        case .work(let kind, let admit):
            self.kind = kind
            // Who asks whether to send the body is told by the decision; so is who announces a large one.
            guard !waits, declared ?? 0 <= Int64(Self.small) else { return work { .admitted(admit()) } }
            state = .gathering([], admit: admit)
            return .more
        }
    }

    /// The work of this request, under its mark; an answer is noted on the thread that made it, which may wait.
    private func marked(_ step: Step) -> Step {
        guard let request else { return step }
        switch step {
        case .work(let kind, let job):
            return .work(kind) { [self] in
                RequestMark.with(request.id) {
                    job()
                    if case .answered(let response) = state { state = .answered(noted(response)) }
                }
            }
        case .answer(let response):
            return .answer(RequestMark.with(request.id) { noted(response) })
        case .more, .busy, .cut:
            return step
        }
    }

    /// Once for each request.
    private func noted(_ response: Response) -> Response {
        guard let request, !isNoted else { return response }
        isNoted = true
        return request.conclude(response)
    }

    /// Called with each piece of the body, after each work, and once more without bytes when the request is complete.
    func advance(_ bytes: [UInt8]) -> Step {
        marked(RequestMark.with(request?.id) { step(bytes) })
    }

    // MARK: Steps

    private func step(_ bytes: [UInt8]) -> Step {
        if case .working = state { return .busy }
        if case .admitted(let admission) = state {
            let step = settle(admission)
            if !gathered.isEmpty, case .more = step {
                // Never more than is read and dropped, or less than a piece: it leads to nothing but reading on.
                _ = receive(gathered)
                gathered = []
            }
            guard !bytes.isEmpty, case .more = step else { return step }
        }
        if case .answered(let response) = state {
            state = .over
            return .answer(response)
        }
        return bytes.isEmpty ? end() : receive(bytes)
    }

    private func work(_ job: @escaping @Sendable () -> State) -> Step {
        state = .working
        return .work(kind) { [self] in state = job() }
    }

    private func settle(_ admission: Admission) -> Step {
        var admission = admission
        if case .collect(let limit, _) = admission, let declared, declared > Int64(limit) {
            admission = .answer(tooLarge(limit))
        }
        switch admission {
        case .collect(let limit, let finish):
            state = .collecting([], limit: limit, finish: finish)
        case .stream(let consumer):
            state = .streaming(consumer, waiting: [])
        case .answer(let response):
            // Not before the request is complete, body or none: an answer that the library is given earlier ends the
            // connection (connection.c, MHD_queue_response), which is right only where the body is not to come.
            if waits || declared ?? 0 > Int64(Self.patience) {
                state = .over
                return .answer(response)
            }
            state = .dropping(response, seen: 0)
        }
        return .more
    }

    private func tooLarge(_ limit: Int) -> Response {
        guard let request else { return Response(status: 413, headers: [], body: .bytes([])) }
        return request.refuse(.bodyTooLarge(limit: limit))
    }

    private func receive(_ bytes: [UInt8]) -> Step {
        switch state {
        case .gathering(var body, let admit):
            state = .over  // So that the body has one owner and grows in place.
            body.append(contentsOf: bytes)
            guard body.count > Self.small else {
                state = .gathering(body, admit: admit)
                return .more
            }
            gathered = body
            return work { .admitted(admit()) }
        case .collecting(var body, let limit, let finish):
            state = .over
            if body.count + bytes.count > limit {
                state = .dropping(tooLarge(limit), seen: 0)
            } else {
                body.append(contentsOf: bytes)
                state = .collecting(body, limit: limit, finish: finish)
            }
        case .streaming(let consumer, var waiting):
            state = .over
            waiting.append(contentsOf: bytes)
            guard waiting.count >= Self.piece else {
                state = .streaming(consumer, waiting: waiting)
                return .more
            }
            return hand(waiting, to: consumer, isLast: false)
        case .dropping(let response, let seen):
            if seen + bytes.count > Self.patience { return .cut }
            state = .dropping(response, seen: seen + bytes.count)
        case .new, .working, .admitted, .answered, .over:
            return .cut
        }
        return .more
    }

    private func end() -> Step {
        switch state {
        case .gathering(let body, let admit):
            return work { [self] in .answered(answer(to: body, admit())) }
        case .collecting(let body, _, let finish):
            return work { .answered(finish(body)) }
        case .streaming(let consumer, let waiting):
            return hand(waiting, to: consumer, isLast: true)
        case .dropping(let response, _):
            state = .over
            return .answer(response)
        case .new, .working, .admitted, .answered, .over:
            return .cut
        }
    }

    private func answer(to body: [UInt8], _ admission: Admission) -> Response {
        switch admission {
        case .answer(let response):
            return response
        case .collect(let limit, let finish):
            return body.count > limit ? tooLarge(limit) : finish(body)
        case .stream(let consumer):
            if !body.isEmpty { consumer.consume(body) }
            return consumer.finish()
        }
    }

    private func hand(_ bytes: [UInt8], to consumer: any BodyConsumer, isLast: Bool) -> Step {
        state = .working
        // The consumer is handed over with the exchange, by the same orders.
        nonisolated(unsafe) let consumer = consumer
        return .work(kind) { [self] in
            let consumer = unsafe consumer
            if !bytes.isEmpty { consumer.consume(bytes) }
            state = isLast ? .answered(consumer.finish()) : .streaming(consumer, waiting: [])
        }
    }
}
