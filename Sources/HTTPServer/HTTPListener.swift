// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import RelayEngine
import Signing
import Synchronization
import Threading

/// One listening socket, what its threads have in common, and the threads, which accept and serve there.
final class HTTPListener: Sendable {
    let socket: Int32
    let door: Door
    let handler: any RequestHandler
    let settings: ServerSettings
    let work = WorkQueues()
    let rules: RequestRules
    let counts: ConnectionCounts
    /// Of all threads.
    let mailboxes: [Mailbox<ServerLoop.Event>]
    /// The control socket's file; nil for the network, and where the socket has none.
    let controlFile: String?
    private let isHanded: Bool
    private let threads = Mutex<[NativeThread]>([])

    /// Milliseconds for what was accepted a moment ago to arrive. Whose clients are served again at once by who comes next:
    /// cutting one off would be as bad as refusing it.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameters:
    ///   - tls: nil: plain HTTP.
    ///   - isHanded: somebody else keeps a duplicate, and whoever connects waits there for the next server.
    init(
        socket: Int32, door: Door, _ handler: any RequestHandler, _ settings: ServerSettings,
        tls: ServerTLS? = nil, isHanded: Bool = false
    ) throws {
        let limits = settings.limits
        (self.socket, self.door, self.handler, self.settings) = (socket, door, handler, settings)
        self.isHanded = isHanded
        rules = RequestRules(target: limits.target, head: limits.head, handed: handler.headerNames)
        counts = ConnectionCounts(total: limits.connections, perAddress: limits.connectionsPerAddress)
        controlFile = door == .control ? ListenSocket.path(of: socket) : nil
        mailboxes = try (0..<(door == .network ? max(1, limits.threads) : 1)).map { _ in try Mailbox() }
        // A connection that is gone before it is taken must not block a thread (accept(2), NOTES).
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        // Connections inherit it (tcp(7)); an answer never waits for the client's word on the one before.
        var yes: Int32 = 1
        _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        do {
            for index in mailboxes.indices { try startThread(index, tls) }
        } catch {
            askToStop(within: .zero)
            stop()
            throw error
        }
    }

    private func startThread(_ index: Int, _ tls: ServerTLS?) throws {
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1", errno: errno) }
        let thread = try NativeThread(name: door == .network ? "api \(index)" : "api \(door)") { [self] in
            ServerLoop(self, index, epoll: epoll, tls: tls).run()
        }
        threads.withLock { $0.append(thread) }
    }

    /// What the handshakes to come are done with.
    func exchange(_ tls: ServerTLS) {
        for mailbox in mailboxes { mailbox.post(.certificate(tls)) }
    }

    /// Has what is begun finished within so much time, and every connection closed. What streams must have been told to end, or
    /// it would be waited for.
    func askToStop(within time: Duration) {
        for mailbox in mailboxes {
            mailbox.post(.stop(grace: isHanded ? Self.grace : 0, patience: time.milliseconds))
        }
    }

    /// Once, after `askToStop`; returns when the threads have ended.
    func stop() {
        for thread in threads.withLock({ $0 }) { thread.join() }
        close(socket)
    }
}
