// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// PostgreSQL's code for an error: five characters, of which the first two are its class (postgresql.org/docs, "PostgreSQL
/// Error Codes"). Servers add codes.
struct SQLState: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let code: String

    init(_ code: String) { self.code = code }
    init(stringLiteral code: String) { self.code = code }

    var description: String { code }

    /// How the store reacts to an error.
    enum Reaction: Hashable, Sendable {
        /// The session is over or useless: another one is made.
        case reconnect
        /// Nothing was changed; the same work may succeed in a moment.
        case busy
        case full
        /// It would fail at every further try.
        case conflict
        /// The statement is prepared anew, once.
        case prepareAnew
        /// Other relays have taken over from this one (`hold_node`).
        case fenced
        /// The store does not hold what this relay saw in it (`hold_decision`).
        case wentBack
        /// The operator must act: see `hint`.
        case failed
    }

    var reaction: Reaction {
        switch code {
        // The server stops, has crashed, starts; the session was idle for too long.
        case "57P01", "57P02", "57P03", "57P05", "25P03": .reconnect
        // The server has become a standby, or its owner has made it read-only: another one may be writable.
        case "25006": .reconnect
        // Serialization, deadlock, lock_timeout, statement_timeout or a cancel, too many connections.
        case "40001", "40P01", "55P03", "57014", "53300": .busy
        case "53100": .full
        // "cached plan must not change result type"; a statement that this session does not know, or no longer knows.
        case "0A000", "26000": .prepareAnew
        case "UR001": .fenced
        case "UR002": .wentBack
        // A trigger's RAISE; an index row that is too long.
        case "P0001", "54000": .conflict
        case _ where code.hasPrefix("08"): .reconnect
        // Integrity constraints; values that no column of the type can hold.
        case _ where code.hasPrefix("23") || code.hasPrefix("22"): .conflict
        default: .failed
        }
    }

    /// Advice for an operator; nil where there is none.
    var hint: String? {
        switch code {
        case "57P01", "57P02", "57P03", "57P05", "25P03", "08000", "08001", "08003", "08004", "08006":
            "The relay connects again by itself; if this lasts, look at the server and its log"
        case "25006": "Name all servers in store.postgres.url, so that the one that can be written to is found"
        case "40001", "40P01", "55P03", "57014": "Look for a long transaction of another program (pg_stat_activity)"
        case "53300":
            "Raise max_connections, or the role's or the database's CONNECTION LIMIT; or lower store.postgres.connections"
        case "53100": "Free space on the server's disk; what was stored before is untouched"
        case "28P01": "Is it the role's password that store.postgres.password names?"
        case "28000": "The server's pg_hba.conf must let this role in from this address"
        case "UR001": "This one joins the others again by itself"
        case "3D000": "Create the database: createdb"
        case "42501": "Give the role its rights: it must own the schema, or GRANT them"
        case "3F000", "42P01", "42703", "42883": "Is store.postgres.schema the relay's, and is its schema whole?"
        case _ where code.hasPrefix("XX"): "The database may be damaged: look at the server's log before anything else"
        default: nil
        }
    }

    var storeCode: StoreError.Code {
        switch reaction {
        case .reconnect: .unreachable
        // Where preparing anew did not help, for instance within a transaction, the whole transaction may be tried again.
        case .busy, .prepareAnew: .busy
        case .full: .full
        case .conflict: .conflict
        case .fenced: .fenced
        case .wentBack: .wentBack
        case .failed: .failed
        }
    }
}
