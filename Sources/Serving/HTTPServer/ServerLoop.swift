// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Signing
import Telemetry
import Threading

/// One serving thread: it accepts, reads and writes, and waits only in epoll. One epoll set, level-triggered.
@safe
final class ServerLoop {
    enum Event: Sendable {
        /// A connection that another thread has no room for; `more` is the number of threads that may still be asked.
        case connection(Int32, PeerAddress, more: Int)
        case finished(UInt64, WorkResult)
        /// The TLS settings for later handshakes.
        case certificate(ServerTLS)
        /// Take no new connections. In milliseconds: `grace` for requests that may still be on their way, `patience` for
        /// requests that have begun.
        case stop(grace: Int64, patience: Int64)
    }

    let listener: HTTPListener
    /// Holds the bytes of one read until they are parsed.
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Bytes to send on the connection that is being served.
    var out: [UInt8] = []
    private(set) var date: [UInt8] = []
    let polled: PollSet
    /// Its place among the listener's threads.
    private let index: Int
    private var mailbox: Mailbox<Event> { listener.mailboxes[index] }
    private let poller: Poller
    private var table: ConnectionTable
    private var tls: ServerTLS?
    /// By seat.
    private var connections: [Connection?] = []
    private var nextNumber: UInt64 = 0
    /// Streams that had nothing to send, and when each is asked again.
    private var later: [(due: Int64, token: UInt64)] = []
    private var now = MonotonicClock.milliseconds()
    private var second: time_t = 0
    private var lastTick: Int64 = 0
    private var lastReport = Int64.min / 2
    private var acceptPace = LogPace()
    /// Whether the listening socket is not watched, because the system has no descriptor or no memory for a connection.
    private var isResting = false
    /// When connections without a request are closed, and when all are; nil: the loop is not stopping.
    private var end: (begun: Int64, all: Int64)?
    private var peak = 0
    private var lastTrim = Int64.min / 2

    private static let listenToken = UInt64.max
    private static let mailToken = UInt64.max - 1
    private static let capacity = 512
    /// Milliseconds between two checks for timeouts and other due work.
    private static let tick: Int64 = 100
    /// The same interval while a stream waits to be asked again.
    private static let shortTick: Int64 = 20
    private static let reportInterval: Int64 = 10_000
    /// The number of connections that counts as a burst. Memory is given back when three quarters of a burst have gone.
    private static let burst = 1000
    private static let trimInterval: Int64 = 10_000

    init(_ listener: HTTPListener, _ index: Int, _ polled: PollSet, tls: ServerTLS?) {
        let limits = listener.settings.limits
        (self.listener, self.index, self.polled, self.tls) = (listener, index, polled, tls)
        poller = Poller(polled, capacity: Self.capacity)
        table = ConnectionTable(listener.counts, .init(idle: limits.idleTime, request: limits.requestTime))
    }

    /// Returns after a stop, when every connection has ended.
    func run() {
        polled.add(mailbox.descriptor, token: Self.mailToken)
        listen()
        while end == nil || table.count > 0 {
            let count = poller.wait(milliseconds: timeout)
            now = MonotonicClock.milliseconds()
            let wall = time(nil)
            if wall != second { (second, date) = (wall, ResponseHead.date(wall)) }
            for index in 0..<count {
                let event = poller.event(index)
                switch event.token {
                case Self.listenToken: accept()
                case Self.mailToken: for event in mailbox.take() { take(event) }
                default: connection(event.token)?.ready(event)
                }
            }
            wakeSources()
            if now - lastTick >= Self.tick || isStopping { doWhatIsDue() }
        }
        for case .connection(let socket, _, _) in mailbox.close() { close(socket) }
    }

    // MARK: For connections

    func submit(_ job: @escaping @Sendable () -> WorkResult, _ kind: WorkKind, for token: UInt64) {
        listener.work[kind].submit { [mailbox] in
            let result = job()
            mailbox.post(.finished(token, result))
        }
    }

    func wake(_ token: UInt64, after milliseconds: Int64) {
        later.append((isStopping ? now : now + milliseconds, token))
    }

    var isStopping: Bool { end != nil }

    func set(_ token: UInt64, _ phase: ConnectionTable.Phase, isRenewed: Bool) {
        table.set(Self.place(token), phase, isRenewed: isRenewed, now: now)
        if phase == .greeting, let place = table.onceTooMany(beside: Self.place(token)) { connections[place]?.close() }
    }

    func remove(_ token: UInt64, isSeated: Bool) {
        connections[Self.place(token)] = nil
        if isSeated { table.leave(Self.place(token)) }
    }

    /// Returns the seat, which is the token's lower half. The upper half distinguishes successive connections on one seat.
    private static func place(_ token: UInt64) -> Int { Int(token & 0xFFFF_FFFF) }

    private func connection(_ token: UInt64) -> Connection? {
        let connection = connections[Self.place(token)]
        return connection?.token == token ? connection : nil
    }

    // MARK: Accepting

    /// Watches the listening socket exclusively: a new connection does not wake all threads.
    private func listen() {
        polled.add(listener.socket, token: Self.listenToken, [.reading, .exclusive])
    }

