// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The open connections of one serving thread. Decides which connections are let in, are overdue, or give way. No I/O: time
/// is passed in, in milliseconds of the monotonic clock.
///
/// Where there is no room for a new connection, those that have been idle for the longest give way: a flood of idle
/// connections keeps no client out, and costs a well-behaved one a handshake. Where none is idle, those that have kept the
/// relay waiting for the longest give way, if that is longer than a healthy client needs.
///
/// A TLS handshake takes much memory for a client that has proved nothing yet. So its time is short, and the number under
/// way is limited (`Times.greetings`). Above the limit, the oldest handshake of the same address gives way, or else the
/// oldest of all.
struct ConnectionTable {
    /// How long a client may take, in milliseconds.
    struct Times: Sendable {
        /// Until the next request line is complete.
        var idle: Int64
        /// From the request line to the end of the body; then again for the answer, and for each piece of a stream.
        var request: Int64
        /// The time after which a request or an answer under way may give way to a new connection.
        var pressed: Int64 = 2000
        /// From the first TLS record of a client to the end of the handshake.
        var greeting: Int64 = 10_000
        /// Handshakes under way at a time.
        var greetings = 512
        /// For dropping the input that a client still sends after the last answer of its connection (RFC 9112, section 9.6).
        var closing: Int64 = 5000
    }

    enum Phase: Sendable {
        /// Between two requests: closing the connection costs the client no more than a new handshake.
        case idle
        /// The client has sent its first TLS record.
        case greeting
        /// The client is sending a request.
        case receiving
        /// The relay itself is at work: the client is not to blame.
        case working
        /// The client is taking an answer.
        case sending
        /// The last answer is sent.
        case closing
    }

    /// The events since the last `takeFigures`.
    struct Figures: Hashable, Sendable {
        var refused = 0
        var overdue = 0
        var evicted = 0
    }

    private struct Seat {
        var subscriber: PeerAddress
        var phase = Phase.idle
        /// When the phase began, or was renewed.
        var since: Int64
        /// Counts up, to order connections that came in the same millisecond.
        var number: Int
    }

    private let counts: ConnectionCounts
    private let times: Times
    private var seats: [Seat?] = []
    private var free: [Int] = []
    private var nextNumber = 0
    private(set) var count = 0
    private var greetings = 0
    var figures = Figures()

    init(_ counts: ConnectionCounts, _ times: Times) {
        self.counts = counts
        self.times = times
    }

    mutating func takeFigures() -> Figures {
        defer { figures = Figures() }
        return figures
    }

    // MARK: In

    /// Lets a new connection in, if there is room.
    ///
    /// - Returns: its seat, nil where there is no room; and the seats of the connections that give way, which are free
    ///   already and must be closed.
    mutating func enter(_ peer: PeerAddress, now: Int64) -> (place: Int?, leaving: [Int]) {
        let subscriber = peer.subscriber
        var leaving: [Int] = []
        if let fault = counts.enter(subscriber) {
            leaving = makeRoom(now) { fault == .total || $0.subscriber == subscriber }
            if leaving.isEmpty || counts.enter(subscriber) != nil { return (nil, leaving) }
        }
        let seat = Seat(subscriber: subscriber, since: now, number: nextNumber)
        nextNumber += 1
        count += 1
        if let place = free.popLast() {
            seats[place] = seat
            return (place, leaving)
        }
        seats.append(seat)
        return (seats.count - 1, leaving)
    }

    /// - Parameter isRenewed: the time limit starts again even if the phase is the same, because a request has begun or
    ///   ended, or a piece of a stream has moved.
    mutating func set(_ place: Int, _ phase: Phase, isRenewed: Bool, now: Int64) {
        guard let old = seats[place]?.phase, isRenewed || old != phase else { return }
        if old != phase { greetings += phase == .greeting ? 1 : old == .greeting ? -1 : 0 }
        seats[place]?.phase = phase
        seats[place]?.since = now
    }

