// SPDX-License-Identifier: Apache-2.0

/// The purpose of a connection. Each role has connections of its own, so that none waits for another's work.
package enum PostgresRole: CaseIterable, Hashable, Sendable {
    /// The heartbeat, and the notifications that come by NOTIFY.
    case control
    /// The fan-out's batches.
    case reads
    /// The outcomes of those batches.
    case commits
    /// All requests of the API and the control plane.
    case requests
    /// Imports, planning, housekeeping.
    case long

    /// The number of connections of this role: one each, and the rest for requests.
    ///
    /// - Parameter all: at least `fewest`.
    func connections(of all: Int) -> Int { self == .requests ? all - (Self.allCases.count - 1) : 1 }

    /// The smallest number of connections: with fewer, a role would have none.
    package static let fewest = allCases.count

    /// The server's limit for one statement: longer than any deadline of the role, which comes first.
    var statementTimeout: Duration {
        switch self {
        case .control: .seconds(2)
        case .reads, .commits: .seconds(10)
        case .requests: .seconds(30)
        case .long: .seconds(600)
        }
    }

    /// The settings of a new session. Set in one message, and not by `options` of the conninfo, which poolers refuse.
    ///
    /// - Parameter schema: a plain identifier.
    func settings(schema: String) -> String {
        var settings = [
            "search_path": "\"\(schema)\"",
            "statement_timeout": "\(statementTimeout.components.seconds * 1000)",
            "lock_timeout": "5000",
            // A client that stops in the middle of a transaction holds its locks no longer than this.
            "idle_in_transaction_session_timeout": "5000",
            "default_transaction_isolation": "'read committed'",
            // The server's half of the conninfo's keepalives: locks of a node that is gone are free after 5 s.
            "tcp_keepalives_idle": "2", "tcp_keepalives_interval": "1", "tcp_keepalives_count": "3",
            // Planning each call would cost more than most calls do, and a plan made for one call's values may change
            // from day to day.
            "plan_cache_mode": "force_generic_plan",
            // Compiling a plan takes longer than any statement here runs, and estimates decide whether it happens.
            "jit": "off",
            "client_min_messages": "warning",
        ]
        // A plan made while a table had one page is used long after that: going row by row through an index is never
        // far wrong.
        if self != .control {
            for way in ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"] {
                settings["enable_\(way)"] = "off"
            }
        }
        let lines = settings.sorted { $0.key < $1.key }.map { "SET \($0.key) = \($0.value)" }
        // A stricter setting by the server's owner, remote_apply, stays.
        let durable =
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')"
        return (lines + [durable]).joined(separator: "; ")
    }
}
