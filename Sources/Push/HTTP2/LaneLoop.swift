// SPDX-License-Identifier: Apache-2.0
import CLinux
import CurlTransport
import Glibc
import RelayEngine
import Telemetry
import Threading

/// The lane's thread: waits for sockets and commands, lets the machines decide, and carries that out.
@safe
final class LaneLoop {
    private let inbox: LaneInbox
    private let board: LaneBoard
    private let pulse: Pulse
    private let mayBegin: @Sendable () -> Bool
    private let turn = TurnState()
    private let poller: Poller
    private let buffer: UnsafeMutableRawBufferPointer
    /// In the order of their numbers, without pools that were removed and are over.
    private var pools: [Pool] = []
    private var poolsByID: [PoolID: Pool] = [:]
    private var connections: [UInt64: HTTP2Connection] = [:]
    private var lastToken: UInt64 = 0
    private var nextTick: MonotonicTime
    private var stopAt: MonotonicTime?
    private var shownFigures = LaneFigures()

    private static let tick: Duration = .milliseconds(250)
    /// The number of freed bytes that make malloc_trim(3) worth its time, which is some milliseconds.
    private static let worthATrim = 1 << 20

    init(inbox: LaneInbox, board: LaneBoard, pulse: Pulse, mayBegin: @escaping @Sendable () -> Bool) {
        self.inbox = inbox
        self.mayBegin = mayBegin
        self.pulse = pulse
        self.board = board
        poller = Poller(inbox.polled)
        unsafe buffer = .allocate(byteCount: 65536, alignment: 16)
        nextTick = MonotonicClock.now() + Self.tick
    }

    deinit { unsafe buffer.deallocate() }

    func run() {
        while true {
            pulse.rest()
            let ready = poller.wait(milliseconds: patience())
            pulse.beat()
            let now = MonotonicClock.now()
            for index in 0..<ready {
                let event = poller.event(index)
                if event.token == LaneInbox.token {
                    for command in inbox.mailbox.take() { obey(command, at: now) }
                } else if event.isReadable, let connection = connections[event.token] {
                    unsafe connection.receive(into: buffer, at: now)
                }
            }
            for connection in connections.values where connection.hasMoreToRead {
                unsafe connection.receive(into: buffer, at: now)
            }
            if now >= nextTick {
                for connection in connections.values { connection.tick(at: now) }
                nextTick = now + Self.tick
            }
            turn.sentAt = MonotonicClock.now()
            let mayBegin = mayBegin()
            for pool in pools {
                if !mayBegin { pool.withdraw() }
                serve(pool, at: now)
            }
            forgetPools()
            report()
            if let stopAt, connections.isEmpty || now >= stopAt {
                end()
                pulse.rest()
                return
            }
        }
    }

    /// Milliseconds until something can happen that no socket announces.
    private func patience() -> Int32 {
        let now = MonotonicClock.now()
        var wait: Duration = .seconds(30)
        for pool in pools {
            if pool.queued > 0 { wait = min(wait, nextTick - now) }
            for connection in pool.connections {
                if connection.hasMoreToRead { return 0 }
                let isBusy = connection.machine.inFlight > 0 || connection.machine.isPinging
                wait = min(wait, isBusy ? nextTick - now : pool.configuration.connection.idlePing)
            }
        }
        if let stopAt { wait = min(wait, stopAt - now) }
        // Rounded up: a wait that is cut short would only be repeated.
        return Int32(clamping: wait.milliseconds + 1)
    }

    // MARK: Commands

    private func obey(_ command: LaneInbox.Command, at now: MonotonicTime) {
        switch command {
        case .addPool(let id, let configuration, let judge):
            let pool = Pool(id: id, configuration: configuration, judge: judge, turn: turn)
            pools.append(pool)
            poolsByID[id] = pool
            if stopAt != nil { pool.close() }
        case .submit(let batch, let id):
            // The pool was added by an earlier command, since PoolIDs come from addPool alone; or it is over.
            if let pool = poolsByID[id] { pool.enqueue(batch, at: now) } else { id.handBack(batch) }
        case .withdraw(let id):
            poolsByID[id]?.withdraw()
        case .removePool(let id):
            poolsByID[id]?.close()
        case .dialled(let id, .success(let dialed)):
            if let pool = poolsByID[id] { connect(pool, dialed, at: now) }
        case .dialled(let id, .failure(let error)):
            if let pool = poolsByID[id] { dialFailed(pool, error.description, at: now) }
        case .stop(let duration):
            let end = now + duration
            stopAt = stopAt.map { min($0, end) } ?? end
            for pool in pools { pool.close() }
        }
    }

    // MARK: Connections

    private func dial(_ pool: Pool, at now: MonotonicTime) {
        let dialer = pool.configuration.dialer
        turn.figures.dials += 1
        let id = pool.id
        do {
            // Resolving names blocks, so every dial has a thread of its own for as long as it takes.
            try NativeThread(name: "dial") { [inbox, dialer] in
                let result = Result { () throws(TransportError) in try dialer.dial() }
                // Refused only if the lane has ended: then the connection closes here.
                inbox.mailbox.post(.dialled(id, result))
            }.detach()
        } catch {
            dialFailed(pool, "\(error)", at: now)
        }
    }

    private func connect(_ pool: Pool, _ dialed: DialedConnection, at now: MonotonicTime) {
        guard !pool.isClosing else {
            pool.machine.dialled()
            return
        }
        lastToken += 1
        guard let connection = HTTP2Connection(token: lastToken, pool: pool, dialed: dialed, at: now) else {
            return dialFailed(pool, "libnghttp2 cannot make a session", at: now)
        }
        guard inbox.polled.add(connection.socket, token: connection.token) else {
            let reason = "\(SystemError("epoll_ctl", errno: errno))"
            connection.close(saysGoodbye: false)
            return dialFailed(pool, reason, at: now)
        }
        pool.machine.dialled()
        connections[connection.token] = connection
        pool.connections.append(connection)
        turn.figures.connectionsOpened += 1
        pool.connected()
    }

