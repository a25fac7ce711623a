// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// The open connections of one listening socket: lets new ones in, cuts off those that are overdue, and makes room.
///
/// Where there is no room for a new connection, those that have been idle for the longest give way: a flood of idle
/// connections keeps nobody out, and costs a well-behaved client a handshake.
///
/// A descriptor is in here only while its owner keeps it open: `closed` comes before the close, and the lock is held while
/// a descriptor is used. So none is ever mistaken for another that the system gave the same number.
final class Connections: Sendable {
    struct Limits: Sendable {
        var total: Int
        /// Of one subscriber (`PeerAddress.subscriber`).
        var perAddress: Int
    }

    private struct Entry {
        var connection: Connection
        /// Counts up: who came first, of those that came in one millisecond.
        var number: Int
    }

    private struct State {
        var open: [Int32: Entry] = [:]
        var nextNumber = 0
        /// Told to end, and not closed yet: they count no more.
        var leaving: Set<Int32> = []
        var byAddress: [PeerAddress: Int] = [:]
        /// On their way from the acceptor to a thread that serves.
        var arriving = 0
        var acceptorWaits = false
        var isClosing = false
        /// Connections that were refused or cut off since the last look.
        var refused = 0
        var overdue = 0
        var evicted = 0

        var isEmpty: Bool { open.isEmpty && arriving == 0 }
    }

    /// What has happened since the last sweep.
    struct Figures: Hashable, Sendable {
        var refused = 0
        var overdue = 0
        var evicted = 0
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// Closing, and nothing is left.
    private let drained: Signal
    private let arrival = DispatchSemaphore(value: 0)

    /// So many go to the serving threads before the first of them must have come: in a flood, those that are told to make
    /// room can be closed meanwhile.
    private static let mostArriving = 16

    init(_ limits: Limits) throws(ServerStartError) {
        self.limits = limits
        drained = try Signal()
    }

    /// Connections that are open and not told to end.
    var count: Int { state.withLock { $0.open.count - $0.leaving.count } }

    // MARK: In

    /// A connection is about to be handed over. Waits while too many are on their way. On the acceptor's thread.
    func expect() {
        let mustWait = state.withLock { state in
            state.acceptorWaits = state.arriving >= Self.mostArriving
            return state.acceptorWaits
        }
        if mustWait { arrival.wait() }
        state.withLock { $0.arriving += 1 }
    }

    /// Once for each that was expected: it has come (`opened`), or it has turned out that it does not.
    func arrived() {
        state.withLock { state in
            state.arriving -= 1
            if state.acceptorWaits {
                state.acceptorWaits = false
                arrival.signal()
            }
            if state.isClosing, state.isEmpty { drained.set() }
        }
    }

    /// A new connection is here: lets it in, makes room where there is none, or cuts it off at once.
    ///
    /// - Returns: whether it may stay.
    @discardableResult
    func opened(_ connection: Connection) -> Bool {
        state.withLock { state in
            let isAdmitted = Self.admits(connection.peer, &state, limits)
            state.open[connection.socket] = Entry(connection: connection, number: state.nextNumber)
            state.nextNumber += 1
            state.byAddress[connection.peer.subscriber, default: 0] += 1
            if !isAdmitted {
                if !state.isClosing { state.refused += 1 }
                Self.cut(connection, &state)
            }
            return isAdmitted
        }
    }

    func closed(_ connection: Connection) {
        state.withLock { state in
            guard state.open.removeValue(forKey: connection.socket) != nil else { return }
            if state.leaving.remove(connection.socket) == nil { Self.uncount(connection, &state) }
            if state.isClosing, state.isEmpty { drained.set() }
        }
    }

    // MARK: Out

    /// Cuts off whoever is overdue.
    func sweep(now: Int64) -> Figures {
        state.withLock { state in
            for connection in state.open.values.lazy.map(\.connection) {
                // Asked first: a moment after the cut its own thread has ended the request.
                let current = connection.state
                guard current.overdue <= now else { continue }
                if Self.cut(connection, &state), !current.isIdle { state.overdue += 1 }
            }
            defer { (state.refused, state.overdue, state.evicted) = (0, 0, 0) }
            return Figures(refused: state.refused, overdue: state.overdue, evicted: state.evicted)
        }
    }

    /// Lets the requests that are on their way be answered, for a socket whose clients are served again at once by who
    /// comes next: cutting one off would be as bad as refusing it. Taking new ones must have ended.
    ///
    /// - Parameter grace: milliseconds for what was accepted a moment ago to arrive, and again to be answered.
    func letFinish(grace: Int64) {
        drained.wait(milliseconds: grace)
        state.withLock { state in
            // Nothing new is read, but for what has arrived already; what is being answered goes out.
            for socket in state.open.keys { shutdown(socket, Int32(SHUT_RD)) }
        }
        let end = ContinuousClock.now + .milliseconds(grace)
        while ContinuousClock.now < end, state.withLock({ !$0.isEmpty }) { drained.wait(milliseconds: 5) }
    }

    /// Ends every connection and waits until the last one is gone, or for `patience` milliseconds.
    ///
    /// - Returns: whether the last one is gone.
    func closeAll(patience: Int64) -> Bool {
        state.withLock { state in
            state.isClosing = true
            for entry in state.open.values { Self.cut(entry.connection, &state) }
            if state.isEmpty { drained.set() }
        }
        return drained.wait(milliseconds: patience)
    }

    // MARK: Under the lock

    private static func admits(_ peer: PeerAddress, _ state: inout State, _ limits: Limits) -> Bool {
        let subscriber = peer.subscriber
        return !state.isClosing
            && (state.byAddress[subscriber, default: 0] < limits.perAddress
                || evict(&state) { $0.peer.subscriber == subscriber })
            && (state.open.count - state.leaving.count < limits.total || evict(&state) { _ in true })
    }

    /// Ends a sixteenth of the idle connections that qualify, so that the search is not made for each new one.
    private static func evict(_ state: inout State, among qualifies: (Connection) -> Bool) -> Bool {
        var idle: [(entry: Entry, state: Connection.State)] = []
        for entry in state.open.values {
            let connection = entry.connection
            // Once: a request that begins meanwhile changes both what it does and its deadline.
            let current = connection.state
            guard current.isIdle, !state.leaving.contains(connection.socket), qualifies(connection) else { continue }
            idle.append((entry, current))
        }
        idle.sort { ($0.state.overdue, $0.entry.number) < ($1.state.overdue, $1.entry.number) }
        for (entry, current) in idle.prefix(max(1, idle.count / 16)) where entry.connection.state == current {
            if cut(entry.connection, &state) { state.evicted += 1 }
        }
        return !idle.isEmpty
    }

    /// The thread that reads or writes there wakes with an end of stream, and closes it.
    @discardableResult
    private static func cut(_ connection: Connection, _ state: inout State) -> Bool {
        guard state.leaving.insert(connection.socket).inserted else { return false }
        uncount(connection, &state)
        shutdown(connection.socket, Int32(SHUT_RDWR))
        return true
    }

    private static func uncount(_ connection: Connection, _ state: inout State) {
        let subscriber = connection.peer.subscriber
        let left = state.byAddress[subscriber, default: 1] - 1
        state.byAddress[subscriber] = left > 0 ? left : nil
    }
}
