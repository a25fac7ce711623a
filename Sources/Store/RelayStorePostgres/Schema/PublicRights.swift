// SPDX-License-Identifier: Apache-2.0

/// The rights of every login of the server in the schema: none. PostgreSQL gives PUBLIC the right to execute each new
/// function and to use each new type, and an owner may have given more.
enum PublicRights {
    /// Every right of PUBLIC in the schema that is first in search_path, one row for each object: its name for REVOKE, its
    /// owner, and the rights. A list that is NULL means the defaults (postgresql.org/docs, "Privileges").
    static let list = """
        SELECT 1 AS rank, format('SCHEMA %I', n.nspname) AS thing, n.nspowner AS owner, string_agg(a.privilege_type, ', ') AS rights
        FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
        WHERE n.nspname = current_schema() AND a.grantee = 0 GROUP BY 1, 2, 3
        UNION ALL
        SELECT 2, format('%s %s', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass), c.relowner,
            string_agg(DISTINCT a.privilege_type, ', ')
        FROM pg_class AS c, LATERAL (
            SELECT * FROM aclexplode(c.relacl) UNION ALL
            SELECT e.* FROM pg_attribute AS t, aclexplode(t.attacl) AS e WHERE t.attrelid = c.oid) AS a
        WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND a.grantee = 0
        GROUP BY 1, 2, 3
        UNION ALL
        SELECT 3, format('ROUTINE %s', p.oid::regprocedure), p.proowner, string_agg(a.privilege_type, ', ')
        FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE p.pronamespace = to_regnamespace(current_schema()) AND a.grantee = 0 GROUP BY 1, 2, 3
        UNION ALL
        SELECT 4, format('TYPE %s', t.oid::regtype), t.typowner, string_agg(a.privilege_type, ', ')
        FROM pg_type AS t, aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) AS a
        WHERE t.typnamespace = to_regnamespace(current_schema()) AND t.typcategory <> 'A' AND a.grantee = 0 GROUP BY 1, 2, 3
        """

    /// Withdraws all of these rights that this role can withdraw. Writes nothing where there are none.
    static let withdrawal = """
        DO $$
        DECLARE
            thing text;
        BEGIN
            FOR thing IN SELECT r.thing FROM (\(list)) AS r WHERE pg_has_role(r.owner, 'USAGE') LOOP
                EXECUTE 'REVOKE ALL ON ' || thing || ' FROM PUBLIC';
            END LOOP;
        END $$
        """
}
