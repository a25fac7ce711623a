// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Glibc

// What libmicrohttpd calls, on the thread that serves the connection. None of it waits. Functions at file scope, because
// Swift makes C function pointers of nothing else.

/// Called before a connection's first request, and when its socket is about to be closed.
func changeConnection(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let owner = unsafe owner, let handle = unsafe connection, let kept = unsafe kept else { return }
    let context = unsafe threadOf(owner).context
    if event == .CONNECTION_NOTIFY_STARTED {
        let socket = unsafe relay_mhd_connection_socket(handle)
        var refusal: PeerRefusal?
        if context.door == .control {
            // At each connection: what is guarded against is a change of the file.
            refusal = ControlAccess.of(file: context.controlFile).refusal(of: PeerCredentials.of(socket))
            if let refusal { context.handler.refused(refusal) }
        }
        let connection = unsafe Connection(
            socket: socket, peer: PeerAddress(relay_mhd_client_address(handle)), refusal: refusal,
            certificates: context.certificates, times: context.times)
        unsafe kept.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
        context.connections.opened(connection)
    } else if let pointer = unsafe kept.pointee {
        unsafe kept.pointee = nil
        let connection = unsafe Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
        context.connections.closed(connection)
    }
}

/// "The return value of this function is the initial value of the request's context" (microhttpd.h,
/// MHD_OPTION_URI_LOG_CALLBACK): the exchange begins here, for only here is the target still encoded.
func logTarget(
    _ owner: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>, _ handle: OpaquePointer
) -> UnsafeMutableRawPointer? {
    guard let pointer = unsafe relay_mhd_connection_context(handle) else { return nil }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(pointer).takeUnretainedValue()
    connection.requestBegan()
    let exchange = unsafe Exchange(connection: connection, target: String(cString: target))
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// The counterpart of `logTarget`: called once for each request whose context was set.
func completeRequest(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let request = unsafe request, let pointer = unsafe request.pointee else { return }
    unsafe request.pointee = nil
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    exchange.connection.requestEnded()
}

/// Called first with the head, then with each piece of the body, then once more without bytes: then the answer is due.
/// After a suspension it is called as it was before.
func handleRequest(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ bytes: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let owner = unsafe owner, let handle = unsafe connection, let method = unsafe method,
        let size = unsafe size, let pointer = unsafe request?.pointee
    else { return .NO }
    let thread = unsafe threadOf(owner)
    let context = thread.context
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let step: Exchange.Step
    if exchange.isNew {
        var head = unsafe RequestHead(
            door: context.door, method: String(cString: method), target: exchange.target,
            headers: headers(of: handle, context.headerNames))
        head.peer = exchange.connection.peer
        head.refusal = exchange.connection.refusal
        head.size = unsafe relay_mhd_head_size(handle)
        step = exchange.begin(head, context.handler, context.work)
    } else if unsafe size.pointee > 0, let bytes = unsafe bytes {
        step = exchange.advance(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: size.pointee)))
    } else {
        step = exchange.advance([])
    }
    switch step {
    case .busy: return .YES
    case .more: break
    case .cut: return .NO
    case .answer(let response):
        exchange.connection.progressed()
        unsafe size.pointee = 0
        return unsafe HTTPAnswer.queue(response, on: handle, exchange.connection, thread)
    case .work(let kind, let job):
        exchange.connection.waits()
        let resumption = unsafe Resumption(handle, thread)
        resumption.suspend()
        context.work[kind].submit {
            job()
            exchange.connection.progressed()
            resumption.resume()
        }
    }
    unsafe size.pointee = 0
    return .YES
}

/// Hands out the certificate of this moment; GnuTLS reads it before this connection's handshake is over.
func retrieveCertificate(
    _ session: OpaquePointer?, _ authorities: UnsafePointer<gnutls_datum_t>?, _ authorityCount: Int32,
    _ algorithms: UnsafePointer<gnutls_pk_algorithm_t>?, _ algorithmCount: Int32,
    _ chain: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?,
    _ count: UnsafeMutablePointer<UInt32>?, _ key: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    guard let session = unsafe session, let handle = unsafe relay_mhd_connection_of_session(session),
        let pointer = unsafe relay_mhd_connection_context(handle),
        let certificates = unsafe Unmanaged<Connection>.fromOpaque(pointer).takeUnretainedValue().certificates
    else { return -1 }
    return unsafe certificates.hand(to: chain, count, key)
}

private func threadOf(_ owner: UnsafeMutableRawPointer) -> ServingThread {
    unsafe Unmanaged<ServingThread>.fromOpaque(owner).takeUnretainedValue()
}

private func headers(of connection: OpaquePointer, _ names: [String]) -> [String: String] {
    var headers: [String: String] = [:]
    for name in names {
        if let value = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name) {
            headers[name] = unsafe String(cString: value)
        }
    }
    return headers
}
