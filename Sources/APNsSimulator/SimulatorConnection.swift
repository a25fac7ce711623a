// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import Glibc

/// One client: its socket, its TLS, its HTTP/2 session, the streams that are open. Belongs to the loop's thread.
@safe
final class SimulatorConnection {
    /// What the loop has to do next.
    enum Need: Equatable {
        case reading
        /// Also tell when the socket can be written.
        case writing
        /// Tell nothing but that the client has gone.
        case silence
        /// All is said: discard what still comes, then close. Closing at once would make the kernel send a reset,
        /// and that can overtake the GOAWAY.
        case drain
        case close
    }

    let number: UInt64
    let socket: Descriptor
    /// The epoll events it is registered for: the loop's note.
    var watched: UInt32 = 0
    private let tls: TLSStream
    private let judge: RequestJudge
    private var session: OpaquePointer?
    private var credential = ConnectionCredential()
    private var isAuthorized = false
    private var slots: [StreamSlot] = []
    private var freeSlots: [Int] = []
    /// The stream whose header block is arriving: blocks are never interleaved (RFC 9113 section 4.3).
    private var current: StreamSlot?
    private var openStreams = 0
    private var mostStreams = 0
    private var requests = 0
    /// Bare mode without a script: pushes with a good provider token need nothing more than their answer. Looked up once for
    /// all that is read in one go, since each look at the judge's state costs a check for others that use it.
    private var isPlain = false
    /// Of those, the ones that the judge has not counted yet.
    private var plainPushes = 0
    /// The highest stream that was looked at. Requests need not end in the order of their streams.
    private var highestStream: Int32 = 0
    /// No stream above it is looked at; set with the GOAWAY.
    private var lastStream = Int32.max
    private var hasSaidGoAway: Bool { lastStream != .max }
    private var isCut = false
    private var isSilent = false
    private var output: [UInt8] = []
    private var outputSent = 0
    /// Streams judged since the loop asked last; their answers wait for their time, or for longer than that.
    private var delayed: [(stream: Int32, slot: Int, isLate: Bool)] = []
    private let delaysAnswers: Bool
    /// The last accepted pushes whose answer was packed. It may never arrive: closing a socket that has unread bytes
    /// resets the connection, and a reset discards what the client has not read yet (RFC 9293, 3.10.7).
    private var answered = RecentHashes(capacity: 2048)

    /// Bytes gathered before a write: one TLS record holds 16 KiB (RFC 8446 section 5.1). Answers are small, so what
    /// the last frame adds seldom passes it.
    private static let coalesced = 16_384 - 256
    /// Bare mode: records that are read before their answers are written, in one system call for some 150 pushes.
    private static let bareRecords = 4

