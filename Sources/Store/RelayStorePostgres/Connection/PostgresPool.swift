// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import RelayEngine
import RelayStore
import StoreSQL
import Synchronization
package import Telemetry
import Threading

/// The sessions with the server: a fixed number for each role, each made when it is needed.
///
/// A caller waits for a session, or connects, on its own thread and until its own deadline. No caller connects for another
/// one, but while the server is gone only one at a time tries (`ReconnectMachine`).
package final class PostgresPool: Sendable {
    private struct Lane: Sendable {
        /// Counts the connections that are free, including those that are not made yet.
        let places = DispatchSemaphore(value: 0)
        let idle: Idle
    }

    private final class Idle: Sendable {
        let connections = Mutex<[PostgresConnection]>([])
    }

    private struct State {
        var machine = ReconnectMachine()
        /// The callers that wait for the end of another caller's try.
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    private let dialer: PostgresDialer
    /// The server and its database.
    var place: String { dialer.conninfo.place }
    private let lanes: [PostgresRole: Lane]
    private let state = Mutex(State())
    private let log: Log
    private let random: RandomSource
    private let greet: Greeting

    /// Runs on each new session, except on that of the control role, which keeps the lease.
    typealias Greeting = @Sendable (PostgresConnection, _ deadline: MonotonicTime) throws(PostgresFailure) -> Void

    /// Does not connect yet.
    package convenience init(_ settings: PostgresSettings, log: Log, random: RandomSource = .system) {
        self.init(settings, log: log, random: random) { _, _ throws(PostgresFailure) in }
    }

    init(_ settings: PostgresSettings, log: Log, random: RandomSource = .system, greet: @escaping Greeting) {
        self.greet = greet
        dialer = PostgresDialer(conninfo: settings.conninfo, schema: settings.schema, password: settings.password)
        lanes = Dictionary(
            uniqueKeysWithValues: PostgresRole.allCases.map { role in
                let lane = Lane(idle: Idle())
                // Made empty and then filled: freeing a semaphore whose count is below its initial value crashes
                // (dispatch_semaphore_create(3)).
                for _ in 0..<role.connections(of: settings.connections) { lane.places.signal() }
                return (role, lane)
            })
        self.log = log
        self.random = random
    }

    /// How often the server was gone and came back.
    package var outages: Int { state.withLock { $0.machine.outages } }

    /// The statements shared by both drivers that the idle sessions have run, and how many parameters each has.
    var statements: [(text: SQL, parameters: Int)] {
        lanes.values.flatMap { lane in
            lane.idle.connections.withLock { connections in
                connections.flatMap { $0.described.map { ($0.key, $0.value.types.count) } }
            }
        }
    }

    /// Lends a session of a role. Work that failed without effect is repeated (`Repetition`), so that `body` may run up to
    /// three times. A transaction that it leaves open is rolled back.
    ///
    /// - Parameters:
    ///   - doing: for the error, as in "registering devices".
    ///   - isReadOnly: whether the work may simply be repeated after a lost answer.
    ///   - deadline: connecting, or finding that a statement cannot be cancelled, may take one second longer.
    /// - Throws: `StoreError` for an error of the server or of the connection to it; any other error of `body`, as it is.
    func use<R: Sendable>(
        _ role: PostgresRole, _ doing: String, isReadOnly: Bool = false, until deadline: MonotonicTime,
        _ body: (PostgresConnection) throws -> R
    ) throws -> R {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try once(role, until: deadline, body)
            } catch let failure as PostgresFailure {
                let isDue = Repetition.isDue(
                    after: failure, attempt: attempt, isReadOnly: isReadOnly, at: MonotonicClock.now(),
                    deadline: deadline)
                guard isDue else { throw failure.storeError(doing: doing, place: dialer.conninfo.place) }
            }
        }
    }

    /// Runs `body` in a transaction, which is rolled back when anything throws.
    func write<R: Sendable>(
        _ role: PostgresRole, _ doing: String, until deadline: MonotonicTime,
        _ body: (PostgresConnection) throws -> R
    ) throws -> R {
        try use(role, doing, until: deadline) { connection in try connection.transaction(until: deadline, body) }
    }

    private func once<R>(
        _ role: PostgresRole, until deadline: MonotonicTime, _ body: (PostgresConnection) throws -> R
    ) throws -> R {
        guard let lane = lanes[role] else { preconditionFailure("\(role) has no lane") }
        guard lane.places.wait(timeout: .until(deadline)) == .success else {
            throw PostgresFailure(.crowded, "every connection for it is in use")
        }
        defer { lane.places.signal() }
        let known = idle(lane)
        let connection = try known ?? dial(role, until: deadline)
        defer {
            connection.rollBack()
            if let end = connection.end {
                broke(connection, end)
            } else if !state.withLock({ $0.isClosed }) {
                lane.idle.connections.withLock { $0.append(connection) }
            }
        }
        if known == nil, role != .control { try greet(connection, max(deadline, MonotonicClock.now() + .seconds(1))) }
        return try body(connection)
    }

    /// An idle session that is still open.
    private func idle(_ lane: Lane) -> PostgresConnection? {
        while let connection = lane.idle.connections.withLock({ $0.popLast() }) {
            if connection.looksAlive() { return connection }
            if let end = connection.end { broke(connection, end) }
        }
        return nil
    }

    /// Closes the idle sessions too: they may be with the same server that is gone, and look well as long as nothing is sent.
    private func broke(_ connection: PostgresConnection, _ end: PostgresFailure) {
        guard end.cause != .dropped else { return }
        closeIdle()
        report { machine, now in
            machine.broke(end.message, generation: connection.generation, at: now)
            return nil
        }
    }

    private func dial(_ role: PostgresRole, until deadline: MonotonicTime) throws(PostgresFailure) -> PostgresConnection
    {
        var last: PostgresFailure?
        while true {
            let bell = DispatchSemaphore(value: 0)
            let now = MonotonicClock.now()
            let permission = state.withLock { state -> ReconnectMachine.Permission? in
                guard !state.isClosed else { return nil }
                let permission = state.machine.needed(at: now)
                if case .wait = permission { state.waiting.append(bell) }
                return permission
            }
            switch permission {
            case nil: throw PostgresFailure(.lost, "the store is closed")
            case .refuse(let since, let reason):
                let seconds = since.components.seconds
                throw PostgresFailure(.lost, "the database has been gone for \(seconds) s: \(reason)")
            case .wait(let until):
                let isOver = bell.wait(timeout: .until(min(until, deadline))) == .timedOut
                if isOver { state.withLock { $0.waiting.removeAll { $0 === bell } } }
                guard MonotonicClock.now() < deadline else {
                    throw last ?? PostgresFailure(.lost, "the database is gone, and was not back in time")
                }
            case .dial:
                do throws(PostgresFailure) {
                    // A caller with hardly any time left must not conclude that the server does not answer.
                    let connection = try dialer.dial(role, until: max(deadline, now + .seconds(1)))
                    report { machine, now in
                        let report = machine.connected(at: now)
                        connection.generation = machine.outages
                        return report
                    }
                    return connection
                } catch {
                    // The server is there, and has no room for another session.
                    let isThere = error.state == "53300"
                    let share = random.unit()
                    report { machine, now in
                        isThere ? machine.connected(at: now) : machine.failed(error.message, at: now, random: share)
                    }
                    // An error that time does not mend is thrown at once.
                    guard error.isSessionOver else { throw error }
                    last = error
                }
            }
        }
    }

    /// Reports an event to the machine, wakes the callers that wait for it, and logs what is new.
    private func report(
        _ event: (inout ReconnectMachine, MonotonicTime) -> ReconnectMachine.Report?
    ) {
        let now = MonotonicClock.now()
        let (report, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            return (event(&state.machine, now), state.waiting)
        }
        for bell in waiting { bell.signal() }
        switch report {
        case nil: break
        case .replaced(let reason):
            log(
                .notice, "a connection to the database was replaced",
                [("database", dialer.conninfo.place), ("reason", reason)])
        case .lost(let reason):
            log(.error, "the database is gone", [("database", dialer.conninfo.place), ("reason", reason)])
        case .back(let after, let tries):
            log(
                .notice, "the database is back",
                [
                    ("database", dialer.conninfo.place), ("after", "\(after.milliseconds) ms"),
                    ("failedTries", "\(tries)"),
                ])
        }
    }

    /// Closes the idle sessions now, and the others when they come back. From now on no session is lent.
    package func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for bell in waiting { bell.signal() }
        closeIdle()
    }

    private func closeIdle() {
        // Freed, and thereby closed, outside of the lock.
        _ = lanes.values.map { lane in
            lane.idle.connections.withLock { connections in
                defer { connections = [] }
                return connections
            }
        }
    }
}

extension DispatchTime {
    fileprivate static func until(_ deadline: MonotonicTime) -> DispatchTime {
        .now() + .nanoseconds(Int((deadline - MonotonicClock.now()).nanoseconds))
    }
}
