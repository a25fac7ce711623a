// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import Requirements
import StorePeers
import StoreSQL
import TestPeers
import Testing
import Threading
import UpgradeRules

@testable import RelayStorePostgres
@testable import RelayStoreSQLite

/// The cost of a row between the relay and the server, and between the relay and SQLite. Meaningful only in an optimised build:
///
///     POSTGRES_FIGURES=200000 swift test -c release -Xswiftc -enable-testing --filter PostgresFigures
///
/// CPU is that of the asking thread; the server's, on the same machine, is in the wall clock alone.
@Suite("Figures of the way to the server")
struct PostgresFigures {
    /// The rows in the table; a page is 2,000 of them, each of a bigint, 32 bytes and a text of 13.
    static let rows = Int64(ProcessInfo.processInfo.environment["POSTGRES_FIGURES"] ?? "") ?? 0
    private static let page: Int64 = 2000
    private static let runs = 5

    private static let select = PostgresStatement(
        "SELECT id, token, telephone FROM things WHERE id > $1 ORDER BY id LIMIT $2", isReadOnly: true)
    private static let unnest = PostgresStatement(
        "SELECT count(id), count(token), count(telephone) FROM unnest($1, $2, $3) AS u(id, token, telephone)",
        isReadOnly: true)

    private func measure(_ what: String, rows: Int64, _ body: () throws -> Void) rethrows {
        var best: (cpu: Double, wall: Double) = (.infinity, .infinity)
        for _ in 0..<Self.runs {
            let (cpu, wall) = (Self.processorTime(), MonotonicClock.now())
            try body()
            let took = (MonotonicClock.now() - wall).nanoseconds
            best.cpu = min(best.cpu, Double(Self.processorTime() - cpu) / Double(rows) / 1000)
            best.wall = min(best.wall, Double(took) / Double(rows) / 1000)
        }
        print(
            "\(what): \(String(format: "%.3f µs of CPU a row, %.3f µs a row, %.0f rows/s", best.cpu, best.wall, 1e6 / best.wall))"
        )
    }

    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func token(_ id: Int64) -> [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: id >> ($0 % 8)) } }

    @Test(.ownMachine, .enabled(if: PostgresServer.isInstalled && rows > 0)) func figures() throws {
        let connection = try TestDatabase().connect(.long)
        try PostgresSchema(name: "upgrade_relay", release: "1").grow(
            connection, at: Timestamp(seconds: 1), until: .soon)
        try connection.execute("CREATE TABLE things (id bigint PRIMARY KEY, token bytea, telephone text)", until: .soon)
        let tokens = (0..<Self.page).map(Self.token)
        let telephones = (0..<Self.page).map { "+861380\(1_000_000 + $0)" }
        func rest(_ from: Int64) -> Int64 { min(Self.page, Self.rows - from) }

        try measure("COPY in", rows: Self.rows) {
            try connection.execute("TRUNCATE things", until: .soon)
            let written = try connection.copy("COPY things FROM STDIN (FORMAT binary)", until: .soon) { rows in
                for row in 0..<Self.rows {
                    try rows.row(columns: 3) { fields in
                        fields.add(row)
                        fields.add(tokens[Int(row % Self.page)])
                        fields.add(telephones[Int(row % Self.page)])
                    }
                }
            }
            #expect(written == Int(Self.rows))
        }
        try connection.execute("ANALYZE things", until: .soon)

        var arena: [UInt8] = []
        try measure("pages of 2,000", rows: Self.rows) {
            var (after, count) = (Int64(-1), 0)
            while true {
                arena.removeAll(keepingCapacity: true)
                let rows = try connection.run(Self.select, until: .soon) { values in
                    values.add(after)
                    values.add(Self.page)
                }
                for row in 0..<rows.count {
                    after = rows.integer(row, 0)
                    _ = rows.append(row, 1, to: &arena)
                    _ = rows.append(row, 2, to: &arena)
                }
                count += rows.count
                if rows.count < Int(Self.page) { break }
            }
            #expect(count == Int(Self.rows))
        }

        try measure("arrays of 2,000 for unnest", rows: Self.page * 100) {
            for _ in 0..<100 {
                let rows = try connection.run(Self.unnest, until: .soon) { values in
                    values.array(.int8, count: Int(Self.page)) { fields in
                        for id in 0..<Self.page { fields.add(id) }
                    }
                    values.array(.bytea, count: tokens.count) { fields in for token in tokens { fields.add(token) } }
                    values.array(.text, count: telephones.count) { fields in
                        for telephone in telephones { fields.add(telephone) }
                    }
                }
                #expect(rows.integer(0, 2) == Self.page)
            }
        }
        try shard(connection)
        try sqlite(tokens, telephones)
    }

    /// Devices as the fan-out reads them, their tokens as text.
    private func shard(_ connection: PostgresConnection) throws {
        try connection.execute(
            """
            INSERT INTO app (id, name, platform) VALUES (1, 'a', 'ios');
            INSERT INTO device (id, app_id, digest, token, telephone, version, environment, registered_at)
                SELECT i, 1, gen_random_uuid(), '\\x00'::bytea || decode(lpad(to_hex(i), 64, '0'), 'hex'),
                    '+861380' || (1000000 + i), '1.2.3', 0, 1 FROM generate_series(1, \(Self.rows)) AS i;
            ANALYZE device
            """, until: .soon)
        var devices = DeviceRows()
        try measure("devices of a shard, 2,000 at a time", rows: Self.rows) {
            var (after, count) = (Int64(0), 0)
            repeat {
                try BatchReader.readDevices(
                    connection, app: AppKey(app: "a", platform: .ios), channel: .production, after: after,
                    through: .max, limit: Int(Self.page),
                    of: nil, without: nil, into: &devices, until: .soon)
                after = devices.rows.last?.id ?? after
                count += devices.count
            } while devices.count == Int(Self.page)
            #expect(count == Int(Self.rows))
        }
    }

    /// Measures the same table and pages in SQLite.
    private func sqlite(_ tokens: [[UInt8]], _ telephones: [String]) throws {
        let path = try TestFolder.make() + "/figures.db"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        try connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, token BLOB, telephone TEXT)")
        try measure("SQLite, inserts", rows: Self.rows) {
            try connection.execute("DELETE FROM things")
            try connection.transaction("BEGIN IMMEDIATE") { connection in
                let insert = try connection.prepared("INSERT INTO things VALUES (?1, ?2, ?3)")
                for id in 0..<Self.rows {
                    let index = Int(id % Self.page)
                    insert.bind(1, id)
                    insert.bind(2, blob: tokens[index])
                    insert.bind(3, telephones[index])
                    try insert.run()
                }
            }
        }
        var arena: [UInt8] = []
        try measure("SQLite, pages of 2,000", rows: Self.rows) {
            let select = try connection.prepared(
                "SELECT id, token, telephone FROM things WHERE id > ?1 ORDER BY id LIMIT ?2")
            var (after, count, isFull) = (Int64(-1), 0, true)
            while isFull {
                arena.removeAll(keepingCapacity: true)
                select.bind(1, after)
                select.bind(2, Self.page)
                var rows = 0
                while try select.step() {
                    after = select.integer(0)
                    select.withText(1) { arena.append(contentsOf: $0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
                    select.withText(2) { arena.append(contentsOf: $0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
                    rows += 1
                }
                select.clear()
                count += rows
                isFull = rows == Int(Self.page)
            }
            #expect(count == Int(Self.rows))
        }
    }
}
