// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Synchronization
import Threading

/// Keeps every other relay out of a schema: a session with a lock of the server's, for as long as both last.
///
/// A server that restarts, or a standby that takes its place, has no such session: it is made anew before anything else is written.
/// Another relay may have been faster; then this one writes nothing more, and what it had in flight the other one sends again.
final class SchemaPlace: Sendable {
    private struct State {
        var session: PostgresConnection?
        /// The session as the server knows it, this one or the one before.
        var known: (process: Int64, begun: String)?
        /// The last try that failed: not each of many writers asks for itself.
        var refused: (until: MonotonicTime, error: StoreError)?
        var isClosed = false
    }

    private static let rest = Duration.seconds(1)

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
    func hold() throws(StoreError) { try state.withLock { state throws(StoreError) in try hold(&state) } }

    /// The same in passing: where that does not succeed, whoever writes finds it out.
    func look() { state.withLockIfAvailable { state in try? hold(&state) } }

    /// Gives it free.
    func close() {
        // Freed, and closed with that, outside of the lock.
        _ = state.withLock { state in
            defer { (state.session, state.isClosed) = (nil, true) }
            return state.session
        }
    }

    private func hold(_ state: inout State) throws(StoreError) {
        guard !state.isClosed, state.session?.looksAlive() != true else { return }
        state.session = nil
        let now = MonotonicClock.now()
        if let refused = state.refused, now < refused.until { throw refused.error }
        do throws(StoreError) {
            state.session = try take(&state, until: now + PostgresStore.patience(.control))
            state.refused = nil
        } catch {
            state.refused = (MonotonicClock.now() + Self.rest, error)
            throw error
        }
    }

    private func take(_ state: inout State, until deadline: MonotonicTime) throws(StoreError) -> PostgresConnection {
        do throws(PostgresFailure) {
            let session = try dialer.dial(.control, until: deadline)
            var isTaken = try take(by: session, until: deadline)
            // The server may not have noticed yet that this relay's former session is gone.
            if !isTaken { isTaken = try takeOver(from: state.known, by: session, until: deadline) }
            if isTaken {
                let row = try session.runOnce(
                    "SELECT CAST(pid AS bigint), CAST(backend_start AS text) FROM pg_stat_activity WHERE pid = pg_backend_pid()",
                    until: deadline)
                state.known = row.count > 0 ? (row.integer(0, 0), row.text(0, 1)) : nil
                return session
            }
        } catch {
            throw error.storeError(doing: "keeping other relays out of the store", place: dialer.conninfo.place)
        }
        throw StoreError(
            state.known == nil ? .busy : .moved,
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
        from known: (process: Int64, begun: String)?, by session: PostgresConnection, until deadline: MonotonicTime
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
