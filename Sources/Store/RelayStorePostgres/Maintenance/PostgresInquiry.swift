// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import StoreSQL
import Telemetry
import Threading

/// Asks a server whether it suits the relay, and what other roles may do there. Writes nothing, makes no schema.
package struct PostgresInquiry {
    private let settings: PostgresSettings
    private static let patience = Duration.seconds(8)

    package init(_ settings: PostgresSettings) { self.settings = settings }

    /// The server's answers, failures included. Blocks for 8 s at most, but longer if a name look-up takes longer.
    package func run() -> [StoreAnswer] {
        let pool = PostgresPool(settings, log: .discarding)
        defer { pool.close() }
        let deadline = MonotonicClock.now() + Self.patience
        do {
            let faults = try pool.faults(schema: settings.schema, connections: settings.connections, until: deadline)
            let rights = try pool.use(.requests, "asking what others may do", isReadOnly: true, until: deadline) {
                try Self.rights($0, settings.schema, until: deadline)
            }
            let greeting = faults.contains { $0.consequence == .refuse } ? [] : [try greeting(pool, until: deadline)]
            return greeting + faults.map { StoreAnswer(.failed, $0.context, remedy: $0.hint) } + rights
        } catch let error as StoreError {
            return [StoreAnswer(.failed, error.context, remedy: error.hint)]
        } catch {
            return [StoreAnswer(.failed, "\(error)")]
        }
    }

    private func greeting(_ pool: PostgresPool, until deadline: MonotonicTime) throws -> StoreAnswer {
        try pool.use(.requests, "asking for the server's version", isReadOnly: true, until: deadline) { connection in
            let rows = try connection.runOnce(
                """
                SELECT session_user::text, coalesce((SELECT s.version FROM pg_stat_ssl AS s WHERE s.pid = pg_backend_pid()), ''),
                    to_regnamespace($1) IS NOT NULL
                """, until: deadline
            ) { $0.add(settings.schema) }
            let found = rows.first { ($0.text(), $0.text(), $0.bool()) }
            let (role, encryption, isThere) = found ?? ("", "", false)
            let version = connection.serverVersion
            let way = encryption.isEmpty ? "without TLS" : "by \(ServerText.line(encryption))"
            return StoreAnswer(
                .good,
                "\(pool.place) is PostgreSQL \(version / 10_000).\(version % 10_000), role \(ServerText.line(role)), \(way); "
                    + (isThere
                        ? "schema \(settings.schema) is there" : "schema \(settings.schema) is made at the first start")
            )
        }
    }

    /// The rights of other roles in the database and the schema, as far as the relay's role can see them.
    static func rights(
        _ connection: PostgresConnection, _ schema: String, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> [StoreAnswer] {
        func rows(_ query: String) throws(PostgresFailure) -> [[String]] {
            let rows = try connection.execute(query, until: deadline)
            return (0..<rows.count).map { row in
                (0..<rows.columnCount).map { ServerText.line(rows.optionalText(row, $0) ?? "") }
            }
        }
        var answers: [StoreAnswer] = []
        for row in try rows(
            """
            SELECT quote_ident(d.datname), string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type)
            FROM pg_database AS d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a
            WHERE d.datname = current_database() AND a.grantee = 0 GROUP BY 1
            """)
        {
            answers.append(
                StoreAnswer(
                    .limited, "every login of the server may use database \(row[0]): PUBLIC has \(row[1])",
                    remedy: "REVOKE ALL ON DATABASE \(row[0]) FROM PUBLIC, and GRANT CONNECT to each role that needs it"
                ))
        }
        // The list is empty where there is no schema yet.
        let open = try rows(
            """
            SELECT r.thing, r.rights, pg_has_role(r.owner, 'USAGE') FROM (\(PublicRights.list)) AS r ORDER BY r.rank, r.thing
            """)
        if !open.isEmpty {
            let foreign = open.filter { $0[2] != "t" }
            let some = (foreign.isEmpty ? open : foreign).prefix(3).map { "\($0[0]) (\($0[1]))" }.joined(
                separator: ", ")
            answers.append(
                StoreAnswer(
                    .limited,
                    "PUBLIC has rights of \(open.count) things in schema \(schema), such as \(some)",
                    remedy: foreign.isEmpty
                        ? "the relay takes them away when it starts"
                        : "REVOKE ALL ON … FROM PUBLIC, by their owner: they are not the relay's to take away"))
        }
        for row in try rows(
            """
            SELECT coalesce(quote_ident(g.rolname), 'PUBLIC'), count(*), min(t.thing || ' (' || t.rights || ')') FROM (
                SELECT a.grantee, 1 AS rank, 'SCHEMA ' || quote_ident(n.nspname) AS thing, string_agg(a.privilege_type, ', ') AS rights
                FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
                WHERE n.nspname = current_schema() AND a.grantee NOT IN (0, n.nspowner) AND a.privilege_type = 'CREATE' GROUP BY 1, 2, 3
                UNION ALL
                SELECT a.grantee, 2, 'TABLE ' || c.oid::regclass::text, string_agg(a.privilege_type, ', ')
                FROM pg_class AS c, aclexplode(c.relacl) AS a
                WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind IN ('r', 'v', 'S')
                    AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type NOT IN ('SELECT')
                    AND NOT (c.relname = 'version' AND a.privilege_type IN ('INSERT', 'UPDATE')) GROUP BY 1, 2, 3
                UNION ALL
                SELECT a.grantee, 3, 'FUNCTION ' || p.oid::regprocedure::text, string_agg(a.privilege_type, ', ')
                FROM pg_proc AS p, aclexplode(p.proacl) AS a
                WHERE p.pronamespace = to_regnamespace(current_schema()) AND a.grantee NOT IN (0, p.proowner) GROUP BY 1, 2, 3) AS t
            LEFT JOIN pg_roles AS g ON g.oid = t.grantee
            WHERE t.grantee <> (SELECT oid FROM pg_roles WHERE rolname = session_user) GROUP BY 1 ORDER BY 1
            """)
        {
            answers.append(
                StoreAnswer(
                    .limited,
                    "role \(row[0]) may do more in schema \(schema) than read and write versions: \(row[2])"
                        + (row[1] == "1" ? "" : ", and so with \(row[1]) things"),
                    remedy:
                        "what another program needs is USAGE on the schema and SELECT, INSERT, UPDATE on its table version: "
                        + "REVOKE the rest"))
        }
        return answers
    }
}
