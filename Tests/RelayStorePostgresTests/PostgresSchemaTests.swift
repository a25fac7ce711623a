// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StorePeers
import TestPeers
import Testing
import Threading
import UpgradeRules

@testable import RelayStorePostgres

@Suite(
    "The schema in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresSchemaTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    private static func schema(_ release: String = "1.0", chain: [PostgresMigration] = PostgresMigration.chain)
        -> PostgresSchema
    {
        PostgresSchema(name: "upgrade_relay", release: release, chain: chain)
    }

    private static func grow(_ connection: PostgresConnection, _ schema: PostgresSchema = schema()) throws {
        try schema.grow(connection, at: now, until: .soon)
    }

    private static let newest = schema().newest

    private static let more = PostgresMigration(
        name: "more", toVersion: newest + 1, sql: "CREATE TABLE more (id bigint); INSERT INTO more VALUES (1)")

    @Test func itIsMadeOnce() throws {
        let connection = try TestDatabase().connect()
        // An empty schema that an owner has made for the role is as good as none.
        try Self.grow(connection)
        try Self.grow(connection)
        #expect(
            try connection.value("SELECT string_agg(version || ' ' || name, ',' ORDER BY version) FROM migration")
                == "21 the first schema,22 moments and systems in the history,23 what the app stores said,"
                + "24 dead tokens in their order, events of apps,25 versions seen lately,26 who wants a campaign at any hour,"
                + "27 messages in several languages,28 countries of devices,29 who did what, sessions of browsers,30 several relays,"
                + "31 what strangers may do,32 which store it is and how far,33 which of a wave's pushes are tried again,"
                + "34 events of campaigns, by the relay,"
                + "35 channels of devices,36 answers by channel,37 channels as a range,38 one index of channels,"
                + "39 sessions of people whom a proxy signs in,40 requests for a second person,41 counts over time"
        )
        #expect(
            try connection.value("SELECT string_agg(name || ' ' || schema_version, ',') FROM release")
                == "1.0 \(Self.newest)")
        try Self.grow(connection, Self.schema("1.1"))
        #expect(try connection.value("SELECT string_agg(name, ',' ORDER BY id) FROM release") == "1.0,1.1")
        // The session's settings are unchanged.
        #expect(try connection.value("SHOW search_path") == "upgrade_relay")
        #expect(try connection.value("SHOW lock_timeout") == "5s")
    }

    @Test func aSchemaOfAnyNameIsMadeWhereThereIsNone() throws {
        let connection = try TestDatabase().connect()
        try PostgresSchema(name: "elsewhere", release: "1.0").grow(connection, at: Self.now, until: .soon)
        #expect(try connection.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'upgrade_relay'") == "0")
        // A writer may have any search_path, and any tables of its own in front.
        try connection.execute(
            """
            SET search_path = public; CREATE TEMP TABLE requirement (id int); CREATE TABLE public.version_now (id int);
            INSERT INTO elsewhere.version (app, platform, required) VALUES ('a', 'ios', '2')
            """, until: .soon)
        #expect(try connection.value("SELECT version FROM elsewhere.requirement") == "2")
    }

    @Test func aStepIsDoneOnceAndWhatItKnowsStays() throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        let chain = PostgresMigration.chain + [Self.more]
        try Self.grow(connection, Self.schema("2.0", chain: chain))
        try Self.grow(connection, Self.schema("2.0", chain: chain))
        #expect(try connection.value("SELECT count(*) FROM more") == "1")
        #expect(
            try connection.value("SELECT string_agg(name || ' ' || schema_version, ',' ORDER BY id) FROM release")
                == "1.0 \(Self.newest),2.0 \(Self.newest + 1)")
        // The earlier release goes on beside it, until a step forbids that.
        try Self.grow(connection)
        try connection.execute("UPDATE store_schema SET oldest = \(Self.newest + 1)", until: .soon)
        let error = try #require(throws: StoreError.self) { try Self.grow(connection) }
        #expect(error.code == .tooNew)
        #expect(
            error.context.contains(
                "of version \(Self.newest + 1), for releases that know version \(Self.newest + 1); this one knows versions up to "
                    + "\(Self.newest)")
        )
        #expect(try connection.value("SELECT count(*) FROM release") == "3", "nothing was noted")
        try Self.grow(connection, Self.schema("2.0", chain: chain))
    }

    @Test func aStepThatFailsLeavesNothing() throws {
        let connection = try TestDatabase().connect()
        let broken = PostgresMigration(
            name: "broken", toVersion: Self.newest + 1, sql: "CREATE TABLE more (id bigint); SELECT 1 / 0")
        let failure = #expect(throws: PostgresFailure.self) {
            try Self.grow(connection, Self.schema(chain: PostgresMigration.chain + [broken]))
        }
        #expect(failure?.state == "22012")
        #expect(try connection.value("SELECT max(version) FROM migration") == "\(Self.newest)")
        #expect(try connection.value("SELECT to_regclass('more') IS NULL") == "t")
        try Self.grow(connection, Self.schema(chain: PostgresMigration.chain + [Self.more]))
        #expect(try connection.value("SELECT count(*) FROM more") == "1")
    }

    @Test func fourAtOnceMakeItOnce() throws {
        let database = try TestDatabase()
        let failures = Watched<[String]>([])
        let threads = try (0..<4).map { index in
            let connection = try database.connect()
            return try NativeThread(name: "relay \(index)") {
                do {
                    try Self.grow(connection, Self.schema(chain: PostgresMigration.chain + [Self.more]))
                } catch {
                    failures.change { $0.append("\(error)") }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.now.isEmpty, "\(failures.now)")
        let connection = try database.connect()
        #expect(try connection.value("SELECT count(*) FROM migration") == "\(PostgresMigration.chain.count + 1)")
        #expect(try connection.value("SELECT count(*) FROM release") == "1")
        #expect(try connection.value("SELECT count(*) FROM more") == "1")
    }

    @Test func whoHoldsTheLockIsWaitedForShortly() throws {
        let database = try TestDatabase()
        let (holder, other) = (try database.connect(), try database.connect())
        try Self.grow(holder)
        try holder.execute("BEGIN; SELECT FROM store_schema FOR UPDATE", until: .soon)
        let failure = #expect(throws: PostgresFailure.self) { try Self.grow(other) }
        #expect(failure?.state == "55P03")
        #expect(failure?.storeError(doing: "opening the store", place: "").code == .busy)
        holder.rollBack()
        try Self.grow(other)
    }

    @Test func anotherProgramsSchemaIsLeftAlone() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("CREATE TABLE invoices (id bigint)", until: .soon)
        let error = try #require(throws: StoreError.self) { try Self.grow(connection) }
        #expect(error.context == "the schema upgrade_relay holds tables of another program")
        #expect(try connection.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'upgrade_relay'") == "1")
    }

    /// SQLite's tables and columns, except those that several sessions cannot have, or that are kept in another way.
    @Test func tablesAndColumnsAreThoseOfSQLite() throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        let rows = try connection.execute(
            """
            SELECT table_name || '.' || column_name FROM information_schema.columns
            WHERE table_schema = 'upgrade_relay' ORDER BY 1
            """, until: .soon)
        let here = Set((0..<rows.count).map { rows.text($0, 0) })
        let there = try SQLiteOutsideWriter().columns()
        func tables(_ names: Set<String>) -> Set<Substring> { Set(names.map { $0.prefix { $0 != "." } }) }
        #expect(
            tables(here).subtracting(tables(there)) == [
                "app_lock", "app_tally", "campaign_tally", "erased_device", "store_schema", "version_tally",
            ])
        #expect(tables(there).subtracting(tables(here)) == [])
        let both = tables(there).intersection(tables(here))
        func other(_ one: Set<String>, _ two: Set<String>) -> [String] {
            one.subtracting(two).filter { both.contains($0.prefix { $0 != "." }) }.sorted()
        }
        #expect(
            other(here, there) == [
                "device.digest", "former_telephone.app_id", "node.gate", "store_identity.decisions",
                "store_identity.transaction", "version_now.revision",
            ])
        let counts = ["told", "upgraded", "upgraded_both", "upgraded_early", "upgraded_login", "upgraded_push"]
        #expect(
            other(there, here) == ["app.devices"] + counts.map { "campaign.\($0)" }
                + ["device.token_hash"])
    }

    /// A table that is added later must be judged (`DecidingTables`).
    @Test func eachTableDecidesOrDoesNot() throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        func names(_ query: String) throws -> Set<String> {
            let rows = try connection.execute(query, until: .soon)
            return Set((0..<rows.count).map { rows.text($0, 0) })
        }
        let tables = try names("SELECT tablename FROM pg_tables WHERE schemaname = 'upgrade_relay'")
        #expect(tables.subtracting(DecidingTables.all).subtracting(DecidingTables.others.keys) == [])
        #expect(
            try names(
                "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgfoid = 'decided'::regproc AND tgdeferrable")
                == DecidingTables.all)
    }

    @Test func keysSortAsVersionsDo() throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        let texts = [
            "0", "0.0", "00", "0.0.1", "1", "1.0", "01.00.0", "1.9", "1.10", "2.0.0.1", "10.0", "100.0", "7.010",
            "999999999999999999.1", "00999999999999999999.0",
        ]
        for text in texts {
            #expect(try connection.value("SELECT version_key('\(text)')") == Version(text).sortKey, "\(text)")
        }
    }

    // MARK: Rules that only PostgreSQL can break

    @Test(
        "Nothing empties the history",
        arguments: [
            "TRUNCATE version", "TRUNCATE requirement CASCADE", "TRUNCATE requirement_event",
            "DELETE FROM requirement_event",
            "UPDATE requirement_event SET state = 'withdrawn'", "DELETE FROM requirement", "DELETE FROM version",
        ])
    func kept(sql: String) throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        try connection.execute("INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2')", until: .soon)
        let failure = #expect(throws: PostgresFailure.self) { try connection.execute(sql, until: .soon).count }
        #expect(failure?.state == "23514")
        #expect(try connection.value("SELECT count(*) FROM requirement_event") == "1")
    }

    @Test(
        "Nothing empties the audit trail, but for what was said to be old",
        arguments: ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit", "TRUNCATE audit"])
    func auditIsKept(sql: String) throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        try connection.execute(
            "INSERT INTO audit (at, actor, actor_kind, via, action) VALUES (5, 'ann', 'token', 'api', 'relay.reload')",
            until: .soon)
        for horizon in ["", "INSERT INTO audit_horizon VALUES (1, 5)"] {
            if !horizon.isEmpty { try connection.execute(horizon, until: .soon) }
            let failure = #expect(throws: PostgresFailure.self) { try connection.execute(sql, until: .soon).count }
            #expect(failure?.state == "23514")
        }
        try connection.execute("UPDATE audit_horizon SET at = 6; DELETE FROM audit", until: .soon)
        #expect(try connection.value("SELECT count(*) FROM audit") == "0")
    }

    @Test func aRoleThatMayWriteVersionsAloneNeedsNoMore() throws {
        let database = try TestDatabase()
        let owner = try database.connect()
        try Self.grow(owner)
        let role = "\(database.name)_erp"
        try owner.execute(
            """
            CREATE ROLE \(role) LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA upgrade_relay TO \(role);
            GRANT SELECT, INSERT, UPDATE ON version TO \(role)
            """, until: .soon)
        let outsider = try TestDatabase.dialer(
            database.server.conninfo(database: database.name, user: role), password: "x"
        ).dial(.requests, until: .soon)
        try outsider.execute(
            "INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2'); UPDATE version SET required = '2.1'",
            until: .soon)
        #expect(try owner.value("SELECT count(*) FROM requirement WHERE state = 'asked'") == "2")
        let failure = #expect(throws: PostgresFailure.self) {
            try outsider.execute("UPDATE requirement SET state = 'withdrawn'", until: .soon).count
        }
        #expect(failure?.state == "42501")
    }

    @Test func twoThatRaiseAtOnceAreOneAfterTheOther() throws {
        let database = try TestDatabase()
        try Self.grow(database.connect())
        try database.connect().execute(
            "INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '1')", until: .soon)
        let failures = Watched<[String]>([])
        // Four other programs, and the relay, which takes the app's lock first.
        let threads = try (0..<5).map { index in
            let connection = try database.connect()
            return try NativeThread(name: "writer \(index)") {
                for number in 1...40 {
                    let version = "1.\(number).\(index)"
                    do {
                        if index < 4 {
                            try connection.execute("UPDATE version SET required = '\(version)'", until: .soon)
                        } else {
                            try connection.transaction(until: .soon) { connection in
                                try connection.execute("SELECT lock_app('a', 'ios')", until: .soon)
                                try connection.execute(
                                    """
                                    INSERT INTO requirement (app, platform, kind, version, version_key, state, reach, gated,
                                            released, asked_at, changed_by, changed_via, changed_at)
                                        SELECT 'a', 'ios', 'required', '\(version)', version_key('\(version)'), 'asked', 10000,
                                            0, 0, 1, 'relay', 'api', 1
                                        WHERE version_key('\(version)') > (SELECT required_key FROM version_now)
                                    """, until: .soon)
                            }
                        }
                    } catch let failure as PostgresFailure where failure.state == "23514" {
                        // Another writer has raised it further already.
                    } catch {
                        failures.change { $0.append("\(error)") }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.now.isEmpty, "\(failures.now)")
        let connection = try database.connect()
        #expect(
            try connection.value(
                """
                SELECT bool_and(version_key > coalesce(p, '')) FROM
                    (SELECT version_key, lag(version_key) OVER (ORDER BY id) AS p FROM requirement) AS r
                """) == "t")
        #expect(
            try connection.value(
                "SELECT v.required = n.required AND v.revision = n.revision FROM version v, version_now n") == "t")
        #expect(try connection.value("SELECT required FROM version").hasPrefix("1.40."))
    }

    // MARK: Campaigns' events

    @Test func anEventIsAddressedToWhomItConcerns() throws {
        let connection = try TestDatabase().connect()
        try Self.grow(connection)
        try connection.execute(
            """
            INSERT INTO app (id, name, platform) VALUES (1, 'a', 'ios');
            INSERT INTO receiver (id, url, states) VALUES (1, 'https://one', '["running","cancelled"]'), (2, 'https://two', '["completed"]');
            INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2');
            INSERT INTO campaign (public_id, app_id, requirement_id, required, download_url, time_to_live, state, created_at, expires_at)
                SELECT '0123456789ab', 1, id, '2', 'https://apps', 1, 'running', 5, 9 FROM requirement;
            INSERT INTO campaign_event (campaign_id, at, state, expires_at, pending, accepted, retrying, rejected, unregistered, expired,
                    filtered, cancelled, upgraded, reasons)
                SELECT c.id, 5, s.state, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, '[]' FROM campaign AS c,
                    unnest(ARRAY['running', 'cancelled', 'running waveDone']) WITH ORDINALITY AS s (state, number) ORDER BY s.number;
            """, until: .soon)
        #expect(
            try connection.value("SELECT string_agg(url || ' ' || event_id, ',' ORDER BY id) FROM notification")
                == "https://one 1,https://one 2")
    }

    @Test func whatChangesIsTold() throws {
        let database = try TestDatabase()
        let (listener, writer) = (try database.connect(.control), try database.connect())
        try Self.grow(writer)
        try listener.execute("LISTEN upgrade_relay", until: .soon)
        try writer.execute("INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2')", until: .soon)
        var heard: Set<String> = []
        while heard.count < 2 { heard.formUnion(try listener.notifications(until: .soon).map(\.payload)) }
        #expect(heard == ["upgrade_relay requirement", "upgrade_relay version"])
    }
}
