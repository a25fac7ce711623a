// SPDX-License-Identifier: Apache-2.0
import CLinux
import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization
import Threading

/// A thread that serves connections, with a daemon of libmicrohttpd that has no thread of its own ("external" polling,
/// microhttpd.h). Nobody else calls the library for them: what others want is left in the inbox.
///
/// With a thread of its own, 0.9.75 takes 128 events at a time from its epoll set, and where it gets exactly so many it asks
/// again, with the same limit of time, before it looks at any (daemon.c, `MHD_epoll`). Without a limit those 128 clients wait
/// until something else happens. `MHD_run` asks without waiting: the waiting is done here.
final class ServingThread: Sendable {
    private struct Inbox {
        var newcomers: [Newcomer] = []
        var resumed: [Resumption] = []
        var isOver = false

        var isEmpty: Bool { newcomers.isEmpty && resumed.isEmpty && !isOver }

        mutating func clear() {
            newcomers.removeAll(keepingCapacity: true)
            resumed.removeAll(keepingCapacity: true)
        }
    }

    private struct Newcomer {
        var descriptor: Int32
        var address: sockaddr_storage
        var length: socklen_t
    }

    let context: HTTPDaemon.Context
    private let inbox = Mutex(Inbox())
    /// An eventfd: readable where something was put into the empty inbox.
    private let bell: Int32
    private let ended = DispatchSemaphore(value: 0)

    init(_ context: HTTPDaemon.Context) throws(ServerStartError) {
        self.context = context
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard bell >= 0 else { throw ServerStartError(.failed, "eventfd failed: \(SystemError.text(errno))") }
    }

    deinit {
        close(bell)
    }

    /// - Parameter limit: connections at a time.
    func start(limit: UInt32) throws(ServerStartError) {
        // Not retained: the thread holds itself until the library has been stopped.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        let daemon = unsafe relay_mhd_start(
            handleRequest, logTarget, completeRequest, changeConnection, owner, limit,
            context.certificates == nil ? nil : retrieveCertificate, Self.priorities)
        guard let daemon = unsafe daemon else { throw ServerStartError(.failed, "libmicrohttpd could not be started") }
        nonisolated(unsafe) let own = unsafe daemon
        DispatchQueue(label: "serving").async { [self] in
            unsafe serve(own)
            ended.signal()
        }
    }

    /// TLS 1.2 with forward secrecy and authenticated ciphers, and 1.3: what RFC 9325 (BCP 195), section 4.2, recommends.
    private static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:"
        + "+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"

    // MARK: From any thread

    /// A connection to serve; its descriptor is the thread's from now on. `Connections.arrived` is told when it is served, or
    /// has turned out not to be.
    @unsafe
    func take(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        var newcomer = Newcomer(descriptor: descriptor, address: sockaddr_storage(), length: length)
        unsafe withUnsafeMutableBytes(of: &newcomer.address) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min(Int(length), bytes.count)))
        }
        post { $0.newcomers.append(newcomer) }
    }

    /// A suspended connection goes on.
    func resume(_ resumption: Resumption) {
        post { $0.resumed.append(resumption) }
    }

    /// After `start`, and when there is no connection any more. Returns when the thread has ended.
    func stop() {
        post { $0.isOver = true }
        ended.wait()
    }

    private func post(_ change: (inout Inbox) -> Void) {
        let wasEmpty = inbox.withLock { inbox in
            defer { change(&inbox) }
            return inbox.isEmpty
        }
        // Whoever finds something in it need not ring: it is taken together with that.
        if wasEmpty { _ = eventfd_write(bell, 1) }
    }

    // MARK: On the thread

    @unsafe
    private func serve(_ daemon: OpaquePointer) {
        let events = unsafe relay_mhd_events(daemon)
        var letters = Inbox()
        while !letters.isOver {
            // Something is left to be done at once, such as what TLS has decrypted already; or nothing is, for all time-outs
            // are the relay's own.
            var milliseconds: UInt64 = 0
            let isBusy = unsafe MHD_get_timeout(daemon, &milliseconds) == .YES
            if wait(for: events, forever: !isBusy) { empty(into: &letters) }
            for resumption in letters.resumed { resumption.finish() }
            for newcomer in letters.newcomers { unsafe add(newcomer, to: daemon) }
            letters.clear()
            _ = unsafe MHD_run(daemon)
        }
        unsafe MHD_stop_daemon(daemon)
    }

    /// - Returns: whether the bell rang.
    private func wait(for events: Int32, forever: Bool) -> Bool {
        var polls = (
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0), pollfd(fd: events, events: Int16(POLLIN), revents: 0)
        )
        unsafe withUnsafeMutableBytes(of: &polls) { bytes in
            _ = unsafe poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, forever ? -1 : 0)
        }
        return polls.0.revents != 0
    }

    /// - Parameter letters: an empty inbox, whose room is used again.
    private func empty(into letters: inout Inbox) {
        var rings: eventfd_t = 0
        // Before the inbox: who rings in between finds it empty later and is heard.
        _ = unsafe eventfd_read(bell, &rings)
        inbox.withLock { swap(&$0, &letters) }
    }

    /// Whatever comes of it, the descriptor is the library's (microhttpd.h, `MHD_add_connection`).
    @unsafe
    private func add(_ newcomer: Newcomer, to daemon: OpaquePointer) {
        var address = newcomer.address
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe MHD_add_connection(daemon, newcomer.descriptor, address, newcomer.length)
            }
        }
        context.connections.arrived()
    }
}

/// A connection that is suspended by its own thread, and resumed once and from any.
///
/// `@unchecked Sendable`: only `suspend` and `finish` touch the connection, on its thread; a suspended one is not freed
/// (daemon.c, `close_all_connections`).
@safe
struct Resumption: @unchecked Sendable {
    private let connection: OpaquePointer
    private let thread: ServingThread

    @unsafe init(_ connection: OpaquePointer, _ thread: ServingThread) {
        unsafe self.connection = connection
        self.thread = thread
    }

    /// On the connection's thread.
    func suspend() {
        unsafe MHD_suspend_connection(connection)
    }

    func resume() {
        thread.resume(self)
    }

    /// On the connection's thread.
    fileprivate func finish() {
        unsafe MHD_resume_connection(connection)
    }
}
