// SPDX-License-Identifier: Apache-2.0
package import FaultInjection
package import PrivatePostgres
package import RelayEngine
import RelayStore
import RelayStorePostgres
import Requirements
import Synchronization
package import TestStores
import UpgradeRules

/// A database of a private server. Triggers of the simulation's own, in a schema of their own, count the attempts to write and refuse them
/// when a fault is armed; the schema's clock is the simulation's. Settings and counts are sequences: no transaction takes them back.
///
/// A commit whose answer is lost is not simulated: a failure always comes before the commit.
///
/// Unchecked: only the world's thread uses it.
package final class PostgresStorage: SimulatedStorage, @unchecked Sendable {
    private static let count = Atomic(0)

    private let settings: PostgresSettings
    /// Sessions beside the relay's, for the simulation itself and for the other program.
    private let admin: PostgresStore
    private var time: (wanted: Timestamp?, set: Timestamp?) = (nil, nil)

    package init(on server: PostgresServer) throws {
        let name = "simulation_\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        try server.run("\"$1/createdb\" -h \(server.folder) -p \(server.port) -U \(PostgresServer.superuser) \(name)")
        settings = try PostgresSettings(url: server.conninfo(database: name), library: .load())
        var options = PostgresStore.Options()
        options.isTrial = true
        admin = try PostgresStore(settings, release: "simulation", options: options)
        try admin.administer(Self.installation)
    }

    deinit { admin.close() }

    package let name = "postgres"
    package let makesBackups = false

    package func clear() throws {
        disarm()
        try admin.administer("SELECT simulated.clear()")
    }

    package func open(_ setting: SimulatedSetting) throws -> any TestStore {
        tellTime()
        return try openSimulatedStore(settings, release: "simulation", setting.entering { [self] in tellTime() })
    }

    package func copy(to number: Int) throws { try admin.administer("SELECT simulated.copy(\(number))") }

    /// Also ends the relay's sessions: they belong to the server before this.
    package func putBack(from number: Int) throws {
        try admin.administer("SELECT simulated.put_back(\(number))")
        ask(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    package func otherProgram() throws -> any OtherProgram { PostgresProgram(storage: self) }

    fileprivate func write(_ statement: String) throws {
        tellTime()
        try admin.administer(statement)
    }

    package func set(time: Timestamp?) { self.time.wanted = time }

    /// Sets the schema's clock only when it is needed: the simulation's clock moves far more often than the store asks for the time.
    private func tellTime() {
        guard time.wanted != time.set else { return }
        ask("SELECT setval('simulated.now', \(time.wanted?.milliseconds ?? 0))")
        time.set = time.wanted
    }

    @discardableResult
    private func ask(_ query: String) -> Int {
        do {
            return try Int(admin.inspect(query).first?.first ?? "") ?? 0
        } catch {
            fatalError("the simulation's own session: \(error)")
        }
    }

    // MARK: Faults

    package func arm(_ kind: StoreFaults.Kind, first: Int) {
        // The errors of PostgreSQL for a full disk, for locks that other sessions hold, and for a disk that does not write.
        let code =
            switch kind {
            case .full: 1
            case .readOnly, .busy: 2
            default: 3
            }
        ask(
            """
            SELECT setval('simulated.failure', 1), setval('simulated.kind', \(code)),
                setval('simulated.first', last_value + \(first)) FROM simulated.write
            """)
    }

    package func disarm() { ask("SELECT setval('simulated.first', 0), setval('simulated.failure', 1)") }

    package var failures: Int { ask("SELECT last_value - 1 FROM simulated.failure") }

    package var writes: Int { ask("SELECT last_value FROM simulated.write") }

    package var registryChanges: Int64? { nil }
    package func changes() -> [Int64]? { nil }

    /// Every column of the store that may hold a text.
    private var textColumns: [(table: String, column: String, isBytes: Bool)] = []

    package func places(of text: String, _ store: any TestStore) throws -> String {
        if textColumns.isEmpty {
            textColumns = try store.inspect(
                """
                SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns AS c
                JOIN information_schema.tables AS t USING (table_schema, table_name)
                WHERE c.table_schema = 'upgrade_relay' AND t.table_type = 'BASE TABLE'
                    AND c.data_type IN ('text', 'bytea', 'json', 'jsonb', 'ARRAY', 'character varying') ORDER BY 1, 2
                """
            ).map { ($0[0], $0[1], $0[2] == "bytea") }
        }
        return textColumns.map { table, column, isBytes in
            let place =
                isBytes
                ? "position(convert_to('\(text)', 'UTF8') IN \(column))" : "position('\(text)' IN \(column)::text)"
            return "SELECT '\(table).\(column)' WHERE EXISTS (SELECT FROM \(table) WHERE \(place) > 0)"
        }.joined(separator: " UNION ALL ")
    }

    package func plain(_ text: String) -> String { text.replacing(settings.conninfo.place, with: "the store") }

    private static let installation = """
        CREATE SCHEMA simulated;
        CREATE SEQUENCE simulated.now MINVALUE 0;
        CREATE SEQUENCE simulated.write;
        CREATE SEQUENCE simulated.failure;
        CREATE SEQUENCE simulated.kind;
        CREATE SEQUENCE simulated.first MINVALUE 0;
        CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
            'SELECT CASE last_value WHEN 0 THEN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint ELSE last_value END
             FROM simulated.now';
        CREATE FUNCTION simulated.note() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            number bigint := nextval('simulated.write');
            armed bigint := (SELECT last_value FROM simulated.first);
        BEGIN
            IF armed > 0 AND number >= armed THEN
                PERFORM nextval('simulated.failure');
                RAISE EXCEPTION 'the simulated disk fails' USING ERRCODE =
                    (SELECT CASE last_value WHEN 1 THEN '53100' WHEN 2 THEN '55P03' ELSE '58030' END FROM simulated.kind);
            END IF;
            RETURN NULL;
        END $$;
        CREATE TABLE simulated.place AS
            SELECT c.oid::regclass AS name, row_number() OVER () AS number, false AS begins
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'upgrade_relay' AND c.relkind IN ('r', 'p') AND NOT c.relispartition;
        DO $$
        DECLARE entry record; is_filled boolean;
        BEGIN
            FOR entry IN SELECT * FROM simulated.place LOOP
                EXECUTE format('SELECT EXISTS (SELECT FROM %s)', entry.name) INTO is_filled;
                IF is_filled THEN
                    UPDATE simulated.place SET begins = true WHERE number = entry.number;
                    EXECUTE format('CREATE TABLE simulated.beginning_%s AS TABLE %s', entry.number, entry.name);
                END IF;
                EXECUTE format('CREATE TRIGGER simulated BEFORE INSERT OR UPDATE OR DELETE ON %s '
                    'FOR EACH STATEMENT EXECUTE FUNCTION simulated.note()', entry.name);
            END LOOP;
        END $$;
        CREATE FUNCTION simulated.copy(slot bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE entry record;
        BEGIN
            FOR entry IN SELECT * FROM simulated.place LOOP
                EXECUTE format('DROP TABLE IF EXISTS simulated.copy_%s_%s', slot, entry.number);
                EXECUTE format('CREATE TABLE simulated.copy_%s_%s AS TABLE %s', slot, entry.number, entry.name);
            END LOOP;
        END $$;
        CREATE FUNCTION simulated.put_back(slot bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE entry record;
        BEGIN
            SET LOCAL session_replication_role = replica;
            EXECUTE (SELECT 'TRUNCATE ' || string_agg(name::text, ', ') FROM simulated.place);
            FOR entry IN SELECT * FROM simulated.place LOOP
                EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE TABLE simulated.copy_%s_%s', entry.name, slot,
                    entry.number);
            END LOOP;
        END $$;
        CREATE FUNCTION simulated.clear() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE entry record;
        BEGIN
            SET LOCAL session_replication_role = replica;
            EXECUTE (SELECT 'TRUNCATE ' || string_agg(name::text, ', ') || ' RESTART IDENTITY' FROM simulated.place);
            FOR entry IN SELECT * FROM simulated.place WHERE begins LOOP
                EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE TABLE simulated.beginning_%s', entry.name, entry.number);
            END LOOP;
        END $$
        """
}

/// Another program's statements, in a session of its own.
private final class PostgresProgram: OtherProgram {
    private let storage: PostgresStorage

    init(storage: PostgresStorage) { self.storage = storage }

    func require(_ version: String, of app: AppKey) throws {
        try storage.write(
            """
            INSERT INTO version (app, platform, required) VALUES ('\(app.app)', '\(app.platform.rawValue)', '\(version)')
            ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required,
                telephones = CASE WHEN excluded.required = version.required THEN version.telephones END
            """)
    }

    func deleteDevice(_ id: Int64) throws { try storage.write("DELETE FROM device WHERE id = \(id)") }

    func own(_ campaign: Int64, _ isOwned: Bool) throws {
        try storage.write(
            "UPDATE campaign_run SET owner = \(isOwned ? "9999" : "NULL"), epoch = epoch + 1 WHERE campaign_id = \(campaign)"
        )
    }
}
