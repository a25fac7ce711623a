// SPDX-License-Identifier: Apache-2.0
import Telemetry

/// One request from its head to its answer. Pure of sockets: given what arrives, returns what to do.
struct Exchange {
    enum Step {
        /// Read on.
        case read
        /// Tell the client, which waits for that, to send the body; and read on.
        case invite
        /// To be done on a thread that may wait, and read nothing meanwhile; then `finished`.
        case work(WorkKind, @Sendable () -> WorkResult)
        /// Where the request is not complete, the rest of it is of no use.
        case answer(Response)
    }

    /// So much of an unwanted body is read and dropped before it is answered, so that the connection goes on. Bytes.
    static let patience: Int64 = 1024 * 1024
    /// A body of so much is waited for before anything is decided: then one trip to a thread that may wait does both. It would
    /// be read before it is answered in any case. Bytes.
    static let small: Int64 = 4096
    /// So much of a stream is handed on at once. Bytes.
    static let piece = 128 * 1024

    private enum State {
        /// The decision waits for a small body.
        case gathering([UInt8], admit: @Sendable () -> Admission)
        case collecting([UInt8], limit: Int, finish: @Sendable ([UInt8]) -> Response)
        case streaming(any BodyConsumer, waiting: [UInt8])
        case dropping(Response, seen: Int64)
        case working
    }

    let request: any HandledRequest
    let head: RequestHead
    /// Whether all of the request was read.
    private(set) var isComplete = false
    private var state = State.working
    /// What its work waits for.
    private var kind = WorkKind.reads

    init(_ head: RequestHead, _ request: any HandledRequest) {
        self.head = head
        self.request = request
    }

    private var declared: Int64 {
        if case .length(let count) = head.body { count } else { 0 }
    }

    /// - Parameter isFull: whether there is no room for more work of a kind.
    mutating func begin(isFull: (WorkKind) -> Bool) -> Step {
        switch RequestMark.with(request.id, request.open) {
        case .answer(let response):
            return decline(response)
        case .work(let kind, _) where isFull(kind):
            return decline(request.refuse(.busy))
        case .work(let kind, let admit):
            self.kind = kind
            // Who asks whether to send the body is told by the decision; so is who announces a large one, or no length.
            guard !head.expectsContinue, head.body != .chunked, declared <= Self.small else {
                return work { .admission(admit()) }
            }
            state = .gathering([], admit: admit)
            return .read
        }
    }

    /// A piece of the body.
    mutating func received(_ bytes: ArraySlice<UInt8>) -> Step {
        switch state {
        case .gathering(var body, let admit):
            state = .working  // So that the body has one owner and grows in place.
            body.append(contentsOf: bytes)
            state = .gathering(body, admit: admit)
        case .collecting(var body, let limit, let finish):
            state = .working
            if body.count + bytes.count > limit { return decline(request.refuse(.bodyTooLarge(limit: limit))) }
            body.append(contentsOf: bytes)
            state = .collecting(body, limit: limit, finish: finish)
        case .streaming(let consumer, var waiting):
            state = .working
            waiting.append(contentsOf: bytes)
            if waiting.count >= Self.piece { return hand(waiting, to: consumer) }
            state = .streaming(consumer, waiting: waiting)
        case .dropping(let response, let seen):
            state = .dropping(response, seen: seen + Int64(bytes.count))
            if seen + Int64(bytes.count) > Self.patience { return .answer(response) }
        case .working:
            break
        }
        return .read
    }

    /// The body is complete, or there is none.
    mutating func ended() -> Step {
        isComplete = true
        switch state {
        case .gathering(let body, let admit):
            return work { [request] in .response(Self.answer(request, body, admit())) }
        case .collecting(let body, _, let finish):
            return work { .response(finish(body)) }
        case .streaming(let consumer, let waiting):
            return hand(waiting, to: consumer)
        case .dropping(let response, _):
            return .answer(response)
        case .working:
            return .read
        }
    }

    /// The work is done.
    mutating func finished(_ result: WorkResult) -> Step {
        switch result {
        case .admission(let admission):
            return settle(admission)
        case .consumed(let consumer):
            state = .streaming(consumer, waiting: [])
            return .read
        case .response(let response):
            return .answer(response)
        case .piece:
            return .read
        }
    }

    // MARK: Steps

    private mutating func work(_ job: @escaping @Sendable () -> WorkResult) -> Step {
        state = .working
        return .work(kind) { [id = request.id] in RequestMark.with(id, job) }
    }

    private mutating func settle(_ admission: Admission) -> Step {
        switch admission {
        case .answer(let response):
            return decline(response)
        case .collect(let limit, _) where declared > Int64(limit):
            return decline(request.refuse(.bodyTooLarge(limit: limit)))
        case .collect(let limit, let finish):
            state = .collecting([], limit: limit, finish: finish)
        case .stream(let consumer):
            state = .streaming(consumer, waiting: [])
        }
        return head.expectsContinue ? .invite : .read
    }

    /// Once its body, if there is one, is out of the way; or at once where it is not to come or too long to be waited for.
    private mutating func decline(_ response: Response) -> Step {
        state = .dropping(response, seen: 0)
        return head.expectsContinue || declared > Self.patience ? .answer(response) : .read
    }

    private static func answer(_ request: any HandledRequest, _ body: [UInt8], _ admission: Admission) -> Response {
        switch admission {
        case .answer(let response):
            return response
        case .collect(let limit, let finish):
            return body.count > limit ? request.refuse(.bodyTooLarge(limit: limit)) : finish(body)
        case .stream(let consumer):
            if !body.isEmpty { consumer.consume(body) }
            return consumer.finish()
        }
    }

    private mutating func hand(_ bytes: [UInt8], to consumer: any BodyConsumer) -> Step {
        // One thread has it at a time: the request is not touched until the work is done.
        nonisolated(unsafe) let consumer = consumer
        return work { [isComplete] in
            let consumer = unsafe consumer
            if !bytes.isEmpty { consumer.consume(bytes) }
            return isComplete ? .response(consumer.finish()) : .consumed(consumer)
        }
    }
}

/// What work comes back with.
///
/// `@unchecked Sendable`: the thread that made it hands it to the connection's, and keeps nothing of it.
enum WorkResult: @unchecked Sendable {
    case admission(Admission)
    case consumed(any BodyConsumer)
    case response(Response)
    /// Of an answer's body; nil: it failed.
    case piece(BodyPiece?)
}