    mutating func leave(_ place: Int) {
        guard let seat = seats[place] else { return }
        seats[place] = nil
        free.append(place)
        count -= 1
        if seat.phase == .greeting { greetings -= 1 }
        counts.leave(seat.subscriber)
    }

    /// Returns the seat that gives way to a handshake that has begun; nil: there is room. The caller must close its
    /// connection.
    mutating func onceTooMany(beside place: Int) -> Int? {
        guard greetings > times.greetings, let new = seats[place] else { return nil }
        var oldest: (own: Int?, any: Int?)
        for (other, seat) in seats.enumerated() {
            guard let seat, seat.phase == .greeting, other != place else { continue }
            func isOlder(than known: Int?) -> Bool {
                guard let known = known.flatMap({ seats[$0] }) else { return true }
                return (seat.since, seat.number) < (known.since, known.number)
            }
            if seat.subscriber == new.subscriber, isOlder(than: oldest.own) { oldest.own = other }
            if isOlder(than: oldest.any) { oldest.any = other }
        }
        figures.evicted += 1
        return oldest.own ?? oldest.any
    }

    // MARK: Out

    private func time(_ phase: Phase) -> Int64 {
        switch phase {
        case .idle: times.idle
        case .greeting: min(times.greeting, times.idle)
        case .receiving, .sending: times.request
        case .working: Int64.max >> 1
        case .closing: min(times.closing, times.request)
        }
    }

    /// The seats whose time has run out.
    mutating func overdue(now: Int64) -> [Int] {
        var places: [Int] = []
        for (place, seat) in seats.enumerated() {
            guard let seat, seat.since + time(seat.phase) <= now else { continue }
            places.append(place)
            switch seat.phase {
            case .idle, .greeting, .closing: break
            case .receiving, .working, .sending: figures.overdue += 1
            }
        }
        return places
    }

    /// Frees a sixteenth of the seats that qualify, so that the search is not made for each new connection.
    private mutating func makeRoom(_ now: Int64, _ qualifies: (Seat) -> Bool) -> [Int] {
        var idle: [(place: Int, seat: Seat)] = []
        var slow: [(place: Int, seat: Seat)] = []
        for (place, seat) in seats.enumerated() {
            guard let seat, qualifies(seat) else { continue }
            switch seat.phase {
            case .idle, .greeting, .closing: idle.append((place, seat))
            case .receiving, .sending: if now - seat.since >= times.pressed { slow.append((place, seat)) }
            case .working: break
            }
        }
        var leaving = idle.isEmpty ? slow : idle
        leaving.sort { ($0.seat.since, $0.seat.number) < ($1.seat.since, $1.seat.number) }
        let places = leaving.prefix(max(1, leaving.count / 16)).map(\.place)
        for place in places { leave(place) }
        figures.evicted += places.count
        return places
    }
}

/// The number of connections that all threads of one door have open.
final class ConnectionCounts: Sendable {
    enum Fault: Hashable, Sendable {
        case perAddress
        case total
    }

    private struct State {
        var total = 0
        var byAddress: [PeerAddress: Int] = [:]
    }

    private let total: Int
    private let perAddress: Int
    private let state = Mutex(State())

    /// - Parameter perAddress: the limit for one subscriber (`PeerAddress.subscriber`).
    init(total: Int, perAddress: Int) {
        (self.total, self.perAddress) = (total, perAddress)
    }

    /// Counts one more connection, or returns the limit that it would exceed.
    func enter(_ subscriber: PeerAddress) -> Fault? {
        state.withLock { state in
            let own = state.byAddress[subscriber, default: 0]
            if own >= perAddress { return .perAddress }
            if state.total >= total { return .total }
            state.byAddress[subscriber] = own + 1
            state.total += 1
            return nil
        }
    }

    func leave(_ subscriber: PeerAddress) {
        state.withLock { state in
            let left = state.byAddress[subscriber, default: 1] - 1
            state.byAddress[subscriber] = left > 0 ? left : nil
            state.total -= 1
        }
    }
}
