// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import Testing
import Threading

@testable import RelayStorePostgres

@Suite(
    "A session with a real server", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresConnectionTests {
    private struct Unwanted: Error {}

    // MARK: Values

    private static let echo = PostgresStatement("SELECT $1, $2, $3, $4, $5", isReadOnly: true)

    @Test func valuesComeBackAsTheyWere() throws {
        let connection = try TestDatabase().connect()
        let rows = try connection.run(Self.echo, until: .soon) { values in
            values.add(true)
            values.add(Int32(-7))
            values.add(Int64.min)
            values.add("Größe 量")
            values.add([0, 255, 92, 39] as [UInt8])
        }
        #expect(rows.count == 1)
        #expect(rows.bool(0, 0) == true)
        #expect(rows.integer(0, 1) == -7)
        #expect(rows.integer(0, 2) == .min)
        #expect(rows.text(0, 3) == "Größe 量")
        #expect(rows.bytes(0, 4) == [0, 255, 92, 39])
        #expect(rows.isNull(0, 0) == false)
    }

    @Test func nothingIsNotTheSameAsEmpty() throws {
        let connection = try TestDatabase().connect()
        var rows = try connection.run(Self.echo, until: .soon) { values in
            values.add(nil as Bool?)
            values.add(nil as Int32?)
            values.add(nil as Int64?)
            values.add(nil as String?)
            values.add(nil as [UInt8]?)
        }
        for column in 0..<5 { #expect(rows.isNull(0, column) == true) }
        #expect(rows.optionalInteger(0, 2) == nil)
        #expect(rows.optionalText(0, 3) == nil)
        var arena: [UInt8] = [1]
        #expect(rows.append(0, 4, to: &arena) == .absent)
        rows = try connection.run(Self.echo, until: .soon) { values in
            values.add(false)
            values.add(Int32(0))
            values.add(Int64(0))
            values.add("")
            values.add([] as [UInt8])
        }
        for column in 0..<5 { #expect(rows.isNull(0, column) == false) }
        #expect(rows.optionalText(0, 3) == "")
        #expect(rows.append(0, 4, to: &arena) == ByteSlice(offset: 1, length: 0))
    }

    private static let unnest = PostgresStatement(
        "SELECT * FROM unnest($1, $2, $3) AS u(number, words, bytes) ORDER BY number", isReadOnly: true)

    @Test func arraysAreTables() throws {
        let connection = try TestDatabase().connect()
        let rows = try connection.run(Self.unnest, until: .soon) { values in
            values.add([1, 2, 3] as [Int64])
            values.add(["a", nil, ""] as [String?])
            values.add([[1], [], nil] as [[UInt8]?])
        }
        #expect((0..<3).map { rows.integer($0, 0) } == [1, 2, 3])
        #expect((0..<3).map { rows.optionalText($0, 1) } == ["a", nil, ""])
        #expect((0..<3).map { rows.isNull($0, 2) } == [false, false, true])
        #expect(rows.bytes(0, 2) == [1])
        let none = try connection.run(Self.unnest, until: .soon) { values in
            values.add([] as [Int64])
            values.add([] as [String?])
            values.add([] as [[UInt8]?])
        }
        #expect(none.count == 0)
    }

    // MARK: Prepared statements

    private static let all = PostgresStatement("SELECT * FROM things", isReadOnly: true)

    @Test func aStatementIsPreparedOnce() throws {
        let connection = try TestDatabase().connect()
        for _ in 0..<3 { try connection.run(Self.echo, until: .soon) { Self.fill(&$0) } }
        #expect(try connection.value("SELECT count(*) FROM pg_prepared_statements") == "1")
        #expect(try connection.value("SELECT generic_plans FROM pg_prepared_statements") == "3")
    }

    private static func fill(_ values: inout PostgresParameters) {
        values.add(true)
        values.add(Int32(1))
        values.add(Int64(1))
        values.add("")
        values.add([] as [UInt8])
    }

    @Test func aStatementThatSomebodyTookAwayIsPreparedAnew() throws {
        let connection = try TestDatabase().connect()
        try connection.run(Self.echo, until: .soon) { Self.fill(&$0) }
        try connection.execute("DEALLOCATE ALL", until: .soon)
        #expect(try connection.run(Self.echo, until: .soon) { Self.fill(&$0) }.count == 1)
    }

    @Test func aStatementWhoseTableHasChangedIsPreparedAnew() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("CREATE TABLE things (id bigint); INSERT INTO things VALUES (5)", until: .soon)
        #expect(try connection.run(Self.all, until: .soon).integer(0, 0) == 5)
        try connection.execute("ALTER TABLE things ADD COLUMN name text DEFAULT 'x'", until: .soon)
        #expect(try connection.run(Self.all, until: .soon).text(0, 1) == "x")
        // In a transaction the failure has ended the transaction; the next one succeeds.
        try connection.execute("ALTER TABLE things ADD COLUMN more text", until: .soon)
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.transaction(until: .soon) { try $0.run(Self.all, until: .soon).count }
        }
        #expect(failure?.state == "0A000")
        #expect(try connection.transaction(until: .soon) { try $0.run(Self.all, until: .soon).count } == 1)
    }

    @Test func whatIsNotWorthPreparing() throws {
        let connection = try TestDatabase().connect()
        let rows = try connection.runOnce("SELECT $1 || '!', $2 + 1", until: .soon) { values in
            values.add("a")
            values.add(Int64(1))
        }
        #expect(rows.text(0, 0) == "a!")
        #expect(rows.integer(0, 1) == 2)
        #expect(try connection.value("SELECT count(*) FROM pg_prepared_statements") == "0")
    }

    // MARK: Transactions

    @Test func allOrNothing() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("CREATE TABLE things (id bigint PRIMARY KEY)", until: .soon)
        #expect(throws: Unwanted.self) {
            try connection.transaction(until: .soon) { connection in
                try connection.execute("INSERT INTO things VALUES (1)", until: .soon)
                throw Unwanted()
            }
        }
        #expect(try connection.value("SELECT count(*) FROM things") == "0")
        let changed = try connection.transaction(until: .soon) { connection in
            try connection.execute("INSERT INTO things VALUES (1), (2)", until: .soon).affected
        }
        #expect(changed == 2)
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.transaction(until: .soon) { connection in
                try connection.execute("INSERT INTO things VALUES (3), (2)", until: .soon).affected
            }
        }
        #expect(failure?.state == "23505")
        #expect(failure?.constraint == "things_pkey")
        #expect(failure?.message.contains("(2)") == false, "the row is not quoted")
        #expect(try connection.value("SELECT count(*) FROM things") == "2")
    }

    @Test func theSessionIsSetUp() throws {
        let database = try TestDatabase()
        let commits = try database.connect(.commits)
        #expect(try commits.value("SHOW search_path") == "upgrade_relay")
        #expect(try commits.value("SHOW statement_timeout") == "10s")
        #expect(try commits.value("SHOW enable_seqscan") == "off")
        #expect(try commits.value("SHOW plan_cache_mode") == "force_generic_plan")
        // The test server's own setting is off.
        #expect(try commits.value("SHOW synchronous_commit") == "on")
        #expect(try commits.value("SHOW application_name") == "tests")
        let requests = try database.connect()
        #expect(try requests.value("SHOW enable_hashjoin") == "off")
        #expect(try database.connect(.control).value("SHOW enable_seqscan") == "on")
        #expect(try requests.value("SHOW statement_timeout") == "30s")
    }

    @Test func warningsAreKeptAndNotPrinted() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("DO $$ BEGIN RAISE WARNING 'look here'; RAISE NOTICE 'not here'; END $$", until: .soon)
        #expect(connection.takeNotices() == ["look here"])
        #expect(connection.takeNotices().isEmpty)
    }

    // MARK: COPY

    private func copy(
        _ connection: PostgresConnection, _ ids: Range<Int64>, failing: Bool = false
    ) throws -> Int {
        try connection.copy("COPY things FROM STDIN (FORMAT binary)", until: .soon) { rows in
            for id in ids {
                if failing, id > 25_000 { throw Unwanted() }
                try rows.row(columns: 3) { fields in
                    fields.add(id)
                    if id % 2 == 0 { fields.null() } else { fields.add("name \(id)") }
                    fields.add([UInt8](repeating: 7, count: 32))
                }
            }
        }
    }

    @Test func rowsByCopy() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("CREATE TABLE things (id bigint PRIMARY KEY, name text, bytes bytea)", until: .soon)
        #expect(try copy(connection, 0..<10_000) == 10_000)
        #expect(
            try connection.value("SELECT count(*) || ' ' || count(name) || ' ' || sum(length(bytes)) FROM things")
                == "10000 5000 320000")
        #expect(throws: Unwanted.self) { try copy(connection, 20_000..<40_000, failing: true) }
        #expect(try connection.value("SELECT count(*) FROM things") == "10000")
        let failure = #expect(throws: PostgresFailure.self) { try copy(connection, 9_999..<30_000) }
        #expect(failure?.state == "23505")
        #expect(try connection.value("SELECT count(*) FROM things") == "10000")
        #expect(try copy(connection, 50_000..<50_001) == 1)
    }

    @Test("Rows without end: the deadline is kept, nothing is written, and the session goes on")
    func copyWithoutEnd() throws {
        let connection = try TestDatabase().connect()
        try connection.execute("CREATE TABLE things (id bigint)", until: .soon)
        let start = MonotonicClock.now()
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.copy("COPY things FROM STDIN (FORMAT binary)", until: .after(.milliseconds(300))) { rows in
                while true { try rows.row(columns: 1) { $0.add(Int64(1)) } }
            }
        }
        #expect(failure?.state == "57014")
        #expect(MonotonicClock.now() - start < .seconds(3) * Patience.factor)
        #expect(try connection.value("SELECT count(*) FROM things") == "0")
    }

    // MARK: NOTIFY

    @Test func whatIsSaidByNotifyIsHeard() throws {
        let database = try TestDatabase()
        let (listener, speaker) = (try database.connect(.control), try database.connect())
        try listener.execute("LISTEN news", until: .soon)
        #expect(try listener.notifications(until: .after(.milliseconds(1))).isEmpty)
        try speaker.execute("NOTIFY news, 'one'; NOTIFY news, 'two'", until: .soon)
        var heard: [PostgresNotification] = []
        while heard.count < 2 { heard += try listener.notifications(until: .soon) }
        #expect(heard.map(\.payload) == ["one", "two"])
        #expect(heard.map(\.processID) == [speaker.processID, speaker.processID])
    }

    // MARK: Faults

    @Test("A statement that takes too long is cancelled, and its session goes on")
    func cancelled() throws {
        let connection = try TestDatabase().connect()
        let start = MonotonicClock.now()
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.execute("SELECT pg_sleep(60)", until: .after(.milliseconds(200)))
        }
        let took = MonotonicClock.now() - start
        #expect(took >= .milliseconds(200) && took < .seconds(3) * Patience.factor, "\(took)")
        #expect(failure?.state == "57014")
        #expect(failure?.storeError(doing: "waiting", place: "").code == .busy)
        #expect(connection.end == nil)
        #expect(try connection.value("SELECT 1") == "1")
    }

    @Test("A session that is ended from outside in the middle of a statement", arguments: [false, true])
    func terminated(inTransaction: Bool) throws {
        let database = try TestDatabase()
        let (victim, other) = (try database.connect(), try database.connect())
        try other.execute("CREATE TABLE things (id bigint)", until: .soon)
        let pid = victim.processID
        let ending = try NativeThread(name: "ending") {
            // Ends the session as soon as it sleeps.
            let text = """
                DO $$ BEGIN
                    WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(pid) AND wait_event = 'PgSleep') LOOP
                        PERFORM pg_sleep(0.005); PERFORM pg_stat_clear_snapshot();
                    END LOOP;
                    PERFORM pg_terminate_backend(\(pid));
                END $$
                """
            _ = try? other.execute(text, until: .soon)
        }
        defer { ending.join() }
        if inTransaction { try victim.execute("BEGIN", until: .soon) }
        let failure = try #require(throws: PostgresFailure.self) {
            try victim.execute("INSERT INTO things SELECT 1 FROM pg_sleep(60)", until: .soon)
        }
        #expect(failure.state == "57P01")
        #expect(failure.isOutcomeUnknown == !inTransaction)
        #expect(failure.storeError(doing: "waiting", place: "").code == .unreachable)
        #expect(victim.end?.state == "57P01")
        #expect(!victim.looksAlive())
        #expect(throws: PostgresFailure.self) { try victim.execute("SELECT 1", until: .soon) }
    }

    @Test func anIdleSessionThatWasEndedIsFoundOut() throws {
        let database = try TestDatabase()
        let (victim, other) = (try database.connect(), try database.connect())
        #expect(victim.looksAlive())
        #expect(try other.value("SELECT pg_terminate_backend(\(victim.processID), 60000)") == "t")
        #expect(!victim.looksAlive())
        #expect(victim.end != nil)
    }

    @Test("A wrong password: the text says which role, and no secret")
    func wrongPassword() throws {
        let database = try TestDatabase()
        try database.connect().execute("CREATE ROLE \(database.name) LOGIN PASSWORD 'right-one'", until: .soon)
        let conninfo = database.server.conninfo(database: database.name, user: database.name)
        let failure = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer(conninfo, password: "hunter2-hunter2").dial(.requests, until: .soon)
        }
        let error = failure.storeError(doing: "connecting", place: database.name)
        #expect(failure.state == "28P01")
        #expect(error.description.contains(database.name))
        #expect(!error.description.contains("hunter2"))
        #expect(error.hint?.contains("store.postgres.password") == true)
        let none = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer(conninfo).dial(.requests, until: .soon)
        }
        #expect(none.message.contains("no password supplied"))
        #expect(try TestDatabase.dialer(conninfo, password: "right-one").dial(.requests, until: .soon).end == nil)
    }

    @Test(arguments: [("nosuch", "relay", "3D000"), ("postgres", "nosuch", "28P01")])
    func whoIsNotThere(database: String, user: String, state: String) throws {
        let server = try PostgresServer.shared.get()
        let failure = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer(server.conninfo(database: database, user: user), password: "x")
                .dial(.requests, until: .soon)
        }
        #expect(failure.state?.code == state)
        #expect(failure.state?.hint != nil)
    }

    @Test func aServerThatIsNotThere() throws {
        let failure = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer("host=/nowhere user=relay").dial(.requests, until: .soon)
        }
        #expect(failure.cause == .lost)
        #expect(failure.message.contains("/nowhere"))
        #expect(failure.storeError(doing: "connecting", place: "").code == .unreachable)
    }
}
