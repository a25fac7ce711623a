// SPDX-License-Identifier: Apache-2.0

/// One request from its first byte to its answer. Pure of sockets: told what arrives, says what to do. Used by its
/// connection's thread alone.
final class Exchange {
    enum Step {
        /// Read on.
        case more
        case answer(Response)
        /// There is no way left to be heard.
        case cut
    }

    /// So much of an unwanted body is read and dropped: a client that is still sending when the connection closes sees a
    /// reset instead of the answer (RFC 9112, section 9.6). Bytes.
    static let patience = 1024 * 1024

    private enum State {
        case new
        case collecting([UInt8], limit: Int, finish: @Sendable ([UInt8]) -> Response)
        case streaming(any BodyConsumer)
        case dropping(Response, seen: Int)
        case over
    }

    let target: String
    private var state = State.new

    init(target: String) {
        self.target = target
    }

    var isNew: Bool {
        if case .new = state { true } else { false }
    }

    func begin(_ head: RequestHead, _ api: API) -> Step {
        var admission = api.begin(head)
        if case .collect(let limit, _) = admission, let length = head.contentLength, length > Int64(limit) {
            admission = .answer(API.tooLarge(limit: limit))
        }
        switch admission {
        case .collect(let limit, let finish):
            state = .collecting([], limit: limit, finish: finish)
        case .stream(let consumer):
            state = .streaming(consumer)
        case .answer(let response):
            let waits = head.headers["expect"]?.lowercased() == "100-continue"
            if waits || head.contentLength ?? 0 > Int64(Self.patience) {
                state = .over
                return .answer(response)
            }
            state = .dropping(response, seen: 0)
        }
        return .more
    }

    func receive(_ bytes: [UInt8]) -> Step {
        switch state {
        case .collecting(var body, let limit, let finish):
            state = .over  // So that the body has one owner and grows in place.
            if body.count + bytes.count > limit {
                state = .dropping(API.tooLarge(limit: limit), seen: 0)
            } else {
                body.append(contentsOf: bytes)
                state = .collecting(body, limit: limit, finish: finish)
            }
        case .streaming(let consumer):
            consumer.consume(bytes)
        case .dropping(let response, let seen):
            if seen + bytes.count > Self.patience { return .cut }
            state = .dropping(response, seen: seen + bytes.count)
        case .new, .over:
            return .cut
        }
        return .more
    }

    func end() -> Step {
        defer { state = .over }
        switch state {
        case .collecting(let body, _, let finish): return .answer(finish(body))
        case .streaming(let consumer): return .answer(consumer.finish())
        case .dropping(let response, _): return .answer(response)
        case .new, .over: return .cut
        }
    }
}
