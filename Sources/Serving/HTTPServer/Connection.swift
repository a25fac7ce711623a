// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Signing
import Telemetry
import Threading

/// One client: its socket, the request in hand, and the bytes still to send. Belongs to its loop's thread.
@safe
final class Connection {
    private enum Activity {
        /// Reads a request, or waits for one.
        case reading
        /// A thread that may wait has the request.
        case working
        /// The whole answer is being sent.
        case sending(isLast: Bool)
        /// The answer is made as it is sent.
        case streaming(any ByteSource, ResponseHead.Framing, isLast: Bool)
        /// The last answer is sent: further input is dropped until the client closes.
        case closing
        case closed
    }

    let token: UInt64
    private let socket: Int32
    private let peer: PeerAddress
    /// Why every request here is refused; nil: check each request as usual.
    private let refusal: PeerRefusal?
    private let user: UInt32?
    /// The TLS settings, until the client has sent its first record.
    private var expected: (tls: ServerTLS, hello: ClientHello)?
    private var tls: TLSConnection?
    /// The handshake is not done: TLS keeps memory for a client that has proved nothing yet.
    private var isGreeting: Bool { tls?.isHandshakeDone == false }
    private let loop: ServerLoop
    private var reader: RequestReader
    /// Bytes that were read and not parsed yet.
    private var input: [UInt8] = []
    /// The parser may find more events in `input`.
    private var isStalled = false
    private var exchange: Exchange?
    private var activity = Activity.reading
    /// The bytes that the socket did not take, and how many of the first part were sent.
    private var unsent: [[UInt8]] = []
    private var sentOfFirst = 0
    /// A piece of a streamed answer is being made, or the stream has nothing yet.
    private var isPieceDue = false
    /// At the next `settle`, the client's time limit starts again.
    private var isRenewed = false
    /// A part of the client's input stays unread.
    private var leavesRest = false
    private var watched = PollSet.Interest.reading

    /// The largest body, in bytes, that is copied behind its head and sent together with it.
    private static let small = 16 * 1024
    /// Bytes of answers to successive requests that are gathered and sent at once.
    private static let gathered = 64 * 1024

    init(
        token: UInt64, socket: Int32, peer: PeerAddress, refusal: PeerRefusal?, user: UInt32?, tls: ServerTLS?,
        loop: ServerLoop
    ) {
        self.token = token
        self.socket = socket
        self.peer = peer
        self.refusal = refusal
        self.user = user
        expected = tls.map { ($0, ClientHello()) }
        self.loop = loop
        reader = RequestReader(loop.listener.rules)
    }

    // MARK: Events

    func ready(_ event: Poller.Event) {
        var isDisturbed = false
        switch activity {
        case .reading where unsent.isEmpty: receive()
        case .closing: receive(isDropped: true)
        case .closed: return
        // The client is gone, so there is no one to answer.
        case _ where event.isBroken: return close()
        default: isDisturbed = event.hasInput
        }
        settle(isDisturbed: isDisturbed)
    }

    /// Takes the result of a job that ran on a thread that may wait.
    func finished(_ result: WorkResult) {
        if case .piece(let piece) = result {
            isPieceDue = false
            take(piece)
        } else if case .working = activity, let step = exchange?.finished(result) {
            (activity, isRenewed) = (.reading, true)
            // The rest of the request is parsed only now.
            isStalled = true
            act(step)
        }
        settle()
    }

    /// Asks a stream again after it had nothing to send.
    func wake() {
        isPieceDue = false
        settle()
    }

    func timeOut() {
        if case .reading = activity, unsent.isEmpty, reader.isInRequest || !input.isEmpty {
            refuse(.timedOut)
            settle()
        } else {
            close()
        }
    }

    /// The server is stopping: a request that has begun is finished; a connection without one is closed.
    func leave() {
        switch activity {
        case .reading, .closing: close()
        case .working, .sending, .streaming, .closed: break
        }
    }

    /// - Parameter isSeated: whether the connection still has its seat in the table, which is then freed.
    func close(isSeated: Bool = true) {
        if case .closed = activity { return }
        activity = .closed
        (exchange, input, unsent) = (nil, [], [])
        Glibc.close(socket)
        loop.remove(token, isSeated: isSeated)
    }

    // MARK: In

