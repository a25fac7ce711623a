// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Threading

/// One listening socket, and the threads that accept and serve there.
final class HTTPListener: Sendable {
    private let socket: Int32
    private let isHanded: Bool
    private let context: ServerLoop.Context
    private let threads: [NativeThread]

    /// Milliseconds for what was accepted a moment ago to arrive. Whose clients are served again at once by who comes next:
    /// cutting one off would be as bad as refusing it.
    private static let grace: Int64 = 250

    /// Takes the socket over and closes it in `stop`.
    ///
    /// - Parameters:
    ///   - certificate: what TLS is spoken with; nil: plain HTTP.
    ///   - isHanded: somebody else keeps a duplicate, and whoever connects waits there for the next server.
    init(
        socket: Int32, door: Door, _ handler: any RequestHandler, _ settings: ServerSettings, _ work: WorkQueues,
        certificate: CurrentTLS? = nil, isHanded: Bool = false
    ) throws {
        self.socket = socket
        self.isHanded = isHanded
        // A connection that is gone before it is taken must not block a thread (accept(2), NOTES).
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        // Connections inherit it (tcp(7)); an answer never waits for the client's word on the one before.
        var yes: Int32 = 1
        _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let count = door == .control ? 1 : max(1, settings.limits.threads)
        var threads: [NativeThread] = []
        do {
            context = ServerLoop.Context(
                handler, settings, door: door, work: work,
                controlFile: door == .control ? ListenSocket.path(of: socket) : nil, certificate: certificate,
                mailboxes: try (0..<count).map { _ in try Mailbox() })
            for index in 0..<count { threads.append(try Self.thread(index, context, socket)) }
        } catch {
            // Those that were started end when they are told to, and nobody waits for them.
            close(socket)
            throw error
        }
        self.threads = threads
    }

    private static func thread(_ index: Int, _ context: ServerLoop.Context, _ socket: Int32) throws -> NativeThread {
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else {
            throw ServerStartError(.failed, "epoll_create1 failed: \(SystemError.text(errno))")
        }
        return try NativeThread(name: context.door == .control ? "api control" : "api \(index)") {
            ServerLoop(context, index, listening: socket, epoll: epoll).run()
        }
    }

    /// Once. Finishes what is begun, closes every connection, and returns when the threads have ended. What streams must have
    /// been told to end, or it would be waited for.
    func stop() {
        for mailbox in context.mailboxes { mailbox.post(.stop(grace: isHanded ? Self.grace : 0)) }
        for thread in threads { thread.join() }
        close(socket)
    }
}
