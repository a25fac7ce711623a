// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import RelayEngine
import Signing
import Threading

/// The one thread of a simulator: epoll, connections, answers that wait for their time.
@safe
final class SimulatorLoop {
    private let polled: PollSet
    private let listener: Descriptor
    private let ledger: SimulatorLedger
    private let tls: ServerTLS
    private let callbacks: SessionCallbacks
    private let takesHTTP1: Bool
    /// Makes a session other than the built-in ones; nil: the built-in ones serve.
    private let makeSession: (@Sendable (RequestJudge) -> any SimulatorSession)?
    private let judge: RequestJudge
    /// Nanoseconds.
    private let latency: UInt64
    private var connections: [UInt64: SimulatorConnection] = [:]
    private var draining: [(deadline: UInt64, connection: UInt64)] = []
    /// The time, by the monotonic clock, at which connections are accepted again; `.max` while they are accepted.
    private var restsUntil = UInt64.max
    private var isStopped = false
    private var nextNumber = SimulatorLoop.firstConnection
    /// The two queues of waiting answers: within a queue every answer waits equally long.
    private var delayed = DelayedAnswers()
    private var late = DelayedAnswers()
    /// Nanoseconds that a late answer waits.
    private let lateness: UInt64
    private let buffer: UnsafeMutableRawBufferPointer

    private static let listenerTag: UInt64 = 0
    private static let wakeTag: UInt64 = 1
    private static let firstConnection: UInt64 = 2
    /// The nanoseconds until the next try after the system had no descriptor or no memory for a connection.
    private static let rest: UInt64 = 100_000_000
    /// The nanoseconds that a client may take to notice that its connection is over.
    private static let drainTime: UInt64 = 5_000_000_000

    init(
        _ configuration: SimulatorConfiguration, listener: consuming Descriptor, place: SimulatorPlace,
        ledger: SimulatorLedger, tls: ServerTLS
    ) throws {
        self.listener = listener
        self.ledger = ledger
        self.tls = tls
        polled = try PollSet()
        callbacks = try SessionCallbacks()
        judge = try RequestJudge(configuration, place: place, ledger: ledger)
        makeSession = configuration.session
        takesHTTP1 = configuration.service.kind.takesHTTP1
        let total = configuration.latency + .milliseconds(configuration.faults.latencyMs)
        let parts = total.components
        latency = UInt64(max(0, parts.seconds)) * 1_000_000_000 + UInt64(max(0, parts.attoseconds)) / 1_000_000_000
        lateness = latency + UInt64(configuration.faults.delayMs) * 1_000_000
        unsafe buffer = .allocate(byteCount: 65_536, alignment: 16)
        polled.add(self.listener.number, token: Self.listenerTag)
        polled.add(ledger.mailbox.descriptor, token: Self.wakeTag)
    }

    deinit { unsafe buffer.deallocate() }

    /// Runs until the command to stop.
    func run() {
        let poller = Poller(polled)
        while !isStopped {
            let count = poller.wait(milliseconds: timeout())
            judge.now = WallClock.now().milliseconds
            for index in 0..<count { handle(poller.event(index)) }
            sendDelayed()
            dropDrained()
            listenAgain()
            judge.publish()
        }
        connections.removeAll()
        judge.publish()
    }

    private func handle(_ event: Poller.Event) {
        let tag = event.token
        switch tag {
        case Self.listenerTag: accept()
        case Self.wakeTag: for command in ledger.mailbox.take() { obey(command) }
        default:
            guard let connection = connections[tag] else { return }
            if draining.contains(where: { $0.connection == tag }) {
                // Bytes, the end of the stream or an error: only the last two end the connection.
                let count = unsafe recv(connection.socket.number, buffer.baseAddress, buffer.count, 0)
                if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { close(tag) }
                return
            }
            if event.isBroken { return close(tag) }
            var need = SimulatorConnection.Need.reading
            if event.hasInput {
                need = unsafe connection.socketReadable(buffer)
                schedule(connection)
            }
            if event.hasRoom, need == .reading { need = connection.socketWritable() }
            // Only a silent connection waits for the client to close it without reading.
            if event.isHungUp, !event.hasInput { need = .close }
            meet(need, of: connection)
        }
    }

    private func obey(_ command: SimulatorLedger.Command) {
        switch command {
        case .play(let script, let isPlayed):
            judge.play(script)
            isPlayed()
        case .stop: isStopped = true
        }
    }

    private func meet(_ need: SimulatorConnection.Need, of connection: SimulatorConnection) {
        let socket = connection.socket.number
        switch need {
        case .reading: expect(.reading, connection)
        case .writing: expect([.reading, .writing], connection)
        case .silence: expect(.hangUp, connection)
        case .drain:
            shutdown(socket, Int32(SHUT_WR))
            draining.append((Self.monotonic() + Self.drainTime, connection.number))
            expect(.reading, connection)
        case .close: close(connection.number)
        case .reset:
            var reset = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
            close(connection.number)
        }
    }

