// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import Glibc
import RelayEngine
import Threading
import WireFormat

// Callbacks that libnghttp2 calls while it reads and writes. Nothing here may delete the session or its connection.

extension HTTP2Connection {
    static func setCallbacks(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegan)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, headerReceived)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frameNotSent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
        unsafe nghttp2_session_callbacks_set_error_callback2(callbacks, errorReported)
    }

    /// - SAFETY: the session is made with its connection as user data, and never outlives it.
    fileprivate static func with<Result>(
        _ data: UnsafeMutableRawPointer?, otherwise: Result, _ body: (HTTP2Connection) -> Result
    ) -> Result {
        guard let data = unsafe data else { return otherwise }
        return unsafe Unmanaged<HTTP2Connection>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0) }
    }

    static func slot(of stream: Int32, _ session: OpaquePointer?) -> Int? {
        unsafe nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
    }

    fileprivate func header(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isLastFrame: Bool, at slot: Int
    ) {
        if name.count == 7 {
            // nghttp2 has checked that :status is there once and has three digits.
            var status: UInt16 = 0
            for index in 0..<value.count { unsafe status = status &* 10 &+ UInt16(value[index] &- 0x30) }
            unsafe slots.slots[slot].status = status
            unsafe slots.slots[slot].isWhole = isLastFrame
            // A field of an earlier 1xx does not hold for the answer itself (RFC 9110, 15.2: "interim response").
            unsafe slots.slots[slot].retryAfter = -1
        } else {
            let seconds = unsafe RetryAfter.seconds(value, now: Int64(time(nil)))
            unsafe slots.slots[slot].retryAfter = seconds ?? -1
        }
    }

    fileprivate func data(_ bytes: UnsafeBufferPointer<UInt8>, at slot: Int) {
        // The request is concluded, and another one may own its place in `bodies` now.
        guard unsafe !slots.slots[slot].isAbandoned else { return }
        if unsafe slots.slots[slot].received == 0, unsafe slots.slots[slot].status < 300 {
            unsafe slots.slots[slot].isOdd = !pool.judge.isGood(bytes.span)
        }
        unsafe slots.slots[slot].received += Int32(bytes.count)
        if unsafe slots.slots[slot].status >= 300 || slots.slots[slot].isOdd { unsafe keep(bytes, at: slot) }
        guard unsafe slots.slots[slot].received > answerLimit else { return }
        // The status already decides the request; the rest may be endless.
        abandon(Int32(slot))
        answered(unsafe slots.slots[slot])
    }

    private func keep(_ bytes: UnsafeBufferPointer<UInt8>, at slot: Int) {
        var index = unsafe slots.slots[slot].body
        if index < 0 {
            if let free = freeBodies.popLast() {
                index = free
            } else {
                index = Int32(bodies.count)
                bodies.append([])
            }
            unsafe slots.slots[slot].body = index
        }
        let room = pool.judge.longestBody - bodies[Int(index)].count
        unsafe bodies[Int(index)].append(contentsOf: bytes.prefix(max(0, room)))
    }

    fileprivate func goAway(_ frame: nghttp2_goaway) {
        var text = ""
        if unsafe frame.opaque_data_len > 0 {
            let bytes = unsafe UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
            // The peer's bytes end in logs: printable ASCII only.
            text = unsafe String(
                decoding: bytes.prefix(256).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }, as: UTF8.self)
        }
        let goAway = unsafe GoAway(errorCode: frame.error_code, lastStreamID: frame.last_stream_id, debugData: text)
        lastWords = goAway.description
        pool.turn.figures.count(goAway)
        machine.retire(.goAway(isCalm: goAway.errorCode == NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
    }

    fileprivate func settings(maximumStreams: UInt32) {
        machine.settingsReceived(
            maximumStreams: maximumStreams == .max ? nil : Int(maximumStreams), at: MonotonicClock.now())
    }

    fileprivate func closed(_ index: Int, errorCode: UInt32) {
        let slot = unsafe slots.slots[index]
        slots.unlink(Int32(index))
        slots.release(Int32(index))
        if slot.isCut { cutBodies -= 1 }
        if slot.isAbandoned {
            pool.unpin(slot.reference)
            return
        }
        if isFinal(slot) {
            answered(slot)
        } else if slot.isUnsent {
            machine.requestEnded(.unsent)
            pool.streamEnded(slot.reference, .notProcessed)
        } else if errorCode == NGHTTP2_REFUSED_STREAM.rawValue, slot.status < 200 {
            machine.requestEnded(.refused)
            pool.streamEnded(slot.reference, .notProcessed)
        } else {
            machine.requestEnded(.reset)
            _ = takeBody(slot.body)
            pool.streamEnded(slot.reference, .unknown)
        }
    }

    private func answered(_ slot: RequestSlot) {
        let isSuccess = slot.status < 300 && !slot.isOdd
        let (sent, heard) = (slot.sentAt.nanoseconds, pool.turn.heardAt.nanoseconds)
        let latency = heard > sent ? heard &- sent : 0
        pool.turn.latency.add(nanoseconds: latency)
        pool.meter.add(sentAt: slot.sentAt, latency: latency)
        let wasProven = machine.isProven
        machine.requestEnded(.answered(isSuccess: isSuccess))
        if isSuccess {
            if !wasProven {
                pool.machine.proved()
                pool.answers()
            }
            pool.resolve(
                slot.reference, .answered, after: latency, status: slot.status, retryAfter: slot.retryAfter)
            return
        }
        pool.answers()
        let body = takeBody(slot.body) ?? []
        let (verdict, reading) = pool.judge.judge(status: slot.status, body: body)
        switch verdict {
        case .recycle:
            machine.retire(.judged)
        case .doubt where !machine.isDoubted(), .keep:
            break
        case .halt, .doubt:
            machine.retire(.judged)
            pool.isHalted = true
        }
        pool.resolve(
            slot.reference, .answered, after: latency, status: slot.status, retryAfter: slot.retryAfter, body: body,
            reading)
    }
}

