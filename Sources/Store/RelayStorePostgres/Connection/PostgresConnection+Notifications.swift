// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import Threading

/// A notification that a listening session received.
struct PostgresNotification: Hashable, Sendable {
    var channel: String
    var payload: String
    /// The server process that sent it.
    var processID: Int32
}

extension PostgresConnection {
    /// The payloads received on the channel of the schema's triggers since the last call or by `deadline`; nil at a
    /// session's first call, which begins to listen: earlier notifications are unknown.
    func news(until deadline: MonotonicTime) throws(PostgresFailure) -> [String]? {
        guard isListening else {
            try execute("LISTEN upgrade_relay", until: MonotonicClock.now() + Self.grace)
            isListening = true
            return nil
        }
        let received = try notifications(until: deadline)
        // Every role that may connect may NOTIFY, without any right. A notified change of a table only causes a read; a
        // request (`FleetRequest`) is carried out, so it must come from a session of the relay's own role.
        let wishes = Set(received.filter { $0.payload.contains(" !") }.map(\.processID))
        guard !wishes.isEmpty else { return received.map(\.payload) }
        let rows = try execute(
            """
            SELECT pid FROM pg_stat_activity
            WHERE usename = session_user AND pid IN (\(wishes.map(String.init).joined(separator: ", ")))
            """, until: MonotonicClock.now() + Self.grace)
        let own = Set(rows.all { Int32($0.written()) }.compactMap(\.self))
        return received.filter { !$0.payload.contains(" !") || own.contains($0.processID) }.map(\.payload)
    }

    /// The notifications that this session has received since the last call; if there are none, waits for the next
    /// until `deadline`.
    ///
    /// The session must have run LISTEN, and be in no transaction.
    func notifications(until deadline: MonotonicTime) throws(PostgresFailure) -> [PostgresNotification] {
        while true {
            guard looksAlive() else { throw end ?? PostgresFailure(.lost, "the connection is gone") }
            var found: [PostgresNotification] = []
            while let next = unsafe relay_PQnotifies(handle) {
                unsafe found.append(
                    PostgresNotification(
                        channel: String(cString: next.pointee.relname), payload: String(cString: next.pointee.extra),
                        processID: next.pointee.be_pid))
                unsafe relay_PQfreemem(next)
            }
            let now = MonotonicClock.now()
            if !found.isEmpty || now >= deadline { return found }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(
                &request, 1, Int32(clamping: (deadline - now + .nanoseconds(999_999)).milliseconds))
        }
    }
}
