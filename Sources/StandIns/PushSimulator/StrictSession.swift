// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import Glibc
import Signing

/// An HTTP/2 session of nghttp2 in which each request is judged, and answered by the judge's decision.
@safe
final class StrictSession: SimulatorSession {
    private let number: UInt64
    private let judge: RequestJudge
    private var session: OpaquePointer?
    private var credential = ConnectionCredential()
    private var isAuthorized = false
    private var slots: [StreamSlot] = []
    private var freeSlots: [Int] = []
    /// The stream whose header block is arriving: blocks are never interleaved (RFC 9113 section 4.3).
    private var current: StreamSlot?
    private var openStreams = 0
    private var requests = 0
    /// The highest stream that was looked at. Requests need not end in the order of their streams.
    private var highestStream: Int32 = 0
    /// Streams above it are ignored; set with the GOAWAY.
    private var lastStream = Int32.max
    private var hasSaidGoAway: Bool { lastStream != .max }
    /// Set once the script has cut the connection, or made it silent: nothing more is looked at.
    private var end: SimulatorConnection.Need?
    /// Answers of streams that were judged since the loop last asked: they wait for the latency, or longer.
    private var delayed: [DelayedAnswer] = []
    private let delaysAnswers: Bool
    /// The last accepted pushes whose answer was packed. The answer may never arrive: closing a socket that has unread bytes
    /// resets the connection, and a reset discards what the client has not read yet (RFC 9293, 3.10.7).
    private var answered = RecentHashes(capacity: 2048)

    /// Bytes gathered before a write: one TLS record holds 16 KiB (RFC 8446 section 5.1). Answers are small, so the last
    /// frame seldom exceeds the record.
    private static let coalesced = 16_384 - 256

