// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2

/// The one owner of nghttp2's callback table and options, shared by all sessions of a loop.
@safe
final class SessionCallbacks {
    let pointer: OpaquePointer
    let options: OpaquePointer

    init() throws {
        var table: OpaquePointer?
        var option: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&table) == 0, let table = unsafe table,
            unsafe nghttp2_option_new(&option) == 0, let option = unsafe option
        else { throw SimulatorError("HTTP/2 cannot be set up: out of memory") }
        unsafe pointer = table
        unsafe options = option
        // A client may give up on as many streams as it likes (libcurl 7.88 resets every stream, PROTOCOLS 6.6): without this
        // option, Debian's nghttp2 ends the connection after a thousand.
        unsafe nghttp2_option_set_stream_reset_rate_limit(option, 1_000_000_000, 1_000_000_000)
        unsafe nghttp2_option_set_no_closed_streams(option, 1)

        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { _, frame, owner in
            if let frame = unsafe frame, unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
                let stream = unsafe frame.pointee.hd.stream_id
                // All other HEADERS frames on a client's stream are trailers.
                let isRequest = unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
                unsafe SessionCallbacks.with(owner) { isRequest ? $0.streamBegan(stream) : $0.trailersBegan() }
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(table) {
            _, _, name, nameCount, value, count, _, owner in
            unsafe SessionCallbacks.with(owner) { session in
                unsafe session.headerArrived(
                    UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: count))
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, stream, bytes, count, owner in
            unsafe SessionCallbacks.with(owner) { session in
                unsafe session.bodyArrived(stream, UnsafeBufferPointer(start: bytes, count: count))
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, owner in
            guard let header = unsafe frame?.pointee.hd else { return 0 }
            let carries = header.type == UInt8(NGHTTP2_HEADERS.rawValue) || header.type == UInt8(NGHTTP2_DATA.rawValue)
            if carries, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                unsafe SessionCallbacks.with(owner) { $0.requestEnded(header.stream_id) }
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, stream, _, owner in
            unsafe SessionCallbacks.with(owner) { $0.streamClosed(stream) }
            return 0
        }
    }

    deinit {
        unsafe nghttp2_session_callbacks_del(pointer)
        unsafe nghttp2_option_del(options)
    }

    /// nghttp2's session is deleted in its owner's `deinit`, so the owner lives as long as any callback. So no callback
    /// retains it, which would happen some twenty times for each request.
    @inline(__always)
    private static func with<Result>(
        _ owner: UnsafeMutableRawPointer?, _ body: (StrictSession) -> Result
    ) -> Result? {
        guard let owner = unsafe owner else { return nil }
        return unsafe Unmanaged<StrictSession>.fromOpaque(owner)._withUnsafeGuaranteedRef { body($0) }
    }

    static let readBody: nghttp2_data_source_read_callback = { _, _, room, length, flags, source, owner in
        let copied = unsafe SessionCallbacks.with(owner) { session -> (count: Int, isLast: Bool)? in
            guard let slot = unsafe source?.pointee.ptr else { return nil }
            return unsafe session.copyBody(
                slot: Int(bitPattern: slot) - 1, to: UnsafeMutableBufferPointer(start: room, count: length))
        }
        guard let (count, isLast) = copied ?? nil else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
        if isLast { unsafe flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }
}
