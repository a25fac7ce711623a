// SPDX-License-Identifier: Apache-2.0
import CLinux
import CNGHTTP2
import COpenSSL
import Glibc

/// One connection of the peer, on a thread of its own.
///
/// `@unchecked Sendable`: made by the accepting thread, then used by its own thread alone.
final class PeerConnection: @unchecked Sendable {
    /// Written to when another thread has changed state that this connection's thread must look at.
    let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    private let number: Int
    private let socket: Int32
    private let context: ServerContext
    private let state: Watched<ScriptedPeer.State>
    private let manner: PeerManner
    private let script: ScriptedPeer.Script
    private var tls: OpaquePointer?
    private var session: OpaquePointer?
    private var begun: [Int32: SeenRequest] = [:]
    private var count = 0
    private var held: [Int32] = []
    private var bodies: [Int32: [UInt8]] = [:]
    private var open: Set<Int32> = []
    private var isOver = false
    private var isSilent = false
    private var releasesSeen = 0
    private var later: [(at: ContinuousClock.Instant, request: SeenRequest, step: Step)] = []

    init(
        number: Int, socket: Int32, context: ServerContext, state: Watched<ScriptedPeer.State>, manner: PeerManner,
        script: @escaping ScriptedPeer.Script
    ) {
        self.number = number
        self.socket = socket
        self.context = context
        self.state = state
        self.manner = manner
        self.script = script
        releasesSeen = state.now.releases
    }

    func run() {
        serve()
        nghttp2_session_del(session)
        SSL_free(tls)
        close(socket)
    }

    /// Waits until the bell rings, the client sends something that the peer does not ignore, or the next step is due.
    private func waitForNews() {
        var ends = [
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
            // A negative number is passed over (poll(2)).
            pollfd(fd: isSilent || session == nil ? -1 : socket, events: Int16(POLLIN), revents: 0),
        ]
        var milliseconds: Int32 = -1
        if let due = later.first?.at, !isSilent {
            milliseconds = Int32(clamping: Int64(max(.zero, due - .now) / .milliseconds(1)) + 1)
        }
        poll(&ends, 2, milliseconds)
        var rings: UInt64 = 0
        eventfd_read(bell, &rings)
    }

    private func serve() {
        switch manner.reception(number) {
        case .serve: break
        case .hangUp: return
        case .ignore:
            while !state.now.isStopping { waitForNews() }
            return
        case .babble:
            _ = send(socket, "220 mail.example ESMTP\r\n", 24, Int32(MSG_NOSIGNAL))
            return
        }
        tls = SSL_new(context.pointer)
        SSL_set_fd(tls, socket)
        guard SSL_accept(tls) == 1 else { return }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        setCallbacks(callbacks)
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        submitSettings(
            manner.maximumStreams, window: manner.window(number), headerTable: manner.headerTableSize)
        write()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isOver, !state.now.isStopping {
            if !isSilent { turn(&buffer) }
            if !isOver { waitForNews() }
        }
    }

    /// Reads all input that there is, and does all steps that are due.
    private func turn(_ buffer: inout [UInt8]) {
        while !isOver {
            let got = SSL_read(tls, &buffer, Int32(buffer.count))
            if got <= 0 {
                let error = SSL_get_error(tls, got)
                if error != SSL_ERROR_WANT_READ { isOver = true }
                break
            }
            if nghttp2_session_mem_recv(session, buffer, Int(got)) < 0 { isOver = true }
        }
        let now = state.now
        if now.releases > releasesSeen {
            releasesSeen = now.releases
            for stream in held { answer(stream, now.releaseStatus, [:], "") }
            held = []
        }
        while let due = later.first, due.at <= .now, !isOver {
            later.removeFirst()
            obey(due.step, for: due.request)
        }
        write()
    }