    /// Nil if there is no memory. `callbacks` outlives the session.
    init?(number: UInt64, judge: RequestJudge, delaysAnswers: Bool, callbacks: SessionCallbacks) {
        self.number = number
        self.judge = judge
        self.delaysAnswers = delaysAnswers
        // nghttp2 keeps an unowned pointer to this object, which deletes its session when it ends.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe nghttp2_session_server_new2(&session, callbacks.pointer, owner, callbacks.options) == 0 else {
            return nil
        }
        isAuthorized = judge.rules.firstStreams == nil
        // The settings that a connection to APNs starts with (PROTOCOLS 1.7).
        submitSettings([
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(judge.rules.firstStreams ?? judge.maximumStreams)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 8000),
        ])
    }

    deinit { unsafe nghttp2_session_del(session) }

    // MARK: Bytes

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need? {
        let taken = unsafe nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
        // Negative for NGHTTP2_ERR_BAD_CLIENT_MAGIC and NGHTTP2_ERR_FLOODED, for example; lesser errors become a GOAWAY.
        return end ?? (taken == bytes.count ? nil : .close)
    }

    func pack(into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        while output.count < Self.coalesced {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes = unsafe bytes else { return }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    var isOver: Bool {
        unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    func clientShowed(_ certificate: ClientCertificate) { credential.show(certificate) }

    // MARK: The session's reports

    func streamBegan(_ stream: Int32) {
        let slot: StreamSlot
        if let index = freeSlots.popLast() {
            slot = slots[index]
        } else {
            slot = StreamSlot(index: slots.count)
            slots.append(slot)
        }
        slot.begin(stream)
        current = slot
        openStreams += 1
        judge.figures.peakStreams = max(judge.figures.peakStreams, openStreams)
        // The index, from 1, is the stream's user data.
        unsafe nghttp2_session_set_stream_user_data(
            session, stream, UnsafeMutableRawPointer(bitPattern: slot.index + 1))
    }

    /// Ignores the fields of trailers: they are not header fields of their request (RFC 9110, 6.5.1), nor of the request
    /// whose block came last.
    func trailersBegan() { current = nil }

    func headerArrived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let place = unsafe judge.headers.place(of: name), let slot = current else { return }
        unsafe slot.headers.add(value.span, at: place)
    }

    func bodyArrived(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        if let slot = slot(of: stream) { unsafe slot.append(bytes) }
    }

    func requestEnded(_ stream: Int32) {
        guard stream <= lastStream, end == nil, let slot = slot(of: stream), !slot.isWaiting else { return }
        highestStream = max(highestStream, stream)
        guard let answer = judge.answer(to: slot, credential: &credential, connection: number) else {
            unsafe nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_REFUSED_STREAM.rawValue)
            return
        }
        if answer.isPush { requests += 1 }
        slot.answer = answer
        slot.isWaiting = true
        slot.isJudged = answer.isPush
        if !isAuthorized, credential.isProven {
            isAuthorized = true
            submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(judge.maximumStreams))])
        }
        switch answer.fault {
        case .reset:
            judge.note(.reset, slots: [slot])
            unsafe nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_INTERNAL_ERROR.rawValue)
        case .noAnswer:
            if answer.isPush { judge.note(.noAnswer, slots: [slot]) }
        case .cut?, .silence?:
            // Nothing more goes out on this connection, so the fault hits all of its streams, below.
            break
        default:
            if delaysAnswers || answer.fault == .delay {
                delayed.append(DelayedAnswer(stream: stream, slot: slot.index, isLate: answer.fault == .delay))
            } else {
                submitAnswer(slot)
            }
        }
        guard answer.isPush else { return }
        // Requests that were taken before a GOAWAY may still end after it; one GOAWAY is enough.
        let isGoAwaySpent = hasSaidGoAway
        switch judge.aftermath(of: answer, numberOnConnection: requests) {
        case .nothing: break
        case .setStreams(let count):
            submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(count))])
        case .silence: end = .silence
        case .cut(let how):
            end = how == .end ? .drain : how == .reset ? .reset : .close
            judge.figures.cuts += 1
        case .goAway: if !isGoAwaySpent { submitGoAway() }
        }
        switch answer.fault {
        case .goAway? where isGoAwaySpent: break
        case .delay?, .goAway?, .settings?: if let fault = answer.fault { judge.note(fault, slots: []) }
        case .cut?:
            judge.note(.cut, slots: unansweredSlots, doubts: answered.ids)
        case .silence?:
            judge.note(.silence, slots: unansweredSlots)
        case .reset?, .noAnswer?, .rejection?, .refusedStream?, nil: break
        }
    }

    /// The slots of requests that have been judged and whose answer has not been packed.
    private var unansweredSlots: [StreamSlot] { slots.filter { $0.stream != 0 && $0.isJudged } }

    func streamClosed(_ stream: Int32) {
        guard let slot = slot(of: stream) else { return }
        if slot.isJudged, slot.answer.reason == nil, judge.hasWitness { answered.add(slot.idHash) }
        slot.isWaiting = false
        slot.stream = 0
        openStreams -= 1
        freeSlots.append(slot.index)
    }

    private func slot(of stream: Int32) -> StreamSlot? {
        guard let data = unsafe nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        return slots[Int(bitPattern: data) - 1]
    }

    // MARK: Answers

    func takeDelayed() -> [DelayedAnswer] {
        defer { delayed.removeAll(keepingCapacity: true) }
        return delayed
    }

    /// Does nothing where the client has reset the stream since.
    func answer(_ answer: DelayedAnswer) {
        let slot = slots[answer.slot]
        guard slot.stream == answer.stream, slot.isWaiting, end == nil else { return }
        submitAnswer(slot)
    }

    private func submitAnswer(_ slot: StreamSlot) {
        slot.isWaiting = false
        guard let own = unsafe ownField(slot) else { return }
        if slot.body.isEmpty {
            var fields = unsafe (AnswerHeaders.status(slot.answer.status), own)
            unsafe withUnsafePointer(to: &fields) { tuple in
                // A homogeneous tuple is laid out like an array of its elements.
                unsafe tuple.withMemoryRebound(to: nghttp2_nv.self, capacity: 2) { fields in
                    _ = unsafe nghttp2_submit_response(session, slot.stream, fields, 2, nil)
                }
            }
            return
        }
        var fields = unsafe [AnswerHeaders.status(slot.answer.status), own]
        var retryAfter = slot.answer.retryAfter.map { judge.retryAfterText($0) } ?? []
        unsafe retryAfter.withUnsafeMutableBufferPointer { text in
            if !text.isEmpty, let field = unsafe AnswerHeaders.retryAfter(text) { unsafe fields.append(field) }
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.source.ptr = UnsafeMutableRawPointer(bitPattern: slot.index + 1)
            unsafe provider.read_callback = SessionCallbacks.readBody
            _ = unsafe nghttp2_submit_response(session, slot.stream, fields, fields.count, &provider)
        }
    }

    private func ownField(_ slot: StreamSlot) -> nghttp2_nv? {
        switch judge.rules.field(of: slot.answer) {
        case .id: unsafe AnswerHeaders.id(slot.idBytes)
        case .json: unsafe AnswerHeaders.contentType("application/json; charset=UTF-8")
        case .page: unsafe AnswerHeaders.contentType("text/html; charset=UTF-8")
        }
    }

    func copyBody(slot: Int, to room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        unsafe slots[slot].copyBody(to: room)
    }

    private func submitSettings(_ values: [(nghttp2_settings_id, UInt32)]) {
        let entries = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Names the last stream that was looked at: nghttp2 closes all streams above the named one, also those whose answer
    /// waits.
    private func submitGoAway() {
        lastStream = highestStream
        judge.figures.goAways += 1
        let text = judge.rules.goAwayText(judge.goAwayReason)
        unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, NGHTTP2_NO_ERROR.rawValue, text, text.count)
    }
}

