// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("Columns are read one after the other")
struct ColumnsTests {
    private struct Pair: Selection, Equatable {
        static let columns: SQL = "p.left, p.right"

        var left: String
        var right: Int64?

        static func read(_ row: inout Columns<some SQLRow>) -> Pair {
            Pair(left: row.text(), right: row.optionalInteger())
        }
    }

    private let connection: SQLiteConnection

    init() throws {
        connection = try SQLiteConnection(path: ":memory:")
        try connection.execute(
            "CREATE TABLE pair (key INTEGER PRIMARY KEY, left TEXT, right INTEGER); INSERT INTO pair VALUES (1, 'a', 5), (2, 'b', NULL)"
        )
    }

    @Test("Every kind of value, and NULL in its place")
    func values() throws {
        let isRead = try connection.first(
            "SELECT 7, NULL, 'text', NULL, NULL, x'0102', NULL, x'03', 1, 1000, NULL, '1.2.3', NULL, 1, 'android', NULL"
        ) { row in
            let (number, noNumber) = (row.integer(), row.optionalInteger())
            #expect((number, noNumber) == (7, nil))
            let texts = (row.text(), row.text(), row.optionalText())
            #expect(texts == ("text", "", nil))
            let (blob, noBlob) = (row.blob(), row.optionalBlob())
            #expect((blob, noBlob) == ([1, 2], nil))
            var bytes: [UInt8] = [9]
            row.append(to: &bytes)
            #expect(bytes == [9, 3])
            let (truth, time, noTime) = (row.bool(), row.time(), row.optionalTime())
            #expect((truth, time, noTime) == (true, Timestamp(milliseconds: 1000), nil))
            let (version, state) = (row.version(), row.state())
            #expect(version?.text == "1.2.3")
            #expect(state == nil)
            let (channel, platform) = (row.channel(), row.platform())
            #expect(channel == .sandbox)
            #expect(platform == .android)
            #expect(!row.areRead)
            let isNull = row.isNull()
            #expect(isNull)
            return row.areRead
        }
        #expect(isRead == true)
    }

    @Test("A record is read wherever its columns stand, and what follows it behind it")
    func selection() throws {
        #expect(
            try connection.all(Pair.self, "FROM pair AS p ORDER BY key") == [
                Pair(left: "a", right: 5), Pair(left: "b", right: nil),
            ])
        #expect(try connection.first(Pair.self, "FROM pair AS p WHERE key = ?", 2) == Pair(left: "b", right: nil))
        let found = try connection.first("SELECT p.key, \(Pair.columns), 8 FROM pair AS p") {
            (key: $0.integer(), pair: Pair.read(&$0), last: $0.integer())
        }
        #expect(found?.key == 1)
        #expect(found?.pair == Pair(left: "a", right: 5))
        #expect(found?.last == 8)
    }

    @Test("A LEFT JOIN that finds nothing gives no record, and takes its columns")
    func absent() throws {
        let found = try connection.all(
            "SELECT o.key, \(Pair.columns), 8 FROM pair AS o LEFT JOIN pair AS p ON p.key = o.right - 4 ORDER BY o.key"
        ) { (key: $0.integer(), pair: $0.optional(Pair.self), last: $0.integer()) }
        #expect(found.map(\.pair) == [Pair(left: "a", right: 5), nil])
        #expect(found.map(\.last) == [8, 8])
    }

    @Test("What is of no use is passed over")
    func passing() throws {
        let read = try connection.first("SELECT 1, 2, 3, 4, 5") { row in
            row.skip(2)
            defer { row.leave() }
            return row.integer()
        }
        #expect(read == 3)
    }

    #if DEBUG
        @Test("One column too many, or too few, ends a debug build")
        func limits() async {
            await #expect(processExitsWith: .failure) {
                let connection = try SQLiteConnection(path: ":memory:")
                _ = try connection.first("SELECT 1") { ($0.integer(), $0.integer()) }
            }
            await #expect(processExitsWith: .failure) {
                let connection = try SQLiteConnection(path: ":memory:")
                _ = try connection.first("SELECT 1, 2") { $0.integer() }
            }
        }
    #endif
}
