// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL

/// Tests whether the writes of requests can succeed: that every table may be written to and is not locked, not only
/// that one table takes a row.
extension PostgresStore {
    /// How often, and how far apart, a locked table is looked at: most locks are over by then.
    private static let looks = (count: 3, pause: Duration.milliseconds(100))
    private static let doing = "testing whether the store can be written to"

    package func checkWritable() throws {
        if let unready { throw unready.storeError }
        for look in 1...Self.looks.count {
            do {
                let locks = try readOnce(Self.doing) { session in try session.all(Self.locks) { Self.lock(&$0) } }
                guard locks.isEmpty else {
                    throw StoreError(
                        .busy, context: "\(Self.doing) failed: \(locks.joined(separator: "; "))",
                        hint: "Let that program end what it does, or end its session: SELECT pg_terminate_backend(…)")
                }
                return try write(Self.doing, lock: .rows) { session in
                    try prove(session)
                    _ = try session.run("UPDATE probe SET written = written + 1")
                }
            } catch let error as StoreError where error.code == .busy && look < Self.looks.count {
                options.rest(Self.looks.pause)
            }
        }
    }

    /// - Throws: an error that names what is missing.
    private func prove(_ session: PostgresSession) throws {
        let lacking = try session.all(Self.lacking) { "\($0.text()) (\($0.text()))" }
        guard lacking.isEmpty else {
            let more = lacking.count > 5 ? ", and of \(lacking.count - 5) more" : ""
            throw StoreError(
                .failed,
                context: "\(Self.doing) failed: the relay's role has no right of "
                    + "\(lacking.prefix(5).joined(separator: ", "))\(more)",
                hint: "GRANT it what it had: it must own the schema \(schema.name) and all in it")
        }
        guard !tables.isEmpty else { return }
        // Takes the lock that writing a row takes on its table, without waiting.
        let names = tables.joined(separator: ", ")
        try session.connection.execute("LOCK TABLE \(names) IN ROW EXCLUSIVE MODE NOWAIT", until: session.deadline)
    }

    /// The tables that the relay writes to, as they are when the store is opened, so that a missing one is noticed
    /// later. The tables `node_gate_…` are left out: a relay that fences another one locks that relay's.
    static func tables(_ connection: PostgresConnection, until deadline: MonotonicTime) throws(PostgresFailure)
        -> [String]
    {
        let rows = try connection.runOnce(
            """
            SELECT quote_ident(c.relname) FROM pg_class AS c
            WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r' AND c.relname NOT LIKE 'node\\_gate\\_%'
            ORDER BY c.relname
            """, until: deadline)
        return rows.all { $0.text() }
    }

    /// The rights that the relay's role lacks. The owner of a table has all of them, unless they were revoked.
    private static let lacking: SQL = """
        SELECT 'table ' || c.relname, string_agg(r.name, ', ') FROM pg_class AS c,
            unnest(CASE c.relkind WHEN 'r' THEN ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] ELSE ARRAY['SELECT'] END) AS r (name)
        WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind IN ('r', 'v') AND NOT has_table_privilege(c.oid, r.name)
        GROUP BY c.relname
        UNION ALL
        SELECT 'function ' || p.proname, 'EXECUTE' FROM pg_proc AS p
        WHERE p.pronamespace = to_regnamespace(current_schema()) AND NOT has_function_privilege(p.oid, 'EXECUTE')
        ORDER BY 1
        """

    /// Locks of whole tables that keep a row from being written.
    private static let locks: SQL = """
        SELECT c.relname, l.mode, l.pid, coalesce(a.usename, ''), coalesce(a.application_name, '')
        FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
        WHERE l.locktype = 'relation' AND l.granted AND c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r'
            AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            AND c.relname NOT LIKE 'node\\_gate\\_%' AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        ORDER BY c.relname, l.pid LIMIT 5
        """

    private static func lock(_ row: inout Columns<PostgresRow>) -> String {
        let lock = "table \(row.text()) is locked (\(row.text())) by process \(row.integer()) of role"
        let (role, program) = (ServerText.line(row.text()), row.text())
        return "\(lock) \(role)\(program.isEmpty ? "" : ", \(ServerText.line(program))")"
    }
}