    private func submitSettings(_ maximumStreams: Int?, window: Int? = nil, headerTable: Int? = nil) {
        var entries = [nghttp2_settings_entry]()
        if let window {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(window)))
        }
        if let maximumStreams {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(maximumStreams))
            )
        }
        if let headerTable {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: UInt32(headerTable)))
        }
        nghttp2_submit_settings(session, 0, entries, entries.count)
    }

    private func write() {
        while !isOver {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return }
            put(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) {
        while !isOver, !state.now.isStopping {
            let result = SSL_write(tls, bytes.baseAddress, Int32(bytes.count))
            if result > 0 { return }
            guard SSL_get_error(tls, result) == SSL_ERROR_WANT_WRITE else {
                isOver = true
                return
            }
            var wanted = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            poll(&wanted, 1, 100)
        }
    }

    // MARK: The script

    private func obey(_ request: SeenRequest) {
        var request = request
        request.at = .now
        state.change { $0.requests.append(request) }
        for step in script(request) where !isOver && !isSilent { obey(step, for: request) }
    }

    private func obey(_ step: Step, for request: SeenRequest) {
        if case .answer = step { state.change { $0.answers.append((.now, number)) } }
        switch step {
        case .answer(let status, let headers, let body): answer(request.streamID, status, headers, body)
        case .hold: held.append(request.streamID)
        case .settings(let maximumStreams): submitSettings(maximumStreams)
        case .goAway(.max, _, _):
            // A session that has sent any other GOAWAY ignores streams that are still on their way, also below its last id.
            nghttp2_submit_shutdown_notice(session)
        case .goAway(let last, let code, let debug):
            let bytes = Array(debug.utf8)
            nghttp2_submit_goaway(session, 0, last, code, bytes, bytes.count)
        case .reset(let code): nghttp2_submit_rst_stream(session, 0, request.streamID, code)
        case .cut:
            write()
            isOver = true
        case .endOfOutput:
            write()
            shutdown(socket, Int32(SHUT_WR))
            isSilent = true
        case .raw(let bytes, let times):
            // Not from inside nghttp2_session_mem_recv's own writing: the session's own output goes first.
            write()
            for _ in 0..<times where !isOver { bytes.withUnsafeBytes { put($0) } }
        case .silence:
            write()
            isSilent = true
        case .after(let time, let step): later.append((.now + time, request, step))
        }
    }

    private func answer(_ stream: Int32, _ status: Int, _ headers: [String: String], _ body: String) {
        bodies[stream] = Array(body.utf8)
        var fields = [(":status", String(status))]
        fields += headers.map { ($0.key, $0.value) }
        let bytes = fields.map { (Array($0.0.utf8), Array($0.1.utf8)) }
        let memory = bytes.map { name, value in
            (
                UnsafeMutableBufferPointer<UInt8>.copy(name), UnsafeMutableBufferPointer<UInt8>.copy(value)
            )
        }
        defer {
            for (name, value) in memory {
                name.deallocate()
                value.deallocate()
            }
        }
        let pairs = memory.map { name, value in
            nghttp2_nv(
                name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count, flags: 0)
        }
        if body.isEmpty {
            nghttp2_submit_response(session, stream, pairs, pairs.count, nil)
            return
        }
        var provider = nghttp2_data_provider()
        provider.read_callback = { _, stream, buffer, length, flags, _, data in
            guard let data, let buffer, let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            let rest = peer.bodies[stream] ?? []
            let part = min(length, rest.count)
            for index in 0..<part { buffer[index] = rest[index] }
            peer.bodies[stream] = Array(rest.dropFirst(part))
            if part == rest.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return part
        }
        nghttp2_submit_response(session, stream, pairs, pairs.count, &provider)
    }

    private func setCallbacks(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
            guard let data, let frame else { return 0 }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            let stream = frame.pointee.hd.stream_id
            peer.count += 1
            peer.begun[stream] = SeenRequest(connection: peer.number, number: peer.count, streamID: stream)
            peer.open.insert(stream)
            peer.state.change { $0.widest = max($0.widest, peer.open.count) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, data in
            guard let data, let frame else { return 0 }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            let key = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
            let text = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
            peer.begun[frame.pointee.hd.stream_id]?.headers[key] = text
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, data in
            guard let data else { return 0 }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            peer.begun[stream]?.body += UnsafeBufferPointer(start: bytes, count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
            guard let data, let frame else { return 0 }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            let head = frame.pointee.hd
            if UInt32(head.type) == NGHTTP2_GOAWAY.rawValue {
                let code = frame.pointee.goaway.error_code
                peer.state.change { $0.goodbyes.append(code) }
            }
            if UInt32(head.type) == NGHTTP2_RST_STREAM.rawValue {
                let code = frame.pointee.rst_stream.error_code
                peer.state.change { $0.resets.append(code) }
            }
            if UInt32(head.type) == NGHTTP2_PING.rawValue { peer.state.change { $0.pings += 1 } }
            let isEnd = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            guard isEnd || peer.manner.isHasty, let request = peer.begun[head.stream_id] else { return 0 }
            peer.begun[head.stream_id] = nil
            peer.obey(request)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, data in
            guard let data else { return 0 }
            let peer = Unmanaged<PeerConnection>.fromOpaque(data).takeUnretainedValue()
            peer.open.remove(stream)
            return 0
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    fileprivate static func copy(_ bytes: [UInt8]) -> Self {
        let buffer = Self.allocate(capacity: Swift.max(bytes.count, 1))
        _ = buffer.initialize(from: bytes)
        return Self(rebasing: buffer[0..<bytes.count])
    }
}
