// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import StoreSQL
import Testing

@testable import RelayStoreSQLite

/// SIGKILL while a store is created, or migrated from an older release's schema.
@Suite(.serialized, .ownThread) struct CrashedMigrationTests {
    @Test(arguments: [0, 1]) func aMigrationEndsInAWholeSchema(from version: Int) throws {
        var plan = CrashPlan()
        let bench = try Workbench()
        let older = bench.path("older.db")
        if version > 0 { try make(older, version, devices: plan.devices) }
        // Measures a start that migrates the store, and reads the schema that it leads to.
        try put(older, version, bench)
        let begin = ContinuousClock.now
        try bench.start()
        let duration = ContinuousClock.now - begin
        bench.kill()
        let newest = try schema(bench)
        #expect(newest.version == Migration.newest)

        var byVersion: [Int: Int] = [:]
        for number in 1...plan.kills * 3 {
            try put(older, version, bench)
            try bench.launch()
            plan.pass(upTo: duration)
            bench.kill()
            let comment = "\(plan), from \(version), kill \(number)"
            let (reached, tables) = try schema(bench)
            byVersion[reached, default: 0] += 1
            #expect((version...Migration.newest).contains(reached), "\(comment)")
            if reached == Migration.newest { #expect(tables == newest.tables, "\(comment)") }
            // The next start finishes the interrupted migration.
            try bench.start()
            #expect(try bench.api("GET", "/healthz").status == 200)
            bench.kill()
            let grown = try schema(bench)
            #expect(grown.version == Migration.newest && grown.tables == newest.tables, "\(comment)")
            try expectSeenVersions(bench, devices: version > 0 ? plan.devices : 0, comment)
        }
        let table = byVersion.sorted { $0.key < $1.key }.map { "\($0.value) at version \($0.key)" }
        print(
            "migration from \(version) (\(duration / .milliseconds(1)) ms to be ready), \(plan): kills left "
                + table.joined(separator: ", ") + "; whole after the next start")
    }

    // MARK: Tools

    /// A store as the release of that schema version left it.
    private func make(_ path: String, _ version: Int, devices: Int) throws {
        try StoreFile.create(path)
        let connection = try SQLiteConnection(path: path)
        try Migration.run(
            on: connection, path: path, release: "0.1", at: Timestamp(seconds: 1_700_000_000),
            chain: Migration.chain.filter { $0.toVersion <= version })
        try connection.execute(
            SQL(
                typed: """
                    INSERT INTO app (id, name, platform, devices) VALUES (1, '\(Workbench.app)', 'ios', \(devices));
                    INSERT INTO device (app_id, token, token_hash, version, environment, registered_at)
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(devices))
                        SELECT 1, printf('%064x', i), i, '1.' || (i % 7), 0, 0 FROM n;
                    """))
    }

    private func put(_ older: String, _ version: Int, _ bench: Workbench) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: bench.path("relay.db\(suffix)"))
        {
            try FileManager.default.removeItem(atPath: bench.path("relay.db\(suffix)"))
        }
        if version > 0 { try FileManager.default.copyItem(atPath: older, toPath: bench.path("relay.db")) }
    }

    /// The version, and every table, index and trigger; one step of the chain is there whole or not at all.
    private func schema(_ bench: Workbench) throws -> (version: Int, tables: [Substring]) {
        guard FileManager.default.fileExists(atPath: bench.path("relay.db")) else { return (0, []) }
        let image = try StoreImage(of: bench.path("relay.db"))
        defer { image.remove() }
        try image.expectSound("after a kill")
        let version = try image.number("PRAGMA user_version")
        let tables = try image.lines("SELECT name, hex(sql) FROM sqlite_schema ORDER BY name")
        if version > 0 {
            #expect(
                try image.lines("SELECT version FROM migration ORDER BY version").map { Int($0) } == Array(1...version))
        } else {
            #expect(tables.isEmpty)
        }
        #expect(tables.contains { $0.hasPrefix("version_seen|") } == (version >= 2))
        return (version, tables)
    }

    /// Checks the counts that the second step of the chain makes.
    private func expectSeenVersions(_ bench: Workbench, devices: Int, _ comment: String) throws {
        let image = try StoreImage(of: bench.path("relay.db"))
        defer { image.remove() }
        #expect(try image.number("SELECT coalesce(sum(devices), 0) FROM version_seen") == devices, "\(comment)")
        #expect(try image.number("SELECT count(*) FROM device") == devices, "\(comment)")
    }
}
