// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Glibc
import RelayEngine

/// The one wrapper of libmicrohttpd 0.9.75: one listening socket, and a few threads with an epoll set each.
///
/// What may wait is done by the `WorkQueue` while its connection is suspended; what is answered from memory is answered on
/// the spot. A sweeper holds every connection to its deadlines.
@safe
final class HTTPDaemon {
    /// What the callbacks know. Every thread may use it.
    final class Context: Sendable {
        let api: API
        let door: Door
        let connections: Connections
        let work: WorkQueue
        let access: ControlAccess?
        let certificates: TLSCertificates?
        let times: ConnectionTimes

        init(
            api: API, door: Door, work: WorkQueue, access: ControlAccess?, certificates: TLSCertificates?
        ) throws(APIStartError) {
            self.api = api
            self.door = door
            self.work = work
            self.access = access
            self.certificates = certificates
            let limits = api.settings.limits
            times = ConnectionTimes(idle: limits.idleTime, request: limits.requestTime)
            connections = try Connections(
                Connections.Limits(total: limits.connections, perAddress: limits.connectionsPerAddress))
        }
    }

    /// TLS 1.2 with forward secrecy and authenticated ciphers, and 1.3: what RFC 9325 (BCP 195), section 4.2, recommends.
    private static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:"
        + "+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"

    private let context: Context
    private let sweeper: Sweeper
    private var daemon: OpaquePointer?
    private let isHanded: Bool

    /// Milliseconds that requests on a handed socket get at the end, twice.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameters:
    ///   - access: whom a control socket lets in.
    ///   - certificates: what TLS is spoken with; nil: plain HTTP.
    ///   - isHanded: somebody else keeps a duplicate, and whoever connects waits there for the next server.
    init(
        socket: Int32, door: Door, api: API, work: WorkQueue, access: ControlAccess? = nil,
        certificates: TLSCertificates? = nil, isHanded: Bool = false
    ) throws(APIStartError) {
        self.isHanded = isHanded
        context = try Context(api: api, door: door, work: work, access: access, certificates: certificates)
        sweeper = try Sweeper(context.connections, log: api.settings.log, door: door)
        // Not retained: `self` keeps the context, and `stop` joins every thread before `self` goes.
        let owner = unsafe Unmanaged.passUnretained(context).toOpaque()
        let limits = api.settings.limits
        // The library's own limit leaves room for those that were told to end and have not closed yet.
        let most = UInt32(clamping: limits.connections + limits.connections / 8 + 64)
        unsafe daemon = unsafe relay_mhd_start(
            socket, door == .control ? 1 : UInt32(limits.threads), admitConnection, handleRequest,
            logTarget, completeRequest, changeConnection, owner, most,
            certificates == nil ? nil : retrieveCertificate, Self.priorities)
        guard unsafe daemon != nil else {
            throw APIStartError(.failed, "libmicrohttpd could not start its threads")
        }
        sweeper.start()
    }

    deinit {
        stop()
    }

    /// Closes every connection and returns when its threads have ended. `API.stop` must be set before, or event streams
    /// would be waited for.
    ///
    /// 0.9.75 must not find a connection when it is told to stop: while it stops, `MHD_queue_response` says yes and does
    /// nothing, and a thread that is about to refuse a malformed request then reads the response that is not there
    /// (`build_header_response`); a suspended connection makes it abort (`close_all_connections`). So the listening ends
    /// first and the connections are closed here. Where the store keeps one waiting for longer, the library is left as it
    /// is: the process is about to end.
    func stop() {
        guard let running = unsafe daemon else { return }
        unsafe daemon = nil
        // "The caller must close the returned socket" (microhttpd.h).
        let listening = unsafe MHD_quiesce_daemon(running)
        if isHanded { context.connections.letFinish(grace: Self.grace) }
        if context.connections.closeAll(patience: 10_000) {
            unsafe MHD_stop_daemon(running)
        } else {
            context.api.settings.log(.warning, "connections are left open: the store does not answer")
            _ = unsafe Unmanaged.passRetained(context)
        }
        sweeper.stop()
        if listening >= 0 { close(listening) }
    }
}
