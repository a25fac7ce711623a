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
        return try notifications(until: deadline).map(\.payload)
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
