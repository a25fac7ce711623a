// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL
import Threading

/// The state of a server and of the relay's role in it when the relay starts.
struct SessionFacts: Hashable, Sendable {
    /// 150018 is 15.18.
    var version = 0
    var isStandby = false
    var fsync = true
    var fullPageWrites = true
    var encoding = "UTF8"
    var role = ""
    var database = ""
    /// How many more sessions may be opened, by the narrowest of the server's, the role's and the database's limits.
    var freeConnections = 0
    var hasSchema = true
    /// Whether the role has USAGE and CREATE on the schema; where there is no schema, CREATE on the database.
    var mayUseSchema = true
    /// Whether one session receives another session's NOTIFY.
    var hearsNotifications = true
    /// Whether the server process differs from the one that was reported at the start.
    var isBehindPooler = false
}

/// A setting with which the relay does not work, or may lose data that it promises to keep.
struct SessionFault: Hashable, Sendable {
    enum Code: Hashable, Sendable {
        case serverTooOld, standby, noFsync, noFullPageWrites, encoding, transactionPooler, tooFewConnections, noRights
    }

    enum Consequence: Hashable, Sendable {
        /// The relay does not start.
        case refuse
        /// It starts, and `readyz` answers 503.
        case unready
    }

    var code: Code
    var consequence: Consequence
    var context: String
    var hint: String

    var storeError: StoreError {
        StoreError(
            code == .standby ? .unreachable : code == .tooFewConnections ? .busy : .failed, context: context, hint: hint
        )
    }
}

extension SessionFacts {
    /// The oldest version that PostgreSQL's developers still supported when this was written
    /// (postgresql.org/support/versioning).
    static let oldest = 130_000

    /// Finds the faults. Pure.
    ///
    /// - Parameters:
    ///   - needed: how many more sessions the relay will open.
    ///   - schema: the schema for its tables.
    func faults(needed: Int, schema: String) -> [SessionFault] {
        var faults: [SessionFault] = []
        func add(_ code: SessionFault.Code, _ consequence: SessionFault.Consequence, _ context: String, _ hint: String)
        {
            faults.append(SessionFault(code: code, consequence: consequence, context: context, hint: hint))
        }
        if version < Self.oldest {
            add(
                .serverTooOld, .refuse, "the server is PostgreSQL \(version / 10_000)",
                "The relay needs 13 or later: upgrade it")
        }
        if isStandby {
            add(
                .standby, .refuse, "the server is a standby, which nothing can be written to",
                "Name the primary, or all of them, in store.postgres.url")
        }
        if !fsync {
            add(
                .noFsync, .unready,
                "the server's fsync is off: after a crash of its machine the database may be unusable",
                "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()")
        }
        if !fullPageWrites {
            add(
                .noFullPageWrites, .unready,
                "the server's full_page_writes is off: after a crash of its machine pages may be half old, half new",
                "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()")
        }
        if encoding != "UTF8" {
            add(
                .encoding, .refuse, "the database \(database) is in \(encoding), and cannot hold every text",
                "createdb --encoding=UTF8 --template=template0")
        }
        if !hearsNotifications {
            add(
                .transactionPooler, .refuse,
                isBehindPooler
                    ? "a pooler between the relay and the server gives each transaction another session"
                    : "what one session says by NOTIFY, another one does not hear",
                "Connect to the server itself, or set pgbouncer's pool_mode = session")
        }
        if freeConnections < needed {
            add(
                .tooFewConnections, .refuse,
                "the server has room for \(max(0, freeConnections)) more connections, and the relay needs \(needed)",
                "Raise max_connections, or the CONNECTION LIMIT of role \(role) or database \(database); or lower "
                    + "store.postgres.connections")
        }
        if !mayUseSchema {
            add(
                .noRights, .refuse,
                hasSchema
                    ? "role \(role) may not make tables in schema \(schema)"
                    : "there is no schema \(schema), and role \(role) may not make one in database \(database)",
                hasSchema
                    ? "ALTER SCHEMA \(schema) OWNER TO \(role)" : "CREATE SCHEMA \(schema) AUTHORIZATION \(role)")
        }
        return faults
    }
}

