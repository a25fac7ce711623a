// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import CurlTransport
import RelayEngine
import Threading

/// One HTTP/2 connection on its lane's thread: libnghttp2's session between a dialled socket and the pool's queue.
///
/// nghttp2 calls back into it (HTTP2Connection+Callbacks.swift) from `receive` and `flush` only. A failure in a
/// callback is noted, and the loop acts upon it once the call has returned.
@safe
final class HTTP2Connection {
    let token: UInt64
    let pool: Pool
    let socket: Int32
    let dialed: DialedConnection
    private(set) var session: OpaquePointer?
    var machine: ConnectionMachine
    var slots: RequestSlots
    /// Bodies of answers on their way that are not 2xx, or a 2xx with an unexpected body.
    var bodies: [[UInt8]] = []
    var freeBodies: [Int32] = []
    /// Bytes of header fields since the last frame began.
    var headerBytes = 0
    /// Why the connection cannot go on; the first reason holds.
    private(set) var failure: String?
    /// Why nothing can be written any more: bytes that came in may still hold answers.
    var writeFailure: String?
    /// The peer's words, or nghttp2's, on what went wrong.
    var lastWords: String?
    /// Whether the connection's retirement has been counted.
    var isRetirementReported = false
    /// Whether reading stopped early: OpenSSL may hold more bytes than epoll knows of.
    private(set) var hasMoreToRead = false
    /// The requests of whose bodies a part is written, and the rest waits.
    var cutBodies = 0
    /// Whether the socket takes no more bytes at present.
    var isBlocked = false

    /// Whether epoll watches the socket for writing; set by the loop.
    var isWatchedForWriting = false