    private func accept() {
        var storage = sockaddr_storage()
        unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // Limited, so that the accepted connections are served in between.
                for _ in 0..<Self.capacity {
                    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    let socket = unsafe relay_accept_nonblocking(listener.socket, address, &length)
                    if socket >= 0 {
                        unsafe admit(socket, PeerAddress(address), more: listener.mailboxes.count - 1)
                        continue
                    }
                    switch errno {
                    case EAGAIN: return
                    // "Already-pending network errors on the new socket": the next connection may be good (accept(2)).
                    case EINTR, ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, EOPNOTSUPP, ENETDOWN, ENETUNREACH, ENONET,
                        EHOSTDOWN, EHOSTUNREACH:
                        continue
                    default: return rest(errno)
                    }
                }
            }
        }
    }

    /// Pauses accepting: epoll still reports the connection that could not be accepted, so without a pause this would spin.
    private func rest(_ code: Int32) {
        polled.remove(listener.socket)
        isResting = true
        guard let suppressed = acceptPace.next(at: now) else { return }
        listener.settings.log(
            .error, "cannot take connections",
            [("door", listener.door.name), ("error", SystemError.text(code)), ("suppressed", String(suppressed))])
    }

    /// - Parameter more: the number of other threads to try, as their connections may give way too.
    private func admit(_ socket: Int32, _ peer: PeerAddress, more: Int) {
        let (place, leaving) = table.enter(peer, now: now)
        for place in leaving { connections[place]?.close(isSeated: false) }
        guard let place else {
            let next = listener.mailboxes[(index + 1) % listener.mailboxes.count]
            if more > 0, next.post(.connection(socket, peer, more: more - 1)) { return }
            table.figures.refused += 1
            close(socket)
            return
        }
        var refusal: PeerRefusal?
        var user: UInt32?
        if listener.door == .control {
            // Checked at each connection, because it guards against a change of the file.
            let credentials = PeerCredentials.of(socket)
            user = credentials?.user
            refusal = ControlAccess.of(file: listener.controlFile).refusal(of: credentials)
            if let refusal { listener.handler.refused(refusal) }
        }
        let token = nextNumber << 32 | UInt64(place)
        nextNumber = (nextNumber + 1) & 0x7FFF_FFFF
        peak = max(peak, table.count)
        if place == connections.count { connections.append(nil) }
        connections[place] = Connection(
            token: token, socket: socket, peer: peer, refusal: refusal, user: user,
            tls: tls, loop: self)
        polled.add(socket, token: token)
    }

    // MARK: Due work

    /// Milliseconds to wait for events; -1: no work can become due without one.
    private var timeout: Int32 {
        if !later.isEmpty { return Int32(Self.shortTick) }
        return table.count > 0 || isResting || isStopping || isBurstOver || table.figures != .init()
            ? Int32(Self.tick) : -1
    }

    private func take(_ event: Event) {
        switch event {
        case .connection(let socket, let peer, let more):
            if isStopping { close(socket) } else { admit(socket, peer, more: more) }
        case .finished(let token, let result):
            connection(token)?.finished(result)
        case .certificate(let tls):
            self.tls = tls
        case .stop(let grace, let patience):
            polled.remove(listener.socket)
            isResting = false
            end = (now + grace, now + patience)
            for index in later.indices { later[index].due = now }
        }
    }

    private func wakeSources() {
        guard later.contains(where: { $0.due <= now }) else { return }
        let due = later.filter { $0.due <= now }
        later.removeAll { $0.due <= now }
        for (_, token) in due { connection(token)?.wake() }
    }

    private func doWhatIsDue() {
        lastTick = now
        if isResting {
            isResting = false
            listen()
        }
        for place in table.overdue(now: now) { connections[place]?.timeOut() }
        report()
        giveMemoryBack()
        goOnStopping()
    }

    private func report() {
        guard table.figures != .init(), now - lastReport >= Self.reportInterval else { return }
        lastReport = now
        let figures = table.takeFigures()
        listener.settings.log(
            .warning, "connections were cut off",
            [
                ("door", listener.door.name), ("tooSlow", String(figures.overdue)),
                ("toMakeRoom", String(figures.evicted)), ("noRoom", String(figures.refused)),
                ("open", String(table.count)),
            ])
    }

    private var isBurstOver: Bool { peak >= Self.burst && table.count < peak / 4 }

    /// Gives the memory of a burst back to the system: the C library keeps freed memory until malloc_trim(3), which walks
    /// through the whole heap. So another thread calls it.
    private func giveMemoryBack() {
        guard isBurstOver, now - lastTrim >= Self.trimInterval else { return }
        (peak, lastTrim) = (table.count, now)
        listener.work[.reads].submit { malloc_trim(0) }
    }

    private func goOnStopping() {
        guard let end, now >= end.begun else { return }
        for connection in connections { connection?.leave() }
        guard now >= end.all, table.count > 0 else { return }
        listener.settings.log(.warning, "connections are cut off: their requests are not finished in time")
        for connection in connections { connection?.close() }
    }
}
