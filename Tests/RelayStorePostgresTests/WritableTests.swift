// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import Testing

@testable import RelayStorePostgres

/// The check of /readyz does what requests do. The tests walk each table that the schema has.
@Suite(
    "Whether a store in PostgreSQL can be written to", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct WritableTests {
    /// A store whose role is no superuser, because a superuser has every right, whatever is taken away.
    private static func ground() throws -> (TestDatabase, PostgresStore, role: String) {
        let database = try TestDatabase()
        let role = try database.role("relay")
        try database.connect().execute("ALTER SCHEMA upgrade_relay OWNER TO \(role)", until: .soon)
        var options = PostgresStore.Options()
        options.isTrial = true
        let settings = try PostgresSettings(
            url: database.server.conninfo(database: database.name, user: role), password: Array("x".utf8),
            library: .load())
        return (database, try PostgresStore(settings, options: options), role)
    }

    private static func complaint(_ store: PostgresStore) -> StoreError? {
        do {
            try store.checkWritable()
            return nil
        } catch {
            return error as? StoreError ?? StoreError(.failed, context: "\(error)")
        }
    }

    @Test func aTableThatIsTakenAwayIsNamed() throws {
        let (database, store, role) = try Self.ground()
        defer { store.close() }
        let owner = try database.connect()
        #expect(Self.complaint(store)?.description == nil)
        #expect(store.tables.count > 40)
        for table in store.tables {
            for right in ["INSERT", "UPDATE", "SELECT", "DELETE"] {
                // The relay reads these before it writes, and fails there.
                try owner.execute("REVOKE \(right) ON \(table) FROM \(role)", until: .soon)
                let complaint = try #require(Self.complaint(store), "\(right) of \(table)")
                #expect(complaint.context.contains(table), "\(right) of \(table): \(complaint)")
                #expect(complaint.hint?.isEmpty == false)
                try owner.execute("GRANT \(right) ON \(table) TO \(role)", until: .soon)
            }
        }
        #expect(Self.complaint(store)?.description == nil, "it is well again")
        try owner.execute("REVOKE EXECUTE ON FUNCTION lock_app FROM \(role)", until: .soon)
        #expect(Self.complaint(store)?.context.contains("lock_app") == true)
        try owner.execute("GRANT EXECUTE ON FUNCTION lock_app TO \(role)", until: .soon)
        try owner.execute("ALTER TABLE alert RENAME TO gone", until: .soon)
        #expect(Self.complaint(store)?.context.contains("alert") == true)
        try owner.execute("ALTER TABLE gone RENAME TO alert", until: .soon)
        #expect(Self.complaint(store)?.description == nil, "it is well again")
    }

    @Test(arguments: ["SHARE", "ACCESS EXCLUSIVE"])
    func aTableThatIsLockedIsNamed(mode: String) throws {
        let (database, store, _) = try Self.ground()
        defer { store.close() }
        let holder = try database.connect()
        try holder.execute("SET application_name = E'psql\\n\\033[31mforged'", until: .soon)
        for table in store.tables {
            try holder.execute("BEGIN; LOCK TABLE \(table) IN \(mode) MODE", until: .soon)
            let complaint = try #require(Self.complaint(store), "\(table)")
            #expect(complaint.code == .busy, "\(table): \(complaint)")
            #expect(complaint.context.contains("table \(table) is locked"), "\(table): \(complaint)")
            #expect(complaint.context.contains("process \(holder.processID) of role relay, psql"), "\(complaint)")
            #expect(!complaint.description.unicodeScalars.contains { $0.value < 32 })
            holder.rollBack()
        }
        #expect(Self.complaint(store)?.description == nil, "it is well again")
    }

    /// The usual locks of other programs.
    @Test func whatKeepsNoRowBackIsNoFault() throws {
        let (database, store, _) = try Self.ground()
        defer { store.close() }
        let holder = try database.connect()
        for mode in ["ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE"] {
            let names = store.tables.joined(separator: ", ")
            try holder.execute("BEGIN; LOCK TABLE \(names) IN \(mode) MODE", until: .soon)
            #expect(Self.complaint(store)?.description == nil, "\(mode)")
            holder.rollBack()
        }
        try holder.execute("BEGIN; LOCK TABLE node_gate_3 IN EXCLUSIVE MODE", until: .soon)
        #expect(Self.complaint(store)?.description == nil, "a relay is being fenced")
        holder.rollBack()
    }

    /// The check runs each second.
    @Test func itCostsLittle() throws {
        let (_, store, _) = try Self.ground()
        defer { store.close() }
        try store.checkWritable()
        let start = MonotonicTime.after(.zero)
        for _ in 0..<20 { try store.checkWritable() }
        #expect(MonotonicTime.after(.zero) - start < .seconds(2), "a twentieth of the time that it is asked in")
    }
}

@Suite("What PostgreSQL says")
struct ServerTextTests {
    @Test(
        arguments: [
            ("relation \"x\" does not exist", "relation \"x\" does not exist"), ("a\nb", "a b"), (" a\r\n\tb ", "a b"),
            ("ok\u{1B}[31m red\u{7}", "ok [31m red"), ("a\u{202E}b\u{200B}c", "a b c"), ("a\u{2028}b\u{85}c", "a b c"),
            ("", "nothing that can be read"), ("\n\u{0}", "nothing that can be read"), ("微信 é", "微信 é"),
        ])
    func isOneLine(text: String, line: String) {
        #expect(ServerText.line(text) == line)
    }

    @Test func isBounded() {
        #expect(ServerText.line(String(repeating: "x", count: 5000)).count == ServerText.longest + 1)
        #expect(
            ServerText.line(String(repeating: "e\u{301}\u{302}", count: 5000)).unicodeScalars.count <= ServerText
                .longest + 1)
    }

    /// The text of a failure in a log line or a problem.
    @Test(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
    func aServersErrorsAndNoticesGoThroughIt() throws {
        let connection = try TestDatabase().connect()
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.execute(
                """
                DO $$ BEGIN RAISE WARNING E'one\\n<3>forged \\033[2J'; RAISE EXCEPTION USING
                    MESSAGE = E'gone\\nOct 11 22:14:15 relay: forged', TABLE = E'a\\nb', CONSTRAINT = E'c\\nd', ERRCODE = '23514'; END $$
                """, until: .soon
            ).count
        }
        #expect(connection.takeNotices() == ["one <3>forged [2J"])
        let said = try #require(failure).storeError(doing: "trying", place: "here").description
        #expect(
            said.contains(
                "trying failed: PostgreSQL says: gone Oct 11 22:14:15 relay: forged (SQLSTATE 23514, table a b"))
        #expect(!said.unicodeScalars.contains { $0.value < 32 })
        let connecting = PostgresFailure(
            connectionText: "connection failed: FATAL:  28P01: no\rforged\u{1B}[1m\nLOCATION: x")
        #expect(connecting.message == "PostgreSQL says: connection failed: FATAL: no forged [1m")
    }
}
