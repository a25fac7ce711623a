// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("The store's file", .ownThread)
struct StoreFileTests {
    @Test("Once it is open every commit waits for the disk, and the file can give pages back")
    func opensDurably() throws {
        let fixture = try StoreFixture()
        let (durable, vacuum) = try fixture.store.locked("asking") { connection in
            (
                try connection.first("PRAGMA synchronous") { $0.integer() },
                try connection.first("PRAGMA auto_vacuum") { $0.integer() }
            )
        }
        // FULL and INCREMENTAL (sqlite.org/pragma.html).
        #expect(durable == 2 && vacuum == 2)
    }

    @Test("It and its companions are for their owner alone, whatever the umask")
    func permissions() throws {
        let fixture = try withoutUmask {
            let fixture = try StoreFixture()
            try fixture.bump(latest: "1")
            return fixture
        }
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
    }

    @Test("What was stored is there when the store is opened again, and no migration runs twice")
    func reopening() throws {
        let fixture = try StoreFixture()
        try fixture.bump(required: "2")
        try fixture.registerDevices(0..<3)
        fixture.store.close()
        fixture.store.close()
        #expect(complaint { try fixture.store.versions() }.contains("closed"))
        #expect(complaint { try fixture.store.checkWritable() }.contains("closed"))
        let again = try fixture.outsider()
        defer { again.close() }
        #expect(try again.version(of: fixture.app)?.required?.text == "2")
        #expect(try again.devices(of: nil, after: 0, limit: 9).count == 3)
        let migrations = try again.inspect("SELECT version, name FROM migration")
        #expect(
            migrations == [
                ["1", "the first schema"], ["2", "version codes, alerts, versions seen"],
                ["3", "pruned campaigns, the outbox of notifications"], ["4", "a compact ledger"],
                ["5", "campaigns in waves"], ["6", "pauses of provider tokens"],
                ["7", "shards and retries by push environment"], ["8", "apps of API tokens, digests of webhooks"],
                ["9", "what is in force, beside what is required"], ["10", "who obeyed, over time"],
                ["11", "campaigns that are sent again"],
                ["12", "texts of the latest version"], ["13", "versions that were withdrawn"],
                ["14", "campaigns that begin with a canary"], ["15", "why campaigns stood still"],
                ["16", "one record of what is required"], ["17", "what devices say at login"],
                ["18", "dead tokens that a person accepted"],
                ["19", "which server wants a pause of a key"],
                ["20", "what was said against tokens"],
                ["21", "a run for each campaign"],
                ["22", "moments and systems in the history"],
                ["23", "what the app stores said"],
                ["24", "dead tokens in their order, events of apps"],
                ["25", "versions seen lately"],
                ["26", "who wants a campaign at any hour"],
                ["27", "messages in several languages"],
                ["28", "countries of devices"],
                ["29", "who did what, sessions of browsers"],
                ["30", "several relays"],
                ["31", "what strangers may do"],
                ["32", "which store it is and how far"],
                ["33", "which of a wave's pushes are tried again"], ["34", "events of campaigns, by the relay"],
                ["35", "channels of devices"], ["36", "answers by channel"], ["37", "channels as a range"],
                ["38", "one index of channels"], ["39", "sessions of people whom a proxy signs in"],
                ["40", "requests for a second person"], ["41", "counts over time"],
            ])
        #expect(try again.inspect("PRAGMA user_version") == [["\(try again.status().chain.count)"]])
        #expect(try again.inspect("PRAGMA integrity_check") == [["ok"]])
    }

    @Test("Many that open a new store at once agree on one schema")
    func openedTogether() async throws {
        // Repeated, because the openings meet at another moment each time.
        for _ in 0..<5 {
            let directory = try TemporaryDirectory()
            let path = directory.file("relay.db")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask { try insisting { try SQLiteStore(path: path).close() } }
                }
                try await group.waitForAll()
            }
            let store = try SQLiteStore(path: path)
            defer { withExtendedLifetime(directory) { store.close() } }
            #expect(try store.inspect("SELECT count(*) FROM migration") == [["\(try store.status().chain.count)"]])
        }
    }

    @Test("A store of a newer release is refused and stays byte for byte as it was")
    func tooNew() throws {
        let fixture = try StoreFixture()
        try fixture.store.administer("PRAGMA user_version = 99")
        fixture.store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        #expect(try code { try fixture.outsider() } == .tooNew)
        #expect(complaint { try fixture.outsider() }.contains("99"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
    }

    @Test("Another program's database, or a file that is none, is refused and stays as it was")
    func notOurs() throws {
        let fixture = try StoreFixture()
        try fixture.store.administer("PRAGMA application_id = 7")
        fixture.store.close()
        #expect(complaint { try fixture.outsider() }.contains("another program"))
        let text = fixture.directory.file("notes.txt")
        try Data("not a database, but long enough to be looked at as one".utf8).write(to: URL(fileURLWithPath: text))
        #expect(complaint { try SQLiteStore(path: text) }.contains("not a SQLite database"))
        #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("not a database"))
    }

    @Test("A directory that is missing or cannot be written to is named")
    func directories() throws {
        let directory = try TemporaryDirectory()
        #expect(
            complaint { try SQLiteStore(path: directory.file("missing/relay.db")) }.contains("Create the directory"))
        let nowhere = complaint { try SQLiteStore(path: "/proc/relay.db") }
        #expect(nowhere.contains("/proc/relay.db") && nowhere.contains("cannot be created"))
    }

    @Test("A full disk loses nothing, says so, and is over when there is room again")
    func full() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<100)
        let pages = try #require(Int(try fixture.store.inspect("PRAGMA page_count")[0][0]))
        try fixture.store.administer("PRAGMA max_page_count = \(pages + 4)")
        #expect(try code { try fixture.registerDevices(100..<5000) } == .full)
        #expect(complaint { try fixture.registerDevices(100..<5000) }.contains("Free space"))
        #expect(try fixture.store.devices(of: nil, after: 0, limit: 9999).count == 100)
        try fixture.store.administer("PRAGMA max_page_count = 1000000")
        try fixture.registerDevices(100..<5000)
        #expect(try fixture.store.devices(of: nil, after: 0, limit: 9999).count == 5000)
    }

    @Test("A store that turned read-only says so, and still reads")
    func readOnly() throws {
        let fixture = try StoreFixture()
        try fixture.bump(required: "1")
        try fixture.store.checkWritable()
        try fixture.store.administer("PRAGMA query_only = ON")
        #expect(try code { try fixture.store.checkWritable() } == .readOnly)
        #expect(complaint { try fixture.bump(required: "2") }.contains("writable"))
        #expect(try fixture.store.version(of: fixture.app)?.required?.text == "1")
    }

    /// /readyz names the table, and is well again when it is back.
    @Test("A table that another program takes away is missed, whichever it is")
    func missingTables() throws {
        let fixture = try StoreFixture()
        let tables = try fixture.store.inspect(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ).map { $0[0] }
        #expect(tables.count > 35)
        for table in tables {
            // Renamed as text, because other tables that refer to it would follow its new name.
            func rename(_ old: String, _ new: String) throws {
                try fixture.store.administer(
                    "PRAGMA legacy_alter_table = ON; ALTER TABLE \(old) RENAME TO \(new); PRAGMA legacy_alter_table = OFF"
                )
            }
            try rename(table, "gone")
            #expect(
                complaint { try fixture.store.checkWritable() }.contains("no such table: main.\(table)")
                    || complaint { try fixture.store.checkWritable() }.contains("no such table: \(table)"), "\(table)")
            try rename("gone", table)
            try fixture.store.checkWritable()
        }
    }

    @Test("A write lock that another program keeps is told as such")
    func busy() throws {
        let fixture = try StoreFixture()
        let outsider = try fixture.outsider()
        defer { outsider.close() }
        try fixture.store.administer("PRAGMA busy_timeout = 0")
        try outsider.administer("BEGIN IMMEDIATE")
        #expect(try code { try fixture.bump(required: "1") } == .busy)
        try outsider.administer("ROLLBACK")
        try fixture.bump(required: "1")
    }
}