/// The header fields of answers, made once. Names and status values are literals, so nghttp2 need not copy them.
@safe
enum AnswerHeaders {
    /// nghttp2 never writes through the pointers of a field with NO_COPY flags; its struct just lacks the `const`.
    private static func field(
        _ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ count: Int, flags: nghttp2_nv_flag
    ) -> nghttp2_nv {
        unsafe nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: value, namelen: name.utf8CodeUnitCount,
            valuelen: count, flags: UInt8(truncatingIfNeeded: flags.rawValue | NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
    }

    static func status(_ status: UInt16) -> nghttp2_nv {
        let text: StaticString =
            switch status {
            case 200: "200"
            case 400: "400"
            case 401: "401"
            case 403: "403"
            case 404: "404"
            case 405: "405"
            case 408: "408"
            case 410: "410"
            case 413: "413"
            case 429: "429"
            case 502: "502"
            case 503: "503"
            case 504: "504"
            default: "500"
            }
        return unsafe field(
            ":status", UnsafeMutablePointer(mutating: text.utf8Start), text.utf8CodeUnitCount,
            flags: NGHTTP2_NV_FLAG_NO_COPY_VALUE)
    }

    /// Not indexed: no id comes twice, and each would push something useful out of the client's table.
    static func id(_ bytes: UnsafeMutableBufferPointer<UInt8>) -> nghttp2_nv? {
        guard let base = bytes.baseAddress else { return nil }
        let flags = NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue
        return unsafe field("apns-id", base, bytes.count, flags: nghttp2_nv_flag(rawValue: flags))
    }

    static func contentType(_ text: StaticString) -> nghttp2_nv {
        unsafe field(
            "content-type", UnsafeMutablePointer(mutating: text.utf8Start), text.utf8CodeUnitCount,
            flags: NGHTTP2_NV_FLAG_NO_COPY_VALUE)
    }

    /// The value is copied by nghttp2.
    static func retryAfter(_ text: UnsafeMutableBufferPointer<UInt8>) -> nghttp2_nv? {
        guard let base = text.baseAddress else { return nil }
        return unsafe field("retry-after", base, text.count, flags: NGHTTP2_NV_FLAG_NONE)
    }
}