    /// One TLS record. The bytes from `outSent` to `outCount` are on their way, and must stay where they are: see
    /// `DialedConnection.Sent.again`.
    let out: UnsafeMutablePointer<UInt8>
    static let outCapacity = 16384
    var outCount = 0
    var outSent = 0
    /// The rest of a frame that did not fit; nghttp2 keeps it "until the next nghttp2_session_mem_send() call".
    var frameRest: UnsafePointer<UInt8>?
    var frameRestCount = 0
    /// Keeps the rest of a HEADERS frame, whose fields nghttp2 does not have.
    private var headersRest = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 512)

    /// The most bytes that an answer's body may have; a longer one is cut short. APNs' are below 100 bytes.
    let answerLimit: Int
    /// The most bytes of one answer's header fields: names, values, and 32 for each field (RFC 9113, 6.5.2). The limit
    /// also ends an endless CONTINUATION.
    static let headerLimit = 65536

    /// nil where libnghttp2 cannot make a session.
    init?(token: UInt64, pool: Pool, dialed: DialedConnection, at now: MonotonicTime) {
        self.token = token
        self.pool = pool
        self.dialed = dialed
        socket = dialed.socket
        var settings = pool.configuration.connection
        settings.maximumStreams = max(1, settings.maximumStreams)
        settings.expectedRequests = pool.machine.expectedRequests
        settings.goesBeyond = pool.machine.goesBeyond()
        machine = ConnectionMachine(settings: settings, at: now)
        slots = RequestSlots(capacity: settings.maximumStreams)
        answerLimit = max(65536, pool.judge.longestBody)
        unsafe out = .allocate(capacity: Self.outCapacity)
        unsafe session = nil
        // SAFETY: the session is deleted in `close` or deinit, before self goes.
        unsafe session = Self.makeSession(for: Unmanaged.passUnretained(self).toOpaque(), pool.turn.memory)
        guard unsafe session != nil else { return nil }
    }

    deinit {
        unsafe nghttp2_session_del(session)
        unsafe out.deallocate()
        unsafe headersRest.deallocate()
    }

    /// Keeps the bytes that did not fit into the record.
    func keepRest(_ bytes: UnsafeBufferPointer<UInt8>) {
        if unsafe headersRest.count < bytes.count {
            unsafe headersRest.deallocate()
            unsafe headersRest = .allocate(capacity: bytes.count)
        }
        _ = unsafe headersRest.update(fromContentsOf: bytes)
        unsafe frameRest = UnsafePointer(headersRest.baseAddress)
        frameRestCount = bytes.count
    }

    private static func makeSession(for owner: UnsafeMutableRawPointer, _ memory: SessionMemory) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe setCallbacks(callbacks)
        var session: OpaquePointer?
        var allocator = unsafe memory.callbacks
        guard unsafe nghttp2_session_client_new3(&session, callbacks, owner, nil, &allocator) == 0 else { return nil }
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(headerLimit)),
        ]
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        guard unsafe nghttp2_submit_settings(session, flags, settings, settings.count) == 0,
            // Answers are small and many: their sum must never wait for a WINDOW_UPDATE.
            unsafe nghttp2_session_set_local_window_size(session, flags, 0, 16 << 20) == 0
        else {
            unsafe nghttp2_session_del(session)
            return nil
        }
        return unsafe session
    }

    // MARK: Requests out

    /// Opens streams for queued requests.
    /// - Parameter limit: the number of requests; up to twice as many are opened, so that the rest is never too small
    ///   to be worth it.
    /// - Returns: whether any was opened.
    func fill(atMost limit: Int, at now: MonotonicTime) -> Bool {
        guard !waitsForCutBody(), failure == nil, writeFailure == nil, !isBlocked else { return false }
        let free = machine.worthwhileRoom
        let room = free < 2 * limit ? free : limit
        var opened = 0
        while opened < room, let (reference, prepared) = pool.take(), open(reference, prepared) { opened += 1 }
        machine.requestsOpened(opened, at: now)
        pool.turn.figures.requestsSent += opened
        return opened > 0
    }

    /// Whether the rest of a body waits for the server's window. Nothing new is sent before it: nghttp2 counts what a stream has written,
    /// and gives the window to streams that have written less (nghttp2_stream.c, stream_next_cycle), which are all new ones. One request of
    /// each window, of some 300 pushes, would wait for as long as requests come, and its batch with it.
    private func waitsForCutBody() -> Bool {
        guard cutBodies > 0 else { return false }
        flush()
        // With a window open, the body waits for its own stream's.
        let window = unsafe nghttp2_session_get_remote_window_size(session)
        return cutBodies > 0 && window <= 0
    }

    private func open(_ reference: RequestReference, _ prepared: PreparedBatch) -> Bool {
        guard let index = slots.take(reference, at: pool.turn.sentAt) else {
            pool.streamEnded(reference, .notProcessed)
            return false
        }
        let template = prepared.template
        let mark = unsafe UnsafeMutableRawPointer(bitPattern: Int(index) + 1)
        let stream: Int32
        if template.hasBody {
            var provider = unsafe relay_nghttp2_data_provider(index, readBody)
            stream = unsafe nghttp2_submit_request(session, nil, template.fields, template.fieldCount, &provider, mark)
        } else {
            stream = unsafe nghttp2_submit_request(session, nil, template.fields, template.fieldCount, nil, mark)
        }
        guard stream > 0 else {
            slots.unlink(index)
            slots.release(index)
            pool.streamEnded(reference, .notProcessed)
            if stream == Int32(NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue) {
                machine.retire(.outOfStreams)
            } else {
                fail("libnghttp2 refuses a request: \(Self.text(of: stream))")
            }
            return false
        }
        unsafe slots.slots[Int(index)].streamID = stream
        let request = Int(reference.request)
        let sends = unsafe prepared.answers[request].sends
        if sends < .max { unsafe prepared.answers[request].sends = sends + 1 }
        return true
    }

    // MARK: Bytes in

    /// Reads the bytes that are there and lets nghttp2 parse them. Stops after some rounds, so that answers are
    /// followed by new requests even if the peer never pauses.
    func receive(into buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime) {
        guard failure == nil else { return }
        hasMoreToRead = false
        for _ in 0..<16 {
            switch unsafe dialed.receive(into: buffer) {
            case .received(let count):
                guard machine.heard(bytes: count, at: now) else {
                    fail("the server floods: \(ConnectionMachine.floodLimit) bytes without an answer")
                    return
                }
                // The clock is read anew for each record: a turn may take long, and a call costs less than one of its
                // many answers.
                pool.turn.heardAt = MonotonicClock.now()
                let taken = unsafe nghttp2_session_mem_recv(
                    session, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
                guard taken >= 0 else {
                    fail("the peer broke the protocol: \(lastWords ?? Self.text(of: Int32(taken)))")
                    return
                }
                noticeRefusal()
            case .again:
                return
            case .closed:
                fail(lastWords.map { "closed by the peer after \($0)" } ?? "closed by the peer")
                return
            case .failed(let error):
                fail(error.reason)
                return
            }
        }
        hasMoreToRead = true
    }

    // MARK: Life and death

    func retire(_ reason: ConnectionMachine.Retirement) { machine.retire(reason) }

    func fail(_ reason: String) {
        if failure == nil { failure = reason }
        machine.retire(.died)
    }

    /// Notices that nghttp2 takes no more requests: mostly since it is about to end the session for a breach of the protocol,
    /// which no callback reports. Requests that were submitted all the same would come back unsent, and again, until their last
    /// try.
    private func noticeRefusal() {
        guard machine.isUsable, unsafe nghttp2_session_check_request_allowed(session) == 0 else { return }
        // "If we run out of stream ID for this session, this function returns 1 << 31."
        guard unsafe nghttp2_session_get_next_stream_id(session) < 1 << 31 else {
            machine.retire(.outOfStreams)
            return
        }
        if lastWords == nil { lastWords = "the session has ended" }
        machine.retire(.died)
    }

    /// Notices that nghttp2 has ended the session by itself (a protocol error, with its GOAWAY written).
    func noticeEnd() {
        guard failure == nil, !machine.isDone, outSent == outCount,
            unsafe nghttp2_session_want_read(session) == 0, unsafe nghttp2_session_want_write(session) == 0
        else { return }
        fail("the peer broke the protocol: \(lastWords ?? "the session has ended")")
    }

    /// Time-outs and PING. Must be called a few times a second.
    func tick(at now: MonotonicTime) {
        guard failure == nil else { return }
        expire(at: now)
        switch machine.tick(at: now) {
        case .nothing: break
        case .sendPing: _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        case .giveUp(let reason): fail(reason)
        }
    }

    private func expire(at now: MonotonicTime) {
        let patience = pool.configuration.requestTimeout
        while slots.oldest != RequestSlot.none {
            let index = slots.oldest
            let slot = unsafe slots.slots[Int(index)]
            guard now - slot.sentAt >= patience else { return }
            abandon(index)
            machine.requestEnded(.timedOut)
            conclude(slot, .unknown)
        }
    }

    /// Resets a stream whose answer is no longer waited for. Its slot and the request's memory stay until nghttp2 has closed it:
    /// its HEADERS may not even have left.
    func abandon(_ index: Int32) {
        slots.unlink(index)
        let slot = unsafe slots.slots[Int(index)]
        unsafe slots.slots[Int(index)].isAbandoned = true
        pool.prepared(slot.reference)?.abandoned += 1
        _ = unsafe nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.streamID, NGHTTP2_CANCEL.rawValue)
    }

    /// Concludes a stream without a proper end: if enough of the answer has come, the outcome is known all the same.
    func conclude(_ slot: RequestSlot, _ end: PoolMachine.RequestEnd) {
        let body = takeBody(slot.body)
        if isFinal(slot) {
            pool.resolve(slot.reference, .answered, status: slot.status, retryAfter: slot.retryAfter, body: body)
        } else {
            pool.streamEnded(slot.reference, end)
        }
    }

    /// Whether the answer, as far as it has come, decides the request.
    ///
    /// 2xx, 410 (Gone), 429 (Too Many Requests) and 5xx mean one thing, with a body or without. The meaning of another refusal is
    /// in its body: it may be final, or ask for a new credential or connection. Without its end (RFC 9113, 8.1: END_STREAM) it
    /// counts as no answer; the request goes out once more, which is safe, since a server that refused has not acted on it.
    func isFinal(_ slot: RequestSlot) -> Bool {
        switch slot.status {
        case 200..<300, 410, 429, 500...: true
        case ..<200: false
        default: slot.isWhole
        }
    }

    func takeBody(_ index: Int32) -> [UInt8]? {
        guard index >= 0 else { return nil }
        let body = bodies[Int(index)]
        bodies[Int(index)] = []
        freeBodies.append(index)
        return body
    }

    /// Ends the connection for good: every request still on it is concluded, and the socket is closed.
    /// - Parameter saysGoodbye: whether a GOAWAY(NO_ERROR) is sent, as far as the socket takes it.
    func close(saysGoodbye: Bool) {
        guard unsafe session != nil else { return }
        if saysGoodbye, failure == nil {
            _ = unsafe nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
            flush()
        }
        machine.retire(.died)
        unsafe nghttp2_session_del(session)
        unsafe session = nil
        for index in 0..<Int32(slots.capacity) {
            let slot = unsafe slots.slots[Int(index)]
            guard slot.reference.batch >= 0 else { continue }
            slots.unlink(index)
            slots.release(index)
            if slot.isAbandoned {
                pool.unpin(slot.reference)
            } else {
                let isSuccess = slot.status < 300 && !slot.isOdd
                machine.requestEnded(
                    slot.isUnsent ? .unsent : isFinal(slot) ? .answered(isSuccess: isSuccess) : .cut)
                conclude(slot, slot.isUnsent ? .notProcessed : .unknown)
            }
        }
    }

    /// Our words for errors that libnghttp2 finds. Its own texts quote the peer's fields.
    static func text(of code: Int32) -> String {
        let words: [Int: String] = [
            -505: "a frame that its protocol does not allow", -507: "the stream has ended",
            -510: "a stream that is closed",
            -522: "a frame of a wrong size", -523: "header fields that cannot be decompressed",
            -524: "more than flow control allows", -531: "a header field that HTTP does not allow",
            -532: "a message that HTTP does not allow", -533: "a stream that was refused",
            -536: "no SETTINGS at its beginning",
            -537: "too many SETTINGS", -901: "no memory", -902: "a callback that failed", -904: "a flood of frames",
        ]
        return (words[Int(code)].map { "\($0), " } ?? "") + "libnghttp2's error \(code)"
    }
}
