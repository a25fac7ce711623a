// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import Telemetry

/// One listening socket: a thread that accepts, and a few that serve, with libmicrohttpd 0.9.75 and an epoll set each.
///
/// What may wait is done by the `WorkQueues` while its connection is suspended; what is answered from memory is answered on
/// the spot. A sweeper holds every connection to its deadlines.
@safe
final class HTTPDaemon {
    /// What the callbacks know. Every thread may use it.
    final class Context: Sendable {
        let handler: any RequestHandler
        let headerNames: [String]
        let log: Log
        let door: Door
        let connections: Connections
        let work: WorkQueues
        /// The control socket's file; nil for the network, and where the socket has none.
        let controlFile: String?
        let certificates: TLSCertificates?
        let times: ConnectionTimes

        init(
            _ handler: any RequestHandler, _ settings: ServerSettings, door: Door, work: WorkQueues,
            controlFile: String?, certificates: TLSCertificates?
        ) throws(ServerStartError) {
            self.handler = handler
            headerNames = ["content-length", "expect"] + handler.headerNames
            log = settings.log
            self.door = door
            self.work = work
            self.controlFile = controlFile
            self.certificates = certificates
            let limits = settings.limits
            times = ConnectionTimes(idle: limits.idleTime, request: limits.requestTime)
            connections = try Connections(
                Connections.Limits(total: limits.connections, perAddress: limits.connectionsPerAddress))
        }
    }

    private let context: Context
    private let sweeper: Sweeper
    private let socket: Int32
    private let isHanded: Bool
    private let acceptor: Acceptor
    private let threads: ServingThreads
    private var isRunning = true

    /// Milliseconds that requests on a handed socket get at the end, twice.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameters:
    ///   - certificates: what TLS is spoken with; nil: plain HTTP.
    ///   - isHanded: somebody else keeps a duplicate, and whoever connects waits there for the next server.
    init(
        socket: Int32, door: Door, _ handler: any RequestHandler, _ settings: ServerSettings, _ work: WorkQueues,
        certificates: TLSCertificates? = nil, isHanded: Bool = false
    ) throws(ServerStartError) {
        self.socket = socket
        self.isHanded = isHanded
        context = try Context(
            handler, settings, door: door, work: work,
            controlFile: door == .control ? ListenSocket.path(of: socket) : nil, certificates: certificates)
        sweeper = try Sweeper(context.connections, log: settings.log, door: door)
        acceptor = try Acceptor(socket, door: door, log: settings.log)
        let limits = settings.limits
        // The library's own limit leaves room for those that were told to end and have not closed yet.
        threads = try ServingThreads(
            door == .control ? 1 : max(1, limits.threads),
            limit: UInt32(clamping: limits.connections + limits.connections / 8 + 64), context: context)
        sweeper.start()
        unsafe acceptor.start { [threads, connections = context.connections] descriptor, address, length in
            connections.expect()
            unsafe threads.take(descriptor, address, length)
        }
    }

    deinit {
        stop()
    }

    /// Closes every connection and returns when its threads have ended. What streams must have been told to end, or it
    /// would be waited for.
    ///
    /// 0.9.75 must not find a suspended connection when it is told to stop: it aborts (`close_all_connections`). So the
    /// accepting ends first, then the connections are closed here, and then the threads end. Where the store keeps one
    /// connection waiting for longer, the threads are left as they are: the process is about to end.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        acceptor.stop()
        if isHanded { context.connections.letFinish(grace: Self.grace) }
        if context.connections.closeAll(patience: 10_000) {
            threads.stop()
        } else {
            context.log(.warning, "connections are left open: the store does not answer")
        }
        sweeper.stop()
        close(socket)
    }
}
