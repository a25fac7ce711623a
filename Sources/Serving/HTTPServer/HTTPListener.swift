// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import RelayEngine
import Signing
import Synchronization
import Threading

/// One listening socket, the threads that accept and serve its connections, and their shared state.
final class HTTPListener: Sendable {
    let socket: Int32
    let door: Door
    let handler: any RequestHandler
    let settings: ServerSettings
    let work = WorkQueues()
    let rules: RequestRules
    let counts: ConnectionCounts
    /// One for each thread.
    let mailboxes: [Mailbox<ServerLoop.Event>]
    /// The control socket's file; nil for the network, and where the socket has none.
    let controlFile: String?
    private let isHanded: Bool
    private let threads = Mutex<[NativeThread]>([])

    /// With a handed socket: the milliseconds in which a request may still arrive on a connection that was accepted a
    /// moment ago. The next server would serve this client at once, so cutting it off would be as bad as refusing it.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameters:
    ///   - tls: nil: plain HTTP.
    ///   - isHanded: systemd keeps a duplicate of the socket, where new connections wait for the next server.
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
        // accept(2), NOTES: a connection that is gone before it is accepted must not block a thread.
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        // Connections inherit the option (tcp(7)), so no answer waits for the acknowledgement of the previous one.
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
        let polled = try PollSet()
        let thread = try NativeThread(name: door == .network ? "api \(index)" : "api \(door)") { [self] in
            ServerLoop(self, index, polled, tls: tls).run()
        }
        threads.withLock { $0.append(thread) }
    }

    /// Sets the TLS settings for later handshakes.
    func exchange(_ tls: ServerTLS) {
        for mailbox in mailboxes { mailbox.post(.certificate(tls)) }
    }

    /// Lets requests that have begun finish within the given time, and closes every connection. Streams must have been asked
    /// to end before, or this waits for them.
    func askToStop(within time: Duration) {
        for mailbox in mailboxes {
            mailbox.post(.stop(grace: isHanded ? Self.grace : 0, patience: time.milliseconds))
        }
    }

    /// Waits until the threads have ended, and closes the socket. Call it once, after `askToStop`.
    func stop() {
        for thread in threads.withLock({ $0 }) { thread.join() }
        close(socket)
    }
}
