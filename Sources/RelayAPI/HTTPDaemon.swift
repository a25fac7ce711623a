// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Glibc
import VersionSources

/// The one wrapper of libmicrohttpd 0.9.75: one listening socket, a thread for each connection.
@safe
final class HTTPDaemon {
    /// What the callbacks know. Every connection's thread may use it.
    fileprivate final class Context: Sendable {
        let api: API
        let door: Door
        let connections: OpenConnections

        init(api: API, door: Door) throws(APIStartError) {
            self.api = api
            self.door = door
            connections = try OpenConnections()
        }
    }

    private let context: Context
    private var daemon: OpaquePointer?
    private let isHanded: Bool

    /// Milliseconds that requests on a handed socket get at the end, twice.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameter isHanded: somebody else keeps a duplicate, and whoever connects waits there for the next server.
    init(socket: Int32, door: Door, api: API, isHanded: Bool = false) throws(APIStartError) {
        self.isHanded = isHanded
        context = try Context(api: api, door: door)
        // Not retained: `self` keeps the context, and `stop` joins every thread before `self` goes.
        let owner = unsafe Unmanaged.passUnretained(context).toOpaque()
        let limits = api.settings.limits
        unsafe daemon = unsafe relay_mhd_start(
            socket, handleRequest, logTarget, completeRequest, changeConnection, owner, limits.connections,
            limits.idleSeconds)
        guard unsafe daemon != nil else {
            throw APIStartError(.failed, "libmicrohttpd could not start its threads")
        }
    }

    deinit {
        stop()
    }

    /// Closes every connection and returns when its threads have ended. `API.stop` must be set before, or event streams
    /// would be waited for.
    ///
    /// 0.9.75 must not find a connection when it is told to stop: while it stops, `MHD_queue_response` says yes and does
    /// nothing, and a thread that is about to refuse a malformed request then reads the response that is not there
    /// (`build_header_response`). So the listening ends first and the connections are closed here.
    func stop() {
        guard let running = unsafe daemon else { return }
        // "The caller must close the returned socket" (microhttpd.h).
        let listening = unsafe MHD_quiesce_daemon(running)
        if isHanded { context.connections.letFinish(grace: Self.grace) }
        context.connections.closeAll(patience: 10_000)
        unsafe MHD_stop_daemon(running)
        unsafe daemon = nil
        if listening >= 0 { close(listening) }
    }
}

/// The headers that the API reads, in lower case.
private let headerNames = ["authorization", "content-length", "expect", "if-none-match"] + WebhookHeaders.all

// MARK: Callbacks, on the connection's thread

/// Called before a connection's first request, and when its socket is about to be closed.
private func changeConnection(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let owner = unsafe owner, let connection = unsafe connection else { return }
    let connections = unsafe Unmanaged<HTTPDaemon.Context>.fromOpaque(owner).takeUnretainedValue().connections
    let socket = unsafe relay_mhd_connection_socket(connection)
    if event == .CONNECTION_NOTIFY_STARTED { connections.opened(socket) } else { connections.closed(socket) }
}

/// "The return value of this function is the initial value of the request's context" (microhttpd.h,
/// MHD_OPTION_URI_LOG_CALLBACK): the exchange begins here, for only here is the target still encoded.
private func logTarget(
    _ owner: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>, _ connection: OpaquePointer
) -> UnsafeMutableRawPointer? {
    let exchange = unsafe Exchange(target: String(cString: target))
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// The counterpart of `logTarget`: called once for each request whose context was set.
private func completeRequest(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let request = unsafe request, let exchange = unsafe request.pointee else { return }
    unsafe request.pointee = nil
    unsafe Unmanaged<Exchange>.fromOpaque(exchange).release()
}

/// Called first with the head, then with each piece of the body, then once more without bytes: then the answer is due.
private func handleRequest(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ bytes: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let owner = unsafe owner, let connection = unsafe connection, let method = unsafe method,
        let size = unsafe size, let pointer = unsafe request?.pointee
    else { return .NO }
    let context = unsafe Unmanaged<HTTPDaemon.Context>.fromOpaque(owner).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let step: Exchange.Step
    if exchange.isNew {
        let head = unsafe RequestHead(
            door: context.door, method: String(cString: method), target: exchange.target,
            headers: headers(of: connection))
        step = exchange.begin(head, context.api)
    } else if unsafe size.pointee > 0, let bytes = unsafe bytes {
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size.pointee)
        step = unsafe exchange.receive(Array(piece))
        unsafe size.pointee = 0
    } else {
        step = exchange.end()
    }
    switch step {
    case .more: return .YES
    case .cut: return .NO
    case .answer(let response): return unsafe send(response, to: connection)
    }
}

private func headers(of connection: OpaquePointer) -> [String: String] {
    var headers: [String: String] = [:]
    for name in headerNames {
        if let value = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name) {
            headers[name] = unsafe String(cString: value)
        }
    }
    return headers
}

// MARK: Answers

private func send(_ response: Response, to connection: OpaquePointer) -> MHD_Result {
    let made: OpaquePointer?
    switch response.body {
    case .bytes(let bytes):
        unsafe made = unsafe bytes.withUnsafeBytes { buffer in
            // The library only reads it; MUST_COPY: "the buffer is copied" before the call returns.
            unsafe MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
        }
    case .stream(let source):
        let body = unsafe Unmanaged.passRetained(StreamBody(source)).toOpaque()
        // The size is unknown: chunked (MHD_SIZE_UNKNOWN).
        unsafe made = unsafe MHD_create_response_from_callback(UInt64.max, 32 * 1024, readBody, body, freeBody)
        if unsafe made == nil { unsafe Unmanaged<StreamBody>.fromOpaque(body).release() }
    }
    guard let made = unsafe made else { return .NO }
    // Counted by the library: it goes when the connection has sent it too.
    defer { unsafe MHD_destroy_response(made) }
    for header in response.headers {
        // Refused only for a line break in it, and then left out: header injection ends here.
        _ = unsafe MHD_add_response_header(made, header.name, header.value)
    }
    return unsafe MHD_queue_response(connection, UInt32(response.status), made)
}

/// A source and what of its last piece did not fit.
private final class StreamBody {
    private let source: any ByteSource
    private var piece: [UInt8] = []
    private var sent = 0

    init(_ source: any ByteSource) {
        self.source = source
    }

    /// The number of bytes written, or one of MHD_CONTENT_READER_END_OF_STREAM (-1) and _END_WITH_ERROR (-2). Never 0,
    /// which the library would answer by asking again at once.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if sent == piece.count {
            do {
                guard let next = try source.next() else { return -1 }
                (piece, sent) = (next, 0)
            } catch {
                return -2
            }
        }
        let count = min(buffer.count, piece.count - sent)
        unsafe buffer.copyBytes(from: piece[sent..<sent + count])
        sent += count
        return count
    }
}

private func readBody(
    _ body: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let body = unsafe body, let buffer = unsafe buffer else { return -2 }
    let stream = unsafe Unmanaged<StreamBody>.fromOpaque(body).takeUnretainedValue()
    return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private func freeBody(_ body: UnsafeMutableRawPointer?) {
    guard let body = unsafe body else { return }
    unsafe Unmanaged<StreamBody>.fromOpaque(body).release()
}