/// Hands nghttp2 a part of a request's body, at most `length` bytes: near the end of a window that is less than the whole, and
/// giving more would end the session without a message.
func readBody(
    _: OpaquePointer?, _: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ data: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer = unsafe buffer, let flags = unsafe flags, let source = unsafe source else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    let index = unsafe Int(relay_nghttp2_source_slot(source))
    return unsafe HTTP2Connection.with(data, otherwise: Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)) { connection in
        let slot = unsafe connection.slots.slots[index]
        guard let prepared = connection.pool.prepared(slot.reference) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let part = unsafe prepared.template.copyBody(
            arena: prepared.arena, slots: prepared.slots(of: Int(slot.reference.request)), from: Int(slot.bodySent),
            to: buffer, room: length)
        unsafe connection.slots.slots[index].bodySent += Int32(part.count)
        unsafe connection.slots.slots[index].isCut = !part.isEnd
        if slot.isCut == part.isEnd { connection.cutBodies += part.isEnd ? -1 : 1 }
        if part.isEnd { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return part.count
    }
}

private func headersBegan(
    _: OpaquePointer?, _: UnsafePointer<nghttp2_frame>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        connection.headerBytes = 0
        return 0
    }
}

private func headerReceived(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
    _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _: UInt8, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        connection.headerBytes += nameCount + valueCount + 32
        guard connection.headerBytes <= HTTP2Connection.headerLimit else {
            connection.lastWords = "header fields without end"
            return Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        guard let frame = unsafe frame, let name = unsafe name else { return 0 }
        // The only pseudo-field of an answer is :status (RFC 9113, 8.3.2).
        let isStatus = unsafe nameCount == 7 && name[0] == 0x3A
        guard unsafe isStatus || (nameCount == 11 && memcmp(name, "retry-after", 11) == 0) else { return 0 }
        let head = unsafe relay_nghttp2_frame_hd(frame)
        guard let slot = unsafe HTTP2Connection.slot(of: head.pointee.stream_id, session) else { return 0 }
        unsafe connection.header(
            UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount),
            isLastFrame: head.pointee.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, at: slot)
        return 0
    }
}

private func dataReceived(
    _ session: OpaquePointer?, _: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ data: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        if let slot = unsafe HTTP2Connection.slot(of: stream, session) {
            unsafe connection.data(UnsafeBufferPointer(start: bytes, count: count), at: slot)
        }
        return 0
    }
}

private func frameReceived(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let head = unsafe relay_nghttp2_frame_hd(frame).pointee
    // Nearly all frames are answers; they are concluded when their stream closes. An answer that is HEADERS alone was noted as
    // whole with its status: doing that here would cost each push a look for its stream.
    if head.type == NGHTTP2_HEADERS.rawValue || head.type == NGHTTP2_DATA.rawValue {
        guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, unsafe !relay_nghttp2_begins_answer(frame),
            let slot = unsafe HTTP2Connection.slot(of: head.stream_id, session)
        else { return 0 }
        return unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
            unsafe connection.slots.slots[slot].isWhole = true
            return 0
        }
    }
    return unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        let isAcknowledgement = head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch UInt32(head.type) {
        case NGHTTP2_SETTINGS.rawValue where !isAcknowledgement:
            connection.settings(
                maximumStreams: unsafe nghttp2_session_get_remote_settings(
                    session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        case NGHTTP2_GOAWAY.rawValue:
            unsafe connection.goAway(relay_nghttp2_goaway(frame).pointee)
        case NGHTTP2_PING.rawValue where isAcknowledgement:
            connection.machine.pingAcknowledged(at: MonotonicClock.now())
        default:
            break
        }
        return 0
    }
}

private func frameNotSent(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _: Int32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let head = unsafe relay_nghttp2_frame_hd(frame).pointee
    guard head.type == NGHTTP2_HEADERS.rawValue else { return 0 }
    return unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        if let slot = unsafe HTTP2Connection.slot(of: head.stream_id, session) {
            unsafe connection.slots.slots[slot].isUnsent = true
        }
        return 0
    }
}

private func streamClosed(
    _ session: OpaquePointer?, _ stream: Int32, _ errorCode: UInt32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let slot = unsafe HTTP2Connection.slot(of: stream, session) else { return 0 }
    return unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        connection.closed(slot, errorCode: errorCode)
        return 0
    }
}

private func errorReported(
    _: OpaquePointer?, _ code: Int32, _: UnsafePointer<CChar>?, _: Int, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe HTTP2Connection.with(data, otherwise: 0) { connection in
        connection.lastWords = HTTP2Connection.text(of: code)
        return 0
    }
}
