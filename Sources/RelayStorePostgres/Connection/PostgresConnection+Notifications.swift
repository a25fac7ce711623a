// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import Threading

/// What a session that listens was told by NOTIFY.
struct PostgresNotification: Hashable, Sendable {
    var channel: String
    var payload: String
    /// The server process that told it.
    var processID: Int32
}

extension PostgresConnection {
    /// What was told on the channel of the schema's triggers since the last call, or is by `deadline`; nil for the first time on this
    /// session: then it begins to listen, and what was told before is not known.
    func news(until deadline: MonotonicTime) throws(PostgresFailure) -> [String]? {
        guard isListening else {
            try execute("LISTEN upgrade_relay", until: MonotonicClock.now() + Self.grace)
            isListening = true
            return nil
        }
        let told = try notifications(until: deadline)
        // Whoever may connect may NOTIFY, and needs no right for it. That a table has changed is looked at; a wish is done, so it has to
        // be of a session of the relay's own role.
        let wishes = Set(told.filter { $0.payload.contains(" !") }.map(\.processID))
        guard !wishes.isEmpty else { return told.map(\.payload) }
        let rows = try execute(
            """
            SELECT pid FROM pg_stat_activity
            WHERE usename = session_user AND pid IN (\(wishes.map(String.init).joined(separator: ", ")))
            """, until: MonotonicClock.now() + Self.grace)
        let own = Set(rows.all { Int32($0.written()) }.compactMap(\.self))
        return told.filter { !$0.payload.contains(" !") || own.contains($0.processID) }.map(\.payload)
    }

    /// What this session was told since the last call: at once what is there, else what comes by `deadline`.
    ///
    /// The session must have run LISTEN, and be in no transaction.
    func notifications(until deadline: MonotonicTime) throws(PostgresFailure) -> [PostgresNotification] {
        while true {
            guard looksAlive() else { throw end ?? PostgresFailure(.lost, "the connection is gone") }
            var found: [PostgresNotification] = []
            while let told = unsafe relay_PQnotifies(handle) {
                unsafe found.append(
                    PostgresNotification(
                        channel: String(cString: told.pointee.relname), payload: String(cString: told.pointee.extra),
                        processID: told.pointee.be_pid))
                unsafe relay_PQfreemem(told)
            }
            let now = MonotonicClock.now()
            if !found.isEmpty || now >= deadline { return found }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(
                &request, 1, Int32(clamping: (deadline - now + .nanoseconds(999_999)).milliseconds))
        }
    }
}