extension SessionFacts {
    /// Not prepared: behind a pooler in transaction mode, one message may not find what an earlier one prepared.
    private static let question =
        """
        SELECT pg_is_in_recovery(), current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
            current_setting('server_encoding'), session_user::text, d.datname::text,
            least(
                current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                    - coalesce(current_setting('reserved_connections', true)::int, 0) - a.everybodys,
                CASE WHEN r.rolconnlimit >= 0 AND NOT r.rolsuper THEN r.rolconnlimit - a.roles ELSE 2147483647 END,
                CASE WHEN d.datconnlimit >= 0 AND NOT r.rolsuper THEN d.datconnlimit - a.databases ELSE 2147483647 END)::int,
            n.oid IS NOT NULL,
            CASE WHEN n.oid IS NULL THEN has_database_privilege(d.oid, 'CREATE')
                ELSE has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE') END,
            pg_backend_pid()
        FROM pg_database d JOIN pg_roles r ON r.rolname = session_user LEFT JOIN pg_namespace n ON n.nspname = $1,
            LATERAL (SELECT count(*)::int AS everybodys, count(*) FILTER (WHERE usesysid = r.oid)::int AS roles,
                count(*) FILTER (WHERE datid = d.oid)::int AS databases
                FROM pg_stat_activity WHERE backend_type = 'client backend') a
        WHERE d.datname = current_database()
        """
    /// How long a notification may take.
    private static let hearing = Duration.seconds(2)

    /// Gathers the facts from the server.
    ///
    /// - Parameters:
    ///   - listener: a session other than `speaker`: a pooler in transaction mode gives both the same session of the server,
    ///     through which `speaker` would hear itself.
    static func gather(
        _ speaker: PostgresConnection, listener: PostgresConnection, schema: String, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> SessionFacts {
        let rows = try speaker.runOnce(question, until: deadline) { $0.add(schema) }
        let found = rows.first { row in
            var facts = SessionFacts(
                version: speaker.serverVersion, isStandby: row.bool(), fsync: row.bool(), fullPageWrites: row.bool(),
                encoding: row.text(), role: row.text(), database: row.text(), freeConnections: Int(row.integer()),
                hasSchema: row.bool(), mayUseSchema: row.bool())
            facts.isBehindPooler = row.integer() != Int64(speaker.processID)
            return facts
        }
        guard var facts = found else { throw PostgresFailure(.lost, "the server does not know its own database") }
        // NOTIFY is refused "during recovery".
        guard !facts.isStandby else { return facts }
        try listener.execute("LISTEN upgrade_relay_check", until: deadline)
        let word = "\(speaker.processID) \(MonotonicClock.now().nanoseconds)"
        try speaker.runOnce("SELECT pg_notify('upgrade_relay_check', $1)", until: deadline) { $0.add(word) }
        let last = min(deadline, MonotonicClock.now() + hearing)
        facts.hearsNotifications = false
        while !facts.hearsNotifications, MonotonicClock.now() < last {
            let heard = try listener.notifications(until: last)
            facts.hearsNotifications = heard.contains { $0.payload == word }
        }
        try listener.execute("UNLISTEN upgrade_relay_check", until: deadline)
        return facts
    }
}

extension PostgresPool {
    /// The faults of the server's settings, found out over two sessions of this pool.
    ///
    /// - Throws: `StoreError` where the server cannot be asked.
    func faults(schema: String, connections: Int, until deadline: MonotonicTime) throws -> [SessionFault] {
        let facts = try use(.control, "looking at the server's settings", isReadOnly: true, until: deadline) {
            listener in
            try use(.requests, "looking at the server's settings", isReadOnly: true, until: deadline) { speaker in
                try SessionFacts.gather(speaker, listener: listener, schema: schema, until: deadline)
            }
        }
        return facts.faults(needed: connections - 2, schema: schema)
    }
}
