// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import StoreSQL
import Threading

extension PostgresStore {
    /// The longest time for a whole transfer.
    private static let transferPatience = Duration.seconds(24 * 3600)
    /// Rows between two reports of progress.
    private static let stride = 8192

    /// Copies everything from another store, ids included, into an empty schema. Runs in one transaction: after an
    /// interruption the schema is as empty as before. The copy is checked before it is committed.
    ///
    /// - Parameters:
    ///   - source: a snapshot of a store of this release's schema version.
    ///   - progress: called now and then with the rows copied and all rows; false cancels.
    ///   - verify: called before the commit: throws where the source is not sound.
    /// - Returns: each table with its number of rows.
    /// - Throws: `StoreError`: `.refused` where the schema holds a store already.
    package func take(
        all source: some SQLConnection, progress: (Int64, Int64) -> Bool, verify: () throws -> Void = {}
    ) throws -> [(table: String, rows: Int64)] {
        let totals = try TransferredTable.all.map { try source.integer($0.count) ?? 0 }
        let total = totals.reduce(0, +)
        _ = progress(0, total)
        let deadline = MonotonicClock.now() + Self.transferPatience
        return try pool.write(.long, "taking another store's rows", until: deadline) { connection in
            let session = PostgresSession(connection: connection, deadline: deadline)
            // Without these timeouts: the locks are held for minutes, which harms nothing in an empty schema.
            try connection.execute(
                """
                SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
                SET LOCAL maintenance_work_mem = '256MB'
                """, until: deadline)
            // No relay joins during the transfer.
            try connection.execute("LOCK TABLE node IN EXCLUSIVE MODE", until: deadline)
            guard try !session.exists("SELECT 1 FROM node WHERE gone_at IS NULL AND alive_until > now_ms()") else {
                throw StoreError(
                    .busy, context: "a relay works on the schema \(schema.name) at \(pool.place)",
                    hint: "Stop it, or name another schema in store.postgres.schema")
            }
            for table in TransferredTable.all {
                try connection.execute("ALTER TABLE \(table.name) DISABLE TRIGGER USER", until: deadline)
                guard try !session.exists("SELECT 1 FROM \(table.name)") else { throw try occupied(session) }
            }
            // The indexes are rebuilt once, over all rows, which takes a fraction of the time.
            let indexes = try session.all(Self.indexes) { (drop: $0.text(), make: $0.text()) }
            for index in indexes { try connection.execute(index.drop, until: deadline) }
            // Rows of a table that this transaction has emptied are written as visible to all, so that they are never
            // written again (postgresql.org/docs, "COPY", FREEZE).
            let names = TransferredTable.all.map(\.name.text).joined(separator: ", ")
            try connection.execute("TRUNCATE \(names)", until: deadline)
            var done: Int64 = 0
            for (table, expected) in zip(TransferredTable.all, totals) {
                let columns = try table.columns(session)
                var transferred = TransferredRows(of: table.name.text, columns)
                let rows = try connection.copy(table.command(columns), until: deadline) { writer in
                    try source.rows(table.select(columns), values: [], atMost: .max) { row in
                        try writer.row(columns: Int16(columns.count)) { try transferred.write(row, to: &$0) }
                        done += 1
                        guard done % Int64(Self.stride) == 0, !progress(done, total) else { return }
                        throw StoreError(.failed, context: "the transfer was given up", hint: "Nothing was changed")
                    }
                }
                guard Int64(rows) == expected else {
                    throw StoreError(
                        .failed, context: "of \(expected) rows of \(table.name) \(rows) were taken: nothing was changed"
                    )
                }
            }
            for index in indexes { try connection.execute(index.make, until: deadline) }
            try goOnCounting(session)
            for table in TransferredTable.all {
                try connection.execute("ALTER TABLE \(table.name) ENABLE TRIGGER USER", until: deadline)
            }
            // The checks below read all rows of each table.
            try connection.execute(
                """
                ANALYZE \(names);
                SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_bitmapscan = on
                """, until: deadline)
            try examine(session)
            try verify()
            _ = progress(done, total)
            return zip(TransferredTable.all, totals).map { ($0.name.text, $1) }
        }
    }

    /// The error for a schema that holds a store. Its message begins with the content, since dropping that cannot be
    /// undone.
    private func occupied(_ session: PostgresSession) throws -> StoreError {
        let devices = try session.integer("SELECT count(*) FROM device WHERE removed_at IS NULL") ?? 0
        let campaigns = try session.integer("SELECT count(*) FROM campaign") ?? 0
        return StoreError(
            .refused,
            context: "the schema \(schema.name) at \(pool.place) holds a store already, with \(devices) devices and "
                + "\(campaigns) campaigns",
            hint:
                "Name another one in store.postgres.schema. Only if that store is of no use to anybody any more, and after a "
                + "pg_dump of it, may its owner drop it, with every device, campaign and history in it and with no way back: "
                + "DROP SCHEMA \(schema.name) CASCADE")
    }

    /// The statements that drop and rebuild each index, including primary keys that no foreign key refers to.
    private static let indexes: SQL = """
        SELECT format('DROP INDEX %I', c.relname), pg_get_indexdef(i.indexrelid) FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisprimary
            AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
        UNION ALL
        SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, k.conname),
            format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid))
        FROM pg_constraint AS k JOIN pg_class AS t ON t.oid = k.conrelid
        WHERE k.connamespace = current_schema()::regnamespace AND k.contype = 'p'
            AND NOT EXISTS (SELECT FROM pg_constraint AS f WHERE f.contype = 'f' AND f.confrelid = k.conrelid)
        """

    /// Sets each id sequence to continue after the table's highest id.
    private func goOnCounting(_ session: PostgresSession) throws {
        let sequences = try session.all(
            """
            SELECT c.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            WHERE c.relnamespace = current_schema()::regnamespace AND a.attidentity <> '' AND c.relname <> 'release'
            """
        ) { (table: $0.text(), column: $0.text()) }
        for sequence in sequences {
            try session.connection.execute(
                """
                SELECT setval(pg_get_serial_sequence('\(sequence.table)', '\(sequence.column)'),
                    coalesce(max(\(sequence.column)), 0) + 1, false) FROM \(sequence.table)
                """, until: session.deadline)
        }
    }

    private func examine(_ session: PostgresSession) throws {
        var examination = StoreExamination(connection: session)
        for step in StoreExamination<PostgresSession>.ofRows { try examination.run(step) }
        guard let fault = examination.faults.first else { return }
        throw StoreError(
            .failed, context: "what was taken is not sound: \(fault.check): \(fault.detail)",
            hint: "Nothing was changed")
    }
}