    private func expect(_ interest: PollSet.Interest, _ connection: SimulatorConnection) {
        guard connection.watched != interest else { return }
        connection.watched = interest
        polled.change(connection.socket.number, token: connection.number, to: interest)
    }

    private func close(_ number: UInt64) {
        connections[number] = nil
        draining.removeAll { $0.connection == number }
    }

    // MARK: Connections

    private func accept() {
        while true {
            let number = relay_accept(listener.number, nil, nil)
            guard number >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno != EAGAIN { restListener() }
                return
            }
            let socket = Descriptor(number)
            guard fcntl(number, F_SETFL, O_NONBLOCK) == 0 else { continue }
            var one: Int32 = 1
            unsafe setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
            let own = nextNumber
            guard
                let connection = SimulatorConnection(
                    number: own, socket: socket, tls: tls, judge: judge,
                    session: { [unowned self] in session(number: own, speaksHTTP2: $0) })
            else { return }
            nextNumber += 1
            connections[connection.number] = connection
            connection.watched = .reading
            // Refused for lack of kernel memory alone: the connection then hangs until its client gives up.
            polled.add(number, token: connection.number)
        }
    }

    private func session(number: UInt64, speaksHTTP2: Bool) -> (any SimulatorSession)? {
        if let makeSession { return makeSession(judge) }
        guard speaksHTTP2 || !takesHTTP1 else {
            return PlainSession(number: number, judge: judge, delaysAnswers: latency > 0)
        }
        return StrictSession(number: number, judge: judge, delaysAnswers: latency > 0, callbacks: callbacks)
    }

    /// epoll keeps reporting a connection that could not be accepted: without a rest this loop would spin.
    private func restListener() {
        restsUntil = Self.monotonic() + Self.rest
        polled.change(listener.number, token: Self.listenerTag, to: [])
    }

    private func listenAgain() {
        guard restsUntil != .max, restsUntil <= Self.monotonic() else { return }
        restsUntil = .max
        polled.change(listener.number, token: Self.listenerTag, to: .reading)
    }

    private func dropDrained() {
        guard !draining.isEmpty else { return }
        let now = Self.monotonic()
        for (deadline, number) in draining where deadline <= now { close(number) }
    }

    // MARK: Delayed answers

    private func schedule(_ connection: SimulatorConnection) {
        let waiting = connection.session?.takeDelayed() ?? []
        guard !waiting.isEmpty else { return }
        let now = Self.monotonic()
        for answer in waiting {
            if answer.isLate {
                late.append(.init(due: now + lateness, connection: connection.number, answer: answer))
            } else {
                delayed.append(.init(due: now + latency, connection: connection.number, answer: answer))
            }
        }
    }

    private func sendDelayed() {
        guard min(delayed.next, late.next) != .max else { return }
        let now = Self.monotonic()
        var touched: [UInt64] = []
        while let entry = delayed.take(dueBy: now) ?? late.take(dueBy: now) {
            guard let connection = connections[entry.connection] else { continue }
            connection.session?.answer(entry.answer)
            // With HTTP/1.1 the next request is read now.
            schedule(connection)
            if touched.last != entry.connection { touched.append(entry.connection) }
        }
        for number in touched {
            guard let connection = connections[number], !draining.contains(where: { $0.connection == number }) else {
                continue
            }
            meet(connection.flush(), of: connection)
        }
    }

    /// Milliseconds until something is due, rounded up; -1 for never.
    private func timeout() -> Int32 {
        var next = draining.map(\.deadline).min() ?? .max
        next = min(next, delayed.next, late.next, restsUntil)
        guard next != .max else { return -1 }
        let now = Self.monotonic()
        return next <= now ? 0 : Int32(min((next - now + 999_999) / 1_000_000, 60_000))
    }

    private static func monotonic() -> UInt64 { MonotonicClock.now().nanoseconds }
}

/// An answer that waits for its time.
package struct DelayedAnswer {
    package var stream: Int32
    /// The index of its slot in the strict session.
    var slot = 0
    /// Whether it waits for the script's `delayMs`, too.
    var isLate = false

    package init(stream: Int32, slot: Int = 0, isLate: Bool = false) {
        self.stream = stream
        self.slot = slot
        self.isLate = isLate
    }
}

/// Answers of all connections, in the order of their time.
struct DelayedAnswers {
    struct Entry {
        /// Nanoseconds of the monotonic clock; never earlier than the time of the entry appended before.
        var due: UInt64
        var connection: UInt64
        var answer: DelayedAnswer
    }

    private var entries: [Entry] = []
    /// The number of entries at the front that are done.
    private var done = 0

    /// The time at which the first entry is due; `.max` where none waits.
    var next: UInt64 { done < entries.count ? entries[done].due : .max }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
    }

    mutating func take(dueBy now: UInt64) -> Entry? {
        guard next <= now else { return nil }
        let entry = entries[done]
        done += 1
        if done > 4096 || done == entries.count {
            entries.removeFirst(done)
            done = 0
        }
        return entry
    }
}
