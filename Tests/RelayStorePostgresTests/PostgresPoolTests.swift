// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import Telemetry
import TestPeers
import Testing
import Threading

@testable import RelayStorePostgres

@Suite(
    "The pool on a real server", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresPoolTests {
    private static let one = PostgresStatement("SELECT 1", isReadOnly: true)
    private static let insert = PostgresStatement("INSERT INTO things VALUES ($1)")
    private static let publicInsert = PostgresStatement("INSERT INTO public.things VALUES ($1)")
    private static let count = PostgresStatement("SELECT count(*) FROM things", isReadOnly: true)

    private static func ask(
        _ pool: PostgresPool, _ role: PostgresRole = .requests, until deadline: MonotonicTime = .soon
    )
        throws -> Int64
    {
        try pool.use(role, "asking", isReadOnly: true, until: deadline) { connection in
            try connection.run(one, until: deadline).integer(0, 0)
        }
    }

    /// An outage of more than five seconds, as on a busy machine: callers are refused at once.
    private static func isRefusal(_ error: String) -> Bool { error.contains("the database has been gone for") }

    private static func waitForEnd(of logged: LogLines) {
        _ = logged.lines.wait(seconds: 0, milliseconds: 100) { $0.last == "notice the database is back" }
    }

    @Test func eachRoleHasConnectionsOfItsOwn() throws {
        let pool = try TestDatabase().pool(connections: 6)
        defer { pool.close() }
        // Two connections for requests: a third request waits, and is refused at its deadline; those of the other roles are
        // free.
        try pool.use(.requests, "holding", until: .soon) { first throws in
            try pool.use(.requests, "holding", until: .soon) { second throws in
                #expect(first !== second)
                let error = #expect(throws: StoreError.self) { try Self.ask(pool, until: .after(.milliseconds(50))) }
                #expect(error?.code == .busy)
                for role in PostgresRole.allCases where role != .requests { #expect(try Self.ask(pool, role) == 1) }
            }
        }
        #expect(try Self.ask(pool) == 1)
    }

    @Test func whoWaitsGetsWhatIsGivenBack() throws {
        let pool = try TestDatabase().pool(connections: 5)
        defer { pool.close() }
        let (isHeld, mayGo) = (Watched(false), Watched(false))
        let holder = try NativeThread(name: "holder") {
            try? pool.use(.requests, "holding", until: .soon) { _ in
                isHeld.change { $0 = true }
                _ = mayGo.wait { $0 }
            }
        }
        #expect(isHeld.wait { $0 })
        let answer = Watched<Int64?>(nil)
        let waiter = try NativeThread(name: "waiter") {
            let got = try? Self.ask(pool)
            answer.change { $0 = got }
        }
        mayGo.change { $0 = true }
        holder.join()
        waiter.join()
        #expect(answer.now == 1)
    }

    @Test func aTransactionThatIsLeftOpenIsRolledBack() throws {
        let database = try TestDatabase()
        let pool = try database.pool(connections: 5)
        defer { pool.close() }
        try pool.use(.requests, "making", until: .soon) { connection in
            _ = try connection.execute("CREATE TABLE things (id bigint)", until: .soon).count
            _ = try connection.execute("BEGIN; INSERT INTO things VALUES (1)", until: .soon).count
        }
        let there = try pool.use(.requests, "counting", until: .soon) {
            try $0.run(Self.count, until: .soon).integer(0, 0)
        }
        #expect(there == 0)
    }

    @Test("The server crashes: readers notice nothing, the log says it once, all are back")
    func crash() throws {
        let server = try PostgresServer()
        let database = try TestDatabase(on: server)
        let logged = LogLines()
        let pool = try database.pool(log: logged.log)
        defer { pool.close() }
        try pool.use(.requests, "making", until: .soon) { connection in
            _ = try connection.execute("CREATE TABLE things (id bigint PRIMARY KEY)", until: .soon).count
        }
        for role in PostgresRole.allCases { #expect(try Self.ask(pool, role) == 1) }
        // Six threads read as fast as they can while the server crashes three times.
        let (isOver, count, failed) = (CancellationFlag(), Watched(0), Watched<[String]>([]))
        let readers = try (0..<6).map { index in
            try NativeThread(name: "reader \(index)") {
                while !isOver.isSet {
                    do {
                        _ = try Self.ask(pool, index < 4 ? .requests : .reads)
                        count.change { $0 += 1 }
                    } catch {
                        failed.change { $0.append("\(error)") }
                        Self.waitForEnd(of: logged)
                    }
                }
            }
        }
        for crash in 1...3 {
            try server.crash()
            // Reads before the server went down prove nothing.
            #expect(logged.lines.wait { Self.outages($0).count >= 2 * crash })
            let before = count.now
            #expect(count.wait { $0 > before + 1000 })
        }
        isOver.set()
        for reader in readers { reader.join() }
        #expect(failed.now.allSatisfy(Self.isRefusal), "\(failed.now)")
        // The connections of the other roles are broken, too, and that is not logged again.
        for role in PostgresRole.allCases { #expect(try Self.ask(pool, role) == 1) }
        // A server that goes down may still take a connection, and break it: that crash is then two outages, each logged once.
        let once = ["error the database is gone", "notice the database is back"]
        let outages = pool.outages
        #expect((3...6).contains(outages))
        #expect(Self.outages(logged.lines.now) == Array(repeatElement(once, count: outages).joined()))
    }

    /// Without the connections that broke and were replaced at once: a server that comes up may have ended one of the crash before.
    private static func outages(_ lines: [String]) -> [String] {
        lines.filter { $0 != "notice a connection to the database was replaced" }
    }

    @Test func aSessionThatIsEndedFromOutsideIsReplacedAndThatIsSaid() throws {
        let database = try TestDatabase()
        let logged = LogLines()
        let pool = try database.pool(log: logged.log)
        defer { pool.close() }
        let process = try pool.use(.requests, "asking", until: .soon) { $0.processID }
        #expect(try database.connect().value("SELECT pg_terminate_backend(\(process), 60000)") == "t")
        #expect(try Self.ask(pool) == 1)
        #expect(logged.lines.now == ["notice a connection to the database was replaced"])
        #expect(pool.outages == 0)
    }

    @Test("A server that has stopped: everybody is told in time, and it is back when it is back")
    func stopped() throws {
        let server = try PostgresServer()
        let database = try TestDatabase(on: server)
        let pool = try database.pool()
        defer { pool.close() }
        #expect(try Self.ask(pool) == 1)
        try server.stop()
        let start = MonotonicClock.now()
        let error = #expect(throws: StoreError.self) { try Self.ask(pool, until: .after(.milliseconds(300))) }
        #expect(error?.code == .unreachable)
        #expect(MonotonicClock.now() - start < .seconds(2) * Patience.factor)
        try server.start()
        #expect(try Self.ask(pool) == 1)
    }

    @Test("The primary is lost, and its synchronous standby promoted: what was acknowledged is there, once")
    func failover() throws {
        let primary = try PostgresServer()
        let standby = try PostgresServer(standbyOf: primary)
        let owner = try TestDatabase.dialer(primary.conninfo()).dial(.long, until: .soon)
        try owner.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", until: .soon)
        try owner.execute("SELECT pg_reload_conf(); CREATE TABLE public.things (id bigint PRIMARY KEY)", until: .soon)
        try owner.execute(
            """
            DO $$ BEGIN
                WHILE NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') LOOP
                    PERFORM pg_sleep(0.005); PERFORM pg_stat_clear_snapshot();
                END LOOP;
            END $$
            """, until: .soon)
        let logged = LogLines()
        let pool = try TestDatabase.pool(
            "host=\(primary.folder),\(standby.folder) port=\(primary.port),\(standby.port) user=relay dbname=postgres",
            log: logged.log)
        defer { pool.close() }
        let (isOver, done, unknown) = (CancellationFlag(), Watched<[Int64]>([]), Watched<[String]>([]))
        let writers = try (0..<3).map { writer in
            try NativeThread(name: "writer \(writer)") {
                var id = Int64(writer)
                while !isOver.isSet {
                    var isRefused = false
                    do {
                        try pool.use(.requests, "writing", until: .soon) { connection in
                            _ = try connection.run(Self.publicInsert, until: .soon) { $0.add(id) }.affected
                        }
                        done.change { $0.append(id) }
                    } catch {
                        isRefused = Self.isRefusal("\(error)")
                        if isRefused { Self.waitForEnd(of: logged) } else { unknown.change { $0.append("\(error)") } }
                    }
                    if !isRefused { id += 3 }
                }
            }
        }
        #expect(done.wait { $0.count > 100 })
        try primary.stop()
        let before = done.now.count
        try standby.promote()
        #expect(done.wait { $0.count > before + 100 })
        isOver.set()
        for writer in writers { writer.join() }
        let connection = try TestDatabase.dialer(standby.conninfo()).dial(.requests, until: .soon)
        let rows = try connection.execute("SELECT id FROM public.things", until: .soon)
        let there = Set((0..<rows.count).map { Int64(rows.text($0, 0)) ?? -1 })
        #expect(there.isSuperset(of: done.now))
        // One statement of each writer was on its way.
        #expect(there.count - done.now.count <= unknown.now.count && unknown.now.count <= 3)
        #expect(unknown.now.allSatisfy { $0.contains("whether it was done is not known") }, "\(unknown.now)")
        #expect(logged.lines.now == ["error the database is gone", "notice the database is back"])
    }

    @Test("A standby is refused in words, and its primary is found behind it")
    func standby() throws {
        let standby = try PostgresServer()
        try standby.stop(mode: "fast")
        try standby.run("touch data/standby.signal")
        try standby.start()
        let failure = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer(standby.conninfo()).dial(.requests, until: .soon)
        }
        #expect(failure.message.contains("session is read-only"))
        #expect(failure.storeError(doing: "connecting", place: "").code == .unreachable)
        let primary = try PostgresServer.shared.get()
        let both =
            "host=\(standby.folder),\(primary.folder) port=\(standby.port),\(primary.port) user=relay dbname=postgres"
        let connection = try TestDatabase.dialer(both).dial(.requests, until: .soon)
        #expect(try connection.value("SHOW port") == "\(primary.port)")
        // A pool that insists on the standby has the fault at the start.
        let any = try TestDatabase.pool("\(standby.conninfo()) target_session_attrs=any")
        defer { any.close() }
        let faults = try any.faults(schema: "upgrade_relay", connections: 8, until: .soon)
        #expect(faults.contains { $0.code == .standby && $0.consequence == .refuse })
        #expect(!faults.contains { $0.code == .transactionPooler })
        let refused = #expect(throws: StoreError.self) {
            try any.use(.requests, "making", until: .soon) { connection in
                _ = try connection.execute("CREATE TABLE things ()", until: .soon).count
            }
        }
        #expect(refused?.context.contains("25006") == true)
        #expect(refused?.code == .unreachable)
    }

    // MARK: Checks of the server at the start

    @Test func theTestServerIsNotDurable() throws {
        let pool = try TestDatabase().pool()
        defer { pool.close() }
        let faults = try pool.faults(schema: "upgrade_relay", connections: 8, until: .soon)
        #expect(faults.map(\.code) == [.noFsync, .noFullPageWrites])
    }

    @Test func aRoleWithoutRightsAndWithFewConnections() throws {
        let database = try TestDatabase()
        let role = "\(database.name)_role"
        let owner = try database.connect()
        try owner.execute(
            "CREATE ROLE \(role) LOGIN PASSWORD 'x' CONNECTION LIMIT 3; REVOKE CREATE ON DATABASE \(database.name) FROM PUBLIC",
            until: .soon)
        let settings = try PostgresSettings(
            url: database.server.conninfo(database: database.name, user: role), password: Array("x".utf8),
            library: .load())
        let pool = PostgresPool(settings, log: .discarding)
        defer { pool.close() }
        var faults = try pool.faults(schema: "upgrade_relay", connections: 8, until: .soon)
        #expect(faults.map(\.code) == [.noFsync, .noFullPageWrites, .tooFewConnections, .noRights])
        #expect(faults[2].context.contains("room for 1 more connections, and the relay needs 6"))
        #expect(faults[3].hint == "ALTER SCHEMA upgrade_relay OWNER TO \(role)")
        try owner.execute(
            "ALTER SCHEMA upgrade_relay OWNER TO \(role); ALTER ROLE \(role) CONNECTION LIMIT 9", until: .soon)
        faults = try pool.faults(schema: "upgrade_relay", connections: 8, until: .soon)
        #expect(faults.map(\.code) == [.noFsync, .noFullPageWrites])
        faults = try pool.faults(schema: "elsewhere", connections: 8, until: .soon)
        #expect(faults.map(\.code) == [.noFsync, .noFullPageWrites, .noRights])
        #expect(faults[2].hint == "CREATE SCHEMA elsewhere AUTHORIZATION \(role)")
        // Beyond the limit the server itself refuses.
        try owner.execute("ALTER ROLE \(role) CONNECTION LIMIT 2", until: .soon)
        let error = #expect(throws: StoreError.self) { try Self.ask(pool, .long) }
        #expect(error?.code == .busy)
        #expect(error?.context.contains("53300") == true)
    }
}
