// SPDX-License-Identifier: Apache-2.0
import Telemetry

/// One request from its head to its answer. Knows no sockets: takes the input, returns the next step.
struct Exchange {
    enum Step {
        /// Read on.
        case read
        /// Invite the client to send the body, as it waits for "100 Continue"; and read on.
        case invite
        /// Run this on a thread that may wait, and read nothing until it is done; then call `finished`.
        case work(WorkKind, @Sendable () -> WorkResult)
        /// Send this. If the request is not complete, the rest of it is of no use.
        case answer(Response)
    }

    /// The most bytes of an unwanted body that are read and dropped before the answer, so that the connection can be used again.
    static let patience: Int64 = 1024 * 1024
    /// The largest body, in bytes, that is read before the decision, so that one job on a thread that may wait does both.
    /// Such a body is read before the answer in any case.
    static let small: Int64 = 4096
    /// Bytes of a streamed body that are gathered before they are handed on.
    static let piece = 128 * 1024

    private enum State {
        /// A small body is read before the decision.
        case gathering([UInt8], admit: @Sendable () -> Admission)
        case collecting([UInt8], limit: Int, finish: @Sendable ([UInt8]) -> Response)
        case streaming(any BodyConsumer, waiting: [UInt8])
        case dropping(Response, seen: Int64)
        case working
    }

    let request: any HandledRequest
    let head: RequestHead
    /// Whether all of the request has been read.
    private(set) var isComplete = false
    private var state = State.working
    /// The queue that its jobs go to.
    private var kind = WorkKind.reads

    init(_ head: RequestHead, _ request: any HandledRequest) {
        self.head = head
        self.request = request
    }

    private var declared: Int64 {
        if case .length(let count) = head.body { count } else { 0 }
    }

    /// - Parameter isFull: whether there is no room for more jobs of a kind.
    mutating func begin(isFull: (WorkKind) -> Bool) -> Step {
        switch RequestMark.with(request.id, request.open) {
        case .answer(let response):
            return decline(response)
        case .work(let kind, _) where isFull(kind):
            return decline(request.refuse(.busy))
        case .work(let kind, let admit):
            self.kind = kind
            // The decision comes first where the client asks whether to send the body, or the body is large or of unknown
            // length.
            guard !head.expectsContinue, head.body != .chunked, declared <= Self.small else {
                return work { .admission(admit()) }
            }
            state = .gathering([], admit: admit)
            return .read
        }
    }

    /// Takes a piece of the body.
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

    /// Takes the result of a finished job.
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

    /// Answers once the body, if there is one, has been read; or at once where the client has not begun to send it, or it is
    /// too long to wait for.
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
        // One thread has the consumer at a time: the request is not touched until the job is done.
        nonisolated(unsafe) let consumer = consumer
        return work { [isComplete] in
            let consumer = unsafe consumer
            if !bytes.isEmpty { consumer.consume(bytes) }
            return isComplete ? .response(consumer.finish()) : .consumed(consumer)
        }
    }
}

/// The result of a job.
///
/// `@unchecked Sendable`: the thread that made it hands it to the connection's thread, and keeps no reference.
enum WorkResult: @unchecked Sendable {
    case admission(Admission)
    case consumed(any BodyConsumer)
    case response(Response)
    /// A piece of the answer's body; nil: making it failed.
    case piece(BodyPiece?)
}