    /// Reads once: epoll reports the rest again, for TLS too, whose records fit the buffer.
    ///
    /// - Parameter isDropped: reads the raw bytes of the socket, past TLS, and drops them.
    private func receive(isDropped: Bool = false) {
        if !isDropped, expected != nil {
            guard expected?.hello.isWhole(on: socket, &loop.buffer) == true else { return }
            guard let tls = expected?.tls.connection(on: socket) else { return close() }
            (self.tls, expected) = (tls, nil)
        }
        switch unsafe loop.buffer.withUnsafeMutableBytes({ unsafe read(into: $0, isDropped) }) {
        case .bytes where isDropped: break
        case .bytes(let count):
            input += loop.buffer[..<count]
            processInput()
        case .wantsRead, .wantsWrite: break
        case .over: close()
        }
    }

    @unsafe
    private func read(into buffer: UnsafeMutableRawBufferPointer, _ isDropped: Bool) -> TLSConnection.Outcome {
        if !isDropped, let tls { return unsafe tls.read(into: buffer) }
        let count = unsafe recv(socket, buffer.baseAddress, buffer.count, 0)
        return count > 0 ? .bytes(count) : count < 0 && (errno == EAGAIN || errno == EINTR) ? .wantsRead : .over
    }

    private func processInput() {
        let bytes = input
        var rest = bytes.indices
        (input, isStalled) = ([], false)
        reading: while case .reading = activity {
            guard unsent.isEmpty, loop.out.count < Self.gathered else {
                isStalled = true
                break
            }
            switch reader.next(bytes, &rest) {
            case .more:
                isStalled = false
                break reading
            case .head(let head): begin(head)
            case .body(let piece):
                if let step = exchange?.received(bytes[piece]) { act(step) }
            case .end:
                if let step = exchange?.ended() { act(step) }
            case .refused(let refusal): refuse(refusal)
            }
        }
        input = Array(bytes[rest])
    }

    private func begin(_ head: RequestHead) {
        var head = head
        (head.door, head.peer, head.refusal, head.user) = (loop.listener.door, peer, refusal, user)
        isRenewed = true
        var exchange = Exchange(head, loop.listener.handler.handle(head))
        let step = exchange.begin { [work = loop.listener.work] in work[$0].isFull }
        self.exchange = exchange
        act(step)
    }

    private func act(_ step: Exchange.Step) {
        switch step {
        case .read: break
        case .invite: loop.out += "HTTP/1.1 100 Continue\r\n\r\n".utf8
        case .work(let kind, let job):
            activity = .working
            loop.submit(job, kind, for: token)
        case .answer(let response): answer(response)
        }
    }

    // MARK: Out

    /// Nothing after the refused bytes can be read, so the connection ends.
    private func refuse(_ refusal: RequestRefusal) {
        leavesRest = true
        if let exchange {
            answer(exchange.request.refuse(refusal))
        } else {
            send(loop.listener.handler.refuse(refusal))
        }
    }

    private func answer(_ response: Response) {
        guard let exchange else { return }
        if !exchange.isComplete { leavesRest = true }
        send(RequestMark.with(exchange.request.id) { exchange.request.conclude(response) })
    }

    /// Sends the head, and the body as far as it is there.
    private func send(_ response: Response) {
        let head = exchange?.head
        let isOld = head?.isOld ?? false
        var isLast = leavesRest || loop.isStopping || !(head?.keepsAlive ?? false)
        var framing = ResponseHead.Framing.none
        switch response.body {
        case _ where response.status == 204 || response.status == 304: break
        case .bytes(let bytes): framing = .length(bytes.count)
        case .stream where isOld: (framing, isLast) = (.close, true)
        case .stream: framing = .chunked
        }
        ResponseHead.append(
            response, framing, date: loop.date, connection: isLast ? "close" : isOld ? "keep-alive" : nil, to: &loop.out
        )
        activity = .sending(isLast: isLast)
        // RFC 9110, section 9.3.2: HEAD is GET without the content.
        guard framing != .none, head?.method != "HEAD" else { return sent() }
        switch response.body {
        case .bytes(let bytes) where bytes.count <= Self.small:
            loop.out += bytes
            sent()
        case .bytes(let bytes):
            // Not copied: several responses may share this body.
            flush()
            unsent.append(bytes)
        case .stream(let source):
            activity = .streaming(source, framing, isLast: isLast)
        }
    }

    /// The answer is complete, but the gathered bytes may not be sent yet.
    private func sent() {
        guard case .sending(isLast: false) = activity else { return }
        (exchange, activity, isRenewed, isStalled) = (nil, .reading, true, true)
    }

