// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The open connections of one serving thread: who is let in, who is overdue, and who gives way. No I/O: time is passed in, in
/// milliseconds of the monotonic clock.
///
/// Where there is no room for a new connection, those that have been idle for the longest give way: a flood of idle
/// connections keeps nobody out, and costs a well-behaved client a handshake. Where none is idle, those give way that have
/// kept the relay waiting for the longest, and for longer than a client in good health needs.
///
/// A TLS handshake that has begun takes much memory for a client that has shown nothing yet: its time is short, and so many are
/// under way at most. Beyond, the oldest of the same address gives way, and of all where that has no other.
struct ConnectionTable {
    /// How long a client may take, in milliseconds.
    struct Times: Sendable {
        /// Until the next request line is complete.
        var idle: Int64
        /// From the request line to the end of the body; then again for the answer, and for each piece of a stream.
        var request: Int64
        /// The same while there is no room for others.
        var pressed: Int64 = 2000
        /// From a client's first word of TLS to the end of the handshake.
        var greeting: Int64 = 10_000
        /// Handshakes under way at a time.
        var greetings = 512
        /// For what a client still sends after the last answer of its connection (RFC 9112, section 9.6).
        var closing: Int64 = 5000
    }

    enum Phase: Sendable {
        /// Between two requests: the client loses nothing but a handshake when it is closed.
        case idle
        /// The client has said its first word of TLS.
        case greeting
        /// The client is sending a request.
        case receiving
        /// The relay itself is at work: its client is not to blame.
        case working
        /// The client is taking an answer.
        case sending
        /// All is said.
        case closing
    }

    /// What has happened since it was asked for last.
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
        /// Counts up: who came first, of those that came in one millisecond.
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

    /// A new connection: lets it in, or not.
    ///
    /// - Returns: its seat, nil where there is no room; and the seats of those that give way, which are free already.
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

    /// - Parameter isRenewed: its time counts anew though the phase may be the same: a request has ended, or enough of a
    ///   stream has moved.
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

    /// Who gives way to a handshake that has begun; nil: there is room. Its connection is to be closed.
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

    /// The seats whose time is over.
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

    /// Ends a sixteenth of those that qualify, so that the search is not made for each new one.
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

/// How many connections the threads of one door have open, together.
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

    /// - Parameter perAddress: of one subscriber (`PeerAddress.subscriber`).
    init(total: Int, perAddress: Int) {
        (self.total, self.perAddress) = (total, perAddress)
    }

    /// Counts one more, or says why there is no room for it.
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
