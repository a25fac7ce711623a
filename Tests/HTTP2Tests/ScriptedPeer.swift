// SPDX-License-Identifier: Apache-2.0
import CLinux
import CNGHTTP2
import COpenSSL
import CurlTransport
import Glibc
import Signing

/// What the peer saw of one request.
struct SeenRequest: Sendable {
    /// Connections count from 0 in the order in which they came, requests of a connection from 1.
    let connection: Int
    let number: Int
    let streamID: Int32
    var headers: [String: String] = [:]
    var body: [UInt8] = []
}

/// What the peer does about a request.
enum Step: Sendable {
    case answer(Int, [String: String] = [:], String = "")
    /// The stream stays open until `release`.
    case hold
    case settings(maximumStreams: Int)
    case goAway(lastStreamID: Int32, code: UInt32 = 0, debug: String = "")
    case reset(code: UInt32)
    /// Closes TCP without TLS's or HTTP's farewell.
    case cut
    /// Bytes of our own, as they are.
    case raw([UInt8])
    /// Neither reads nor writes from now on.
    case silence
}

/// A TLS HTTP/2 server on loopback that does as the test says: one thread per connection.
final class ScriptedPeer: Sendable {
    struct State {
        var connections = 0
        var open = 0
        var requests: [SeenRequest] = []
        /// The largest number of streams open at once on any connection.
        var widest = 0
        var goodbyes: [UInt32] = []
        var releases = 0
        var releaseStatus = 200
        var isStopping = false
        var pings = 0
    }

    typealias Script = @Sendable (SeenRequest) -> [Step]

    let port: UInt16
    let state = Watched(State())
    private let listener: Int32
    private let context: ServerContext
    private let thread: NativeThread

    init(
        _ identity: TestIdentity, maximumStreams: Int? = 1000, speaksHTTP2: Bool = true, script: @escaping Script
    ) throws {
        guard let context = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(context, identity.chainPath) == 1,
            SSL_CTX_use_PrivateKey_file(context, identity.keyPath, SSL_FILETYPE_PEM) == 1
        else { throw PeerError("TLS context") }
        if speaksHTTP2 {
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, out, outCount, offered, offeredCount, _ in
                    // RFC 7301: length-prefixed names.
                    guard let offered, offeredCount >= 3, offered[0] == 2, offered[1] == 0x68, offered[2] == 0x32 else {
                        return SSL_TLSEXT_ERR_NOACK
                    }
                    out?.pointee = offered + 1
                    outCount?.pointee = 2
                    return SSL_TLSEXT_ERR_OK
                }, nil)
        }
        self.context = ServerContext(context)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
        }
        guard isBound, listen(listener, 64) == 0 else { throw PeerError("bind") }
        var length = size
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        thread = try NativeThread(name: "peer") { [context = self.context, state] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0, !state.now.isStopping else {
                    if socket >= 0 { close(socket) }
                    return
                }
                let number = state.change { state in
                    state.connections += 1
                    state.open += 1
                    return state.connections - 1
                }
                let connection = PeerConnection(
                    number: number, socket: socket, context: context.pointer, state: state,
                    maximumStreams: maximumStreams, script: script)
                (try? NativeThread(name: "peer \(number)") { connection.run() })?.detach()
            }
        }
    }

    /// Answers every stream that is held, now and once more for each call.
    func release(status: Int = 200) {
        state.change { state in
            state.releases += 1
            state.releaseStatus = status
        }
    }

    /// Ends all connections and waits until they are gone.
    func stop() {
        state.change { $0.isStopping = true }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
        _ = state.wait { $0.open == 0 }
    }
}

/// `@unchecked Sendable`: "SSL_CTX objects may be shared by threads once they are set up" (openssl-threads(7)), and so it is.
private final class ServerContext: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { SSL_CTX_free(pointer) }
}

struct PeerError: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// One connection of the peer, on a thread of its own.
///
/// `@unchecked Sendable`: made by the accepting thread, then used by its own thread alone.
private final class PeerConnection: @unchecked Sendable {
    private let number: Int
    private let socket: Int32
    private let context: OpaquePointer
    private let state: Watched<ScriptedPeer.State>
    private let maximumStreams: Int?
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

    init(
        number: Int, socket: Int32, context: OpaquePointer, state: Watched<ScriptedPeer.State>, maximumStreams: Int?,
        script: @escaping ScriptedPeer.Script
    ) {
        self.number = number
        self.socket = socket
        self.context = context
        self.state = state
        self.maximumStreams = maximumStreams
        self.script = script
        releasesSeen = state.now.releases
    }

    func run() {
        serve()
        nghttp2_session_del(session)
        SSL_free(tls)
        close(socket)
        state.change { $0.open -= 1 }
    }

    private func serve() {
        tls = SSL_new(context)
        SSL_set_fd(tls, socket)
        guard SSL_accept(tls) == 1 else { return }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        setCallbacks(callbacks)
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        submitSettings(maximumStreams)
        write()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isOver, !state.now.isStopping {
            // A short wait stands for a second descriptor: the script's releases come from another thread.
            var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            poll(&wanted, 1, 5)
            if isSilent { continue }
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
            write()
        }
    }

    private func submitSettings(_ maximumStreams: Int?) {
        var entries = [nghttp2_settings_entry]()
        if let maximumStreams {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(maximumStreams))
            )
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
        state.change { $0.requests.append(request) }
        for step in script(request) where !isOver && !isSilent {
            switch step {
            case .answer(let status, let headers, let body): answer(request.streamID, status, headers, body)
            case .hold: held.append(request.streamID)
            case .settings(let maximumStreams): submitSettings(maximumStreams)
            case .goAway(let last, let code, let debug):
                let bytes = Array(debug.utf8)
                nghttp2_submit_goaway(session, 0, last, code, bytes, bytes.count)
            case .reset(let code): nghttp2_submit_rst_stream(session, 0, request.streamID, code)
            case .cut:
                write()
                isOver = true
            case .raw(let bytes):
                write()
                bytes.withUnsafeBytes { put($0) }
            case .silence:
                write()
                isSilent = true
            }
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
            if UInt32(head.type) == NGHTTP2_PING.rawValue { peer.state.change { $0.pings += 1 } }
            guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let request = peer.begun[head.stream_id]
            else { return 0 }
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