    /// Takes the next piece of a streamed answer.
    private func take(_ piece: BodyPiece?) {
        guard case .streaming(_, let framing, let isLast) = activity else { return }
        isRenewed = true
        switch piece {
        case .bytes(let bytes) where framing == .chunked && !bytes.isEmpty:
            loop.out += "\(String(bytes.count, radix: 16))\r\n".utf8
            loop.out += bytes
            loop.out += "\r\n".utf8
        case .bytes(let bytes): loop.out += bytes
        case .later(let milliseconds):
            isPieceDue = true
            loop.wake(token, after: milliseconds)
        case .end:
            if framing == .chunked { loop.out += "0\r\n\r\n".utf8 }
            activity = .sending(isLast: isLast)
        case nil:
            // With `.close`, an orderly end would make the partial body look whole; a reset does not (socket(7), SO_LINGER).
            var reset = linger(l_onoff: 1, l_linger: 0)
            if framing == .close {
                unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
            }
            close()
        }
    }

    // MARK: Going on

    /// Sends the gathered bytes and continues the work that waited for that. Called at the end of every event.
    private func settle(isDisturbed: Bool = false) {
        repeat { flush() } while goOn()
        if case .closed = activity { return }
        loop.set(token, phase, isRenewed: isRenewed)
        isRenewed = false
        watch(isDisturbed)
    }

    private func flush() {
        defer { loop.out.removeAll(keepingCapacity: true) }
        if case .closed = activity { return }
        while let first = unsent.first {
            guard let count = write(first, from: sentOfFirst) else { break }
            sentOfFirst += count
            guard sentOfFirst == first.count else { continue }
            unsent.removeFirst()
            sentOfFirst = 0
        }
        var sent = 0
        while unsent.isEmpty, sent < loop.out.count, let count = write(loop.out, from: sent) { sent += count }
        if sent < loop.out.count { unsent.append(Array(loop.out[sent...])) }
    }

    private func pieceWork(_ source: any ByteSource) -> @Sendable () -> WorkResult {
        // One thread has the source at a time: a piece is asked for only after the last one has arrived.
        nonisolated(unsafe) let source = source
        return { [request = exchange?.request] in
            RequestMark.with(request?.id) {
                do {
                    return .piece(unsafe try source.next())
                } catch {
                    request?.failed(error)
                    return .piece(nil)
                }
            }
        }
    }

    /// - Returns: nil where the socket takes no more.
    private func write(_ bytes: [UInt8], from start: Int) -> Int? {
        let transfer = unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
            if let transfer = unsafe tls?.write(rest) { return transfer }
            let count = unsafe Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            return count >= 0
                ? .bytes(count) : errno == EAGAIN || errno == EINTR ? TLSConnection.Outcome.wantsWrite : .over
        }
        switch transfer {
        case .bytes(let count): return count
        case .wantsRead, .wantsWrite: return nil
        case .over:
            close()
            return nil
        }
    }

    /// - Returns: whether there may be more to send.
    private func goOn() -> Bool {
        guard unsent.isEmpty else { return false }
        switch activity {
        case .reading where isStalled:
            processInput()
            return true
        case .sending(let isLast):
            if isLast { end() } else { sent() }
            return !isLast
        case .streaming(let source, _, _) where !isPieceDue:
            isPieceDue = true
            loop.submit(pieceWork(source), .reads, for: token)
            return false
        case .reading, .working, .streaming, .closing, .closed:
            return false
        }
    }

    /// Ends the connection after its last answer. Closing a socket with unread input sends a reset, which "might cause the peer's TCP
    /// stack to erase the peer's unacknowledged data before they can be read" (RFC 9112, section 9.6), and that data is the answer.
    private func end() {
        tls?.close()
        guard leavesRest || !input.isEmpty else { return close() }
        shutdown(socket, Int32(SHUT_WR))
        (activity, exchange, input) = (.closing, nil, [])
    }

    private var phase: ConnectionTable.Phase {
        switch activity {
        case _ where !unsent.isEmpty: .sending
        case .reading: isGreeting ? .greeting : reader.isInRequest ? .receiving : .idle
        case .working, .streaming: .working
        case .sending, .closing, .closed: .closing
        }
    }

    /// Goes on watching for input while no input is wanted, until some arrives: switching it off and on would cost two system calls for
    /// each request.
    private func watch(_ isDisturbed: Bool) {
        var wanted: PollSet.Interest = []
        switch activity {
        case _ where !unsent.isEmpty: wanted = .writing
        case .reading, .closing: wanted = .reading
        case .working, .sending, .streaming, .closed: break
        }
        let isMissing = !wanted.isSubset(of: watched)
        let isTooMuch = watched.contains(.writing) && !wanted.contains(.writing)
        guard isMissing || isTooMuch || isDisturbed else { return }
        watched = wanted
        loop.polled.change(socket, token: token, to: wanted)
    }
}