    /// Nil if there is no memory. `callbacks` outlives the connection.
    init?(
        number: UInt64, socket: consuming Descriptor, tls context: TLSContext, judge: RequestJudge, delaysAnswers: Bool,
        callbacks: SessionCallbacks
    ) {
        guard let tls = TLSStream(context: context, socket: socket.number) else { return nil }
        self.number = number
        self.socket = socket
        self.tls = tls
        self.judge = judge
        self.delaysAnswers = delaysAnswers
        output.reserveCapacity(2 * 16_384)
        // The session keeps an unowned pointer to this object, which deletes the session when it ends.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe nghttp2_session_server_new2(&session, callbacks.pointer, owner, callbacks.options) == 0 else {
            return nil
        }
        // What a connection to APNs starts with (PROTOCOLS 1.7), but one stream only until a valid token was seen.
        submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1), (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 8000)])
        judge.connectionOpened()
    }

    deinit {
        unsafe nghttp2_session_del(session)
        judge.connectionClosed()
    }

    // MARK: Bytes

    /// Reads all there is, answers it, writes. `buffer` is scratch memory of the loop.
    func socketReadable(_ buffer: UnsafeMutableRawBufferPointer) -> Need {
        isPlain = judge.isPlain
        defer { countPlainPushes() }
        var records = 0
        while true {
            switch unsafe tls.read(into: buffer) {
            case .bytes(let count):
                records += 1
                let base = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let taken = unsafe nghttp2_session_mem_recv(session, base, count)
                if isCut {
                    judge.publish()
                    return .close
                }
                // NGHTTP2_ERR_BAD_CLIENT_MAGIC and NGHTTP2_ERR_FLOODED, for example; the lesser ones become a GOAWAY.
                guard taken == count else { return .close }
                if isSilent {
                    judge.publish()
                    return .silence
                }
                // Answers now and then, or a fast client would be read forever and never answered.
                guard !judge.isBare || records % Self.bareRecords == 0 else { continue }
                let need = flush()
                if need != .reading { return need }
            case .wantsRead: return tls.isHandshakeDone ? flush() : .reading
            case .wantsWrite: return .writing
            case .over: return .close
            }
        }
    }

    func socketWritable() -> Need {
        tls.isHandshakeDone ? flush() : .reading
    }

    /// Packs frames and writes until there are none or the socket is full.
    func flush() -> Need {
        if isSilent { return .silence }
        while true {
            if outputSent == output.count {
                pack()
                if output.isEmpty {
                    let isOver =
                        unsafe nghttp2_session_want_read(session) == 0
                        && nghttp2_session_want_write(session) == 0
                    if isOver { tls.close() }
                    return isOver ? .drain : .reading
                }
            }
            // Whatever a client may read next must be on record first.
            countPlainPushes()
            judge.publish()
            switch unsafe output.withUnsafeBytes({
                unsafe tls.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...]))
            })
            {
            case .bytes(let count): outputSent += count
            case .wantsWrite: return .writing
            case .wantsRead: return .reading
            case .over: return .close
            }
        }
    }

    private func pack() {
        output.removeAll(keepingCapacity: true)
        outputSent = 0
        while output.count < Self.coalesced {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes = unsafe bytes else { return }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    // MARK: What the session reports

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
        if openStreams > mostStreams {
            mostStreams = openStreams
            judge.figures.peakStreams = max(judge.figures.peakStreams, openStreams)
        }
        // The index, from 1, is the stream's user data.
        unsafe nghttp2_session_set_stream_user_data(
            session, stream, UnsafeMutableRawPointer(bitPattern: slot.index + 1))
    }

    /// No field of theirs is a header field of the request (RFC 9110, 6.5.1), nor of the one whose block came last.
    func trailersBegan() { current = nil }

    func headerArrived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let header = unsafe KnownHeader(name), let slot = current else { return }
        if header == .id { unsafe slot.takeID(value) }
        unsafe slot.headers.add(header, value.span)
    }

    /// Bare mode: the only two header fields that count.
    func idArrived(_ value: UnsafeBufferPointer<UInt8>) {
        if let slot = current { unsafe slot.takeID(value) }
    }

    func credentialArrived(_ value: UnsafeBufferPointer<UInt8>) {
        current?.credentialFault =
            unsafe credential.isCurrent(value.span)
            ? credential.judgeCurrent(now: judge.now / 1000)
            : unsafe judge.credentialFault(Array(value)[...], &credential)
    }

    func bodyArrived(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        if let slot = slot(of: stream) { unsafe slot.append(bytes) }
    }

    func requestEnded(_ stream: Int32) {
        guard stream <= lastStream, !isCut, !isSilent, let slot = slot(of: stream), !slot.isWaiting else { return }
        highestStream = max(highestStream, stream)
        if isPlain, isAuthorized, slot.credentialFault == nil {
            requests += 1
            plainPushes += 1
            slot.ensureID()
            slot.isWaiting = true
            if delaysAnswers { delayed.append((stream, slot.index, false)) } else { submitAnswer(slot) }
            return
        }
        guard let answer = judge.answer(to: slot, credential: &credential, connection: number) else {
            unsafe nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_REFUSED_STREAM.rawValue)
            return
        }
        requests += 1
        slot.answer = answer
        slot.isWaiting = true
        slot.isJudged = true
        if !isAuthorized, credential.current != nil {
            isAuthorized = true
            submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(judge.maximumStreams))])
        }
        switch answer.fault {
        case .reset:
            judge.note(.reset, slots: [slot])
            unsafe nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_INTERNAL_ERROR.rawValue)
        case .noAnswer:
            judge.note(.noAnswer, slots: [slot])
        case .cut?, .silence?:
            // Nothing goes out on this connection any more, so that all of its streams are hit.
            break
        default:
            if delaysAnswers || answer.fault == .delay {
                delayed.append((stream, slot.index, answer.fault == .delay))
            } else {
                submitAnswer(slot)
            }
        }
        // What it had taken may still end after it; one is enough.
        let isGoAwaySpent = hasSaidGoAway
        switch judge.aftermath(of: answer, numberOnConnection: requests) {
        case .nothing: break
        case .setStreams(let count):
            submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(count))])
        case .silence: isSilent = true
        case .cut:
            isCut = true
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

    private func countPlainPushes() {
        guard plainPushes > 0 else { return }
        judge.countAccepted(plainPushes)
        plainPushes = 0
    }

    /// Of requests that have been judged and whose answer has not been packed.
    private var unansweredSlots: [StreamSlot] { slots.filter { $0.stream != 0 && $0.isJudged } }

    func streamClosed(_ stream: Int32) {
        guard let slot = slot(of: stream) else { return }
        if slot.isJudged, slot.answer.reason == nil, judge.keepsJournal { answered.add(slot.idHash) }
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

    /// The answers that wait for their time, once each.
    func takeDelayed() -> [(stream: Int32, slot: Int, isLate: Bool)] {
        defer { delayed.removeAll(keepingCapacity: true) }
        return delayed
    }

    /// Their time has come. The client may have reset the stream meanwhile.
    func answer(_ stream: Int32, slot index: Int) {
        let slot = slots[index]
        guard slot.stream == stream, slot.isWaiting else { return }
        submitAnswer(slot)
    }

    private func submitAnswer(_ slot: StreamSlot) {
        slot.isWaiting = false
        slot.makeBody()
        guard let id = unsafe AnswerHeaders.id(slot.idBytes) else { return }
        if slot.body.isEmpty {
            var fields = unsafe (AnswerHeaders.status(slot.answer.status), id)
            unsafe withUnsafePointer(to: &fields) { tuple in
                // A homogeneous tuple is laid out like an array of its elements.
                unsafe tuple.withMemoryRebound(to: nghttp2_nv.self, capacity: 2) { fields in
                    _ = unsafe nghttp2_submit_response(session, slot.stream, fields, 2, nil)
                }
            }
            return
        }
        var fields = unsafe [AnswerHeaders.status(slot.answer.status), id]
        var digits = slot.answer.retryAfter.map { Array(String($0).utf8) } ?? []
        unsafe digits.withUnsafeMutableBufferPointer { digits in
            if !digits.isEmpty, let field = unsafe AnswerHeaders.retryAfter(digits) { unsafe fields.append(field) }
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.source.ptr = UnsafeMutableRawPointer(bitPattern: slot.index + 1)
            unsafe provider.read_callback = SessionCallbacks.readBody
            _ = unsafe nghttp2_submit_response(session, slot.stream, fields, fields.count, &provider)
        }
    }

    func copyBody(slot: Int, to room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        unsafe slots[slot].copyBody(to: room)
    }

    private func submitSettings(_ values: [(nghttp2_settings_id, UInt32)]) {
        let entries = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// What was looked at stays: nghttp2 closes the streams above the one that a GOAWAY names, also those whose answer waits.
    private func submitGoAway() {
        lastStream = highestStream
        judge.figures.goAways += 1
        let text = Array(#"{"reason":"\#(judge.goAwayReason)"}"#.utf8)
        unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, NGHTTP2_NO_ERROR.rawValue, text, text.count)
    }
}

extension KnownHeader {
    /// Names are lower case already: nghttp2 refuses others, as RFC 9113 section 8.2.1 asks.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        let candidate: KnownHeader
        switch name.count {
        case 5: candidate = .path
        case 7: candidate = unsafe name[0] == UInt8(ascii: ":") ? .method : .id
        case 10: candidate = .topic
        case 13: candidate = unsafe name[1] == UInt8(ascii: "u") ? .authorization : .priority
        case 14: candidate = .pushType
        case 15: candidate = .expiration
        case 16: candidate = .collapseID
        default: return nil
        }
        guard let base = name.baseAddress, unsafe memcmp(base, candidate.name.utf8Start, name.count) == 0 else {
            return nil
        }
        self = candidate
    }
}