    private func dialFailed(_ pool: Pool, _ reason: String, at now: MonotonicTime) {
        turn.figures.dialFailures += 1
        let usable = pool.census(at: now).usable
        pool.machine.dialFailed(usable: usable, at: now, random: .random(in: 0..<1))
        // With nothing queued the fault hinders no request, and no later dial would report its end.
        if usable == 0, pool.queued > 0 { pool.report(.failing(error: reason, attempts: pool.machine.setbacks)) }
    }

    private func serve(_ pool: Pool, at now: MonotonicTime) {
        // Requests sent from now on go out over these connections.
        pool.noteWidth(at: turn.sentAt)
        var isAgain = true
        while isAgain {
            isAgain = false
            pool.pump(at: now)
            for connection in pool.connections {
                let wasBlocked = connection.isBlocked
                connection.flush()
                if let reason = connection.writeFailure {
                    // Answers that came before the end are read: their requests are not sent again.
                    unsafe connection.receive(into: buffer, at: now)
                    connection.fail(reason)
                }
                connection.noticeEnd()
                if connection.isBlocked != connection.isWatchedForWriting {
                    inbox.polled.change(
                        connection.socket, token: connection.token,
                        to: connection.isBlocked ? [.reading, .writing] : .reading)
                    connection.isWatchedForWriting = connection.isBlocked
                }
                if wasBlocked, !connection.isBlocked { isAgain = pool.queued > 0 }
                if settle(connection, at: now) { isAgain = pool.queued > 0 }
            }
        }
        pool.handBackStale(at: now)
        if case .dial(let count) = pool.decide(at: turn.sentAt) {
            for _ in 0..<count { dial(pool, at: now) }
        }
    }

    /// Forgets pools that were removed, once their last connection has gone. A dial that is still on its way for one of them
    /// closes its connection.
    private func forgetPools() {
        for pool in pools where pool.isOver { poolsByID[pool.id] = nil }
        pools.removeAll(where: \.isOver)
    }

    /// Counts a retirement, and closes a connection that is over.
    /// - Returns: whether the connection is gone.
    private func settle(_ connection: HTTP2Connection, at now: MonotonicTime) -> Bool {
        guard case .retired(let reason) = connection.machine.phase else { return false }
        let isCalm = reason == .goAway(isCalm: true)
        if !connection.isRetirementReported {
            connection.isRetirementReported = true
            turn.figures.count(reason)
            if isCalm { judge(connection, reason, with: connection.machine.inFlight, at: now) }
        }
        guard connection.failure != nil || connection.machine.isDone else { return false }
        let inFlight = connection.machine.inFlight
        remove(connection)
        if !isCalm { judge(connection, reason, with: inFlight, at: now) }
        return true
    }

    /// Reports to the pool's machine how a connection did, and to the operator the fault that hinders sending.
    /// - Parameter inFlight: the requests on the connection when it ended.
    private func judge(
        _ connection: HTTP2Connection, _ reason: ConnectionMachine.Retirement, with inFlight: Int, at now: MonotonicTime
    ) {
        let pool = connection.pool
        let usable = pool.census(at: now).usable
        pool.machine.retired(
            reason, connection.machine.record, livedFor: now - connection.machine.openedAt, usable: usable,
            at: now, random: .random(in: 0..<1))
        // An idle connection ends without hindering a request, and one that ended because of an answer was reachable.
        guard pool.machine.dialPause(at: now) != nil, usable == 0, !pool.isClosing, reason != .judged,
            pool.queued + inFlight > 0
        else { return }
        let error = connection.failure ?? connection.lastWords ?? "\(reason)"
        pool.report(.failing(error: "\(pool.configuration.origin): \(error)", attempts: pool.machine.setbacks))
    }

    private func remove(_ connection: HTTP2Connection) {
        inbox.polled.remove(connection.socket)
        connection.close(saysGoodbye: true)
        connections[connection.token] = nil
        connection.pool.connections.removeAll { $0 === connection }
        // Memory that a burst of connections has taken is given back. free(3) alone gives back only pages at the heap's end;
        // malloc_trim(3) gives back every free page.
        if turn.memory.trim() >= Self.worthATrim { malloc_trim(0) }
    }

    // MARK: The turn's end

    private func report() {
        turn.figures.latency = turn.latency
        turn.figures.connectionsOpen = connections.count
        turn.figures.requestsInFlight = connections.values.reduce(0) { $0 + $1.machine.inFlight }
        if turn.figures != shownFigures {
            shownFigures = turn.figures
            board.show(turn.figures)
        }
        for (pool, condition, receiver) in turn.conditions { receiver.pool(pool, is: condition) }
        turn.conditions.removeAll(keepingCapacity: true)
        for (pool, streams, receiver) in turn.widths { receiver.pool(pool, carries: streams) }
        turn.widths.removeAll(keepingCapacity: true)
        for (batch, receiver) in turn.finished { receiver.finished(batch) }
        turn.finished.removeAll(keepingCapacity: true)
        turn.discarded.removeAll(keepingCapacity: true)
    }

    private func end() {
        for connection in Array(connections.values) { remove(connection) }
        for pool in pools { pool.withdraw() }
        for command in inbox.mailbox.close() {
            switch command {
            case .addPool, .submit: obey(command, at: MonotonicClock.now())
            case .withdraw, .removePool, .dialled, .stop: break
            }
        }
        report()
    }
}
