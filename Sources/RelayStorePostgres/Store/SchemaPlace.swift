// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import RelayStore
import Synchronization
import Threading

/// Keeps every other relay out of a schema: a session with a lock of the server's, for as long as both last.
///
/// A server that restarts, or a standby that takes its place, has no such session: it is made anew before anything else is written.
/// Another relay may have been faster; then this one writes nothing more, and what it had in flight the other one sends again.
final class SchemaPlace: Sendable {
    /// A session as the server knows it.
    private typealias Known = (process: Int64, begun: String)

    private struct State {
        var session: PostgresConnection?
        /// That session, or the one before.
        var known: Known?
        /// The last try that failed: not each of many writers asks for itself.
        var refused: (until: MonotonicTime, error: StoreError)?
        /// Somebody connects, without the lock.
        var isBeingTaken = false
        /// Who waits for the end of that.
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    /// What is there to do for one who needs the place.
    private enum Turn {
        case nothing
        case wait
        case take(after: Known?)
        case fail(StoreError)
    }

    private static let rest = Duration.seconds(1)
    /// How long anybody waits for another one's try, which a server that stalls makes last: each has a session that others need.
    private static let wait = DispatchTimeInterval.milliseconds(200)

    private let dialer: PostgresDialer
    private let state = Mutex(State())

    /// - Throws: `StoreError`, `.busy` where another relay has it; once it was this one's, that is `.moved`.
    init(in settings: PostgresSettings) throws {
        dialer = PostgresDialer(
            conninfo: settings.conninfo, schema: settings.schema, password: settings.password)
        try hold()
    }

    /// Makes sure that the place is this relay's. Asks nobody while the session is there, as far as this end knows.
    ///
    /// - Throws: `StoreError`.
    func hold() throws(StoreError) {
        let bell = DispatchSemaphore(value: 0)
        var turn = state.withLock { Self.turn(&$0, bell) }
        if case .wait = turn, bell.wait(timeout: .now() + Self.wait) == .success {
            turn = state.withLock { Self.turn(&$0) }
        }
        switch turn {
        case .nothing: return
        case .take(let known): try take(after: known)
        case .fail(let error): throw error
        case .wait:
            throw StoreError(
                .unreachable,
                context: "other relays are to be kept out of the store, and the server does not answer to that "
                    + "(\(dialer.conninfo.place))")
        }
    }

    /// The same in passing: where that does not succeed, whoever writes finds it out.
    func look() {
        if case .take(let known)? = state.withLockIfAvailable({ Self.turn(&$0) }) { try? take(after: known) }
    }

    /// Gives it free.
    func close() {
        // Freed, and closed with that, outside of the lock.
        _ = state.withLock { state in
            defer { (state.session, state.isClosed) = (nil, true) }
            return state.session
        }
    }

    /// - Parameter bell: rung at the end of the try that is waited for.
    private static func turn(_ state: inout State, _ bell: DispatchSemaphore? = nil) -> Turn {
        guard !state.isClosed, state.session?.looksAlive() != true else { return .nothing }
        guard !state.isBeingTaken else {
            if let bell { state.waiting.append(bell) }
            return .wait
        }
        if let refused = state.refused, MonotonicClock.now() < refused.until { return .fail(refused.error) }
        (state.session, state.isBeingTaken) = (nil, true)
        return .take(after: state.known)
    }

    private func take(after known: Known?) throws(StoreError) {
        let result: Result<(PostgresConnection, Known?), StoreError>
        do throws(StoreError) {
            result = .success(try take(after: known, until: MonotonicClock.now() + PostgresStore.patience(.control)))
        } catch {
            result = .failure(error)
        }
        let waiting = state.withLock { state in
            switch result {
            case .success((let session, let known)):
                (state.session, state.known, state.refused) = (state.isClosed ? nil : session, known, nil)
            case .failure(let error):
                state.refused = (MonotonicClock.now() + Self.rest, error)
            }
            state.isBeingTaken = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for bell in waiting { bell.signal() }
        if case .failure(let error) = result { throw error }
    }

    private func take(
        after known: Known?, until deadline: MonotonicTime
    ) throws(StoreError) -> (PostgresConnection, Known?) {
        do throws(PostgresFailure) {
            let session = try dialer.dial(.control, until: deadline)
            var isTaken = try take(by: session, until: deadline)
            // The server may not have noticed yet that this relay's former session is gone.
            if !isTaken { isTaken = try takeOver(from: known, by: session, until: deadline) }
            if isTaken {
                let row = try session.runOnce(
                    "SELECT CAST(pid AS bigint), CAST(backend_start AS text) FROM pg_stat_activity WHERE pid = pg_backend_pid()",
                    until: deadline)
                return (session, row.count > 0 ? (row.integer(0, 0), row.text(0, 1)) : nil)
            }
        } catch {
            throw error.storeError(doing: "keeping other relays out of the store", place: dialer.conninfo.place)
        }
        throw StoreError(
            known == nil ? .busy : .moved,
            context: "another relay works on the schema \(dialer.schema) (\(dialer.conninfo.place))",
            hint: "Stop it, or name another schema in store.postgres.schema")
    }

    private func take(
        by session: PostgresConnection, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> Bool {
        let answer = try session.runOnce("SELECT pg_try_advisory_lock(9, hashtext($1))", until: deadline) {
            $0.add(dialer.schema)
        }
        return answer.bool(0, 0)
    }

    /// Ends this relay's former session where it is that one which has the place still.
    private func takeOver(
        from known: Known?, by session: PostgresConnection, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> Bool {
        guard let known else { return false }
        // Of a lock with two keys objsubid is 2 (postgresql.org/docs, "pg_locks").
        let ended = try session.runOnce(
            """
            SELECT pg_terminate_backend(a.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
            WHERE l.locktype = 'advisory' AND l.classid = 9 AND l.objid = CAST(hashtext($1) AS oid) AND l.objsubid = 2
                AND l.granted AND a.pid = $2 AND CAST(a.backend_start AS text) = $3
            """, until: deadline
        ) { values in
            values.add(dialer.schema)
            values.add(known.process)
            values.add(known.begun)
        }
        guard ended.count > 0, ended.bool(0, 0) else { return false }
        // It ends in a moment.
        try session.runOnce("SELECT pg_advisory_lock(9, hashtext($1))", until: deadline) { $0.add(dialer.schema) }
        return true
    }
}
