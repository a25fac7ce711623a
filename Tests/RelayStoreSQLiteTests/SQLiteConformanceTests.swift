// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import RelayStoreSQLite
import StoreConformance
import StoreSQL
import TestStores
import Testing

@Suite("The SQLite driver keeps the rules of every driver", .ownThread)
struct SQLiteConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func holds(_ rule: ConformanceCase) async throws {
        let directory = try TemporaryDirectory()
        try NewStore.copy(to: directory.file("relay.db"))
        let store = try SQLiteStore(path: directory.file("relay.db"))
        let second = try SQLiteStore(path: directory.file("relay.db"))
        defer {
            withExtendedLifetime(directory) {
                second.close()
                store.close()
            }
        }
        try await rule.hold(for: store, beside: second)
    }

    /// A table that is added later must be judged (`DecidingTables`).
    @Test("Each table decides, or does not")
    func tables() throws {
        let directory = try TemporaryDirectory()
        try NewStore.copy(to: directory.file("relay.db"))
        let store = try SQLiteStore(path: directory.file("relay.db"))
        defer { withExtendedLifetime(directory) { store.close() } }
        func names(_ query: String) throws -> Set<String> { Set(try store.inspect(query).map { $0[0] }) }
        let tables = try names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        #expect(tables.subtracting(DecidingTables.all).subtracting(DecidingTables.others.keys) == [])
        let deciding = try names(
            "SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%INSERT INTO decision%'")
        #expect(deciding == DecidingTables.all)
    }

    @Test("A decision that was forgotten is taken for held by the store of that identity alone")
    func forgotten() throws {
        let directory = try TemporaryDirectory()
        try NewStore.copy(to: directory.file("relay.db"))
        let store = try SQLiteStore(path: directory.file("relay.db"))
        defer { withExtendedLifetime(directory) { store.close() } }
        let old = try store.mark()
        try store.administer(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050)
            INSERT INTO decision (sign) SELECT hex(i) FROM n
            """)
        #expect(try store.inspect("SELECT count(*) FROM decision") == [["10000"]])
        store.membership.memory.note(old)
        try store.lookBack()
        #expect(!store.membership.memory.hasFallen)
        let other = StoreMemory()
        other.note(StoreMark(identity: "another", decision: old.decision, sign: old.sign))
        let options = SQLiteStore.Options()
        options.membership.memory.note(try #require(other.seen))
        let again = try SQLiteStore(path: directory.file("relay.db"), options: options)
        defer { again.close() }
        #expect((#expect(throws: StoreError.self) { try again.lookBack() })?.code == .wentBack)
    }
}
