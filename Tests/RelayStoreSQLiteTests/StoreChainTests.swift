// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import StoreSQL
import Testing

@testable import RelayStoreSQLite

/// The store's growth from release to release.
@Suite("The store's chain", .ownThread)
struct StoreChainTests {
    private let directory: TemporaryDirectory
    private let path: String
    private static let monday = Timestamp(seconds: 1_700_000_000)
    private static let tuesday = Timestamp(seconds: 1_700_086_400)

    private static let first = Migration(
        name: "first", toVersion: 1,
        sql: "CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT, applied_at INTEGER); CREATE TABLE a (x);")
    private static let second = Migration(
        name: "second", toVersion: 2, sql: "CREATE TABLE b (x); INSERT INTO b VALUES (1);")
    private static let brokenSecond = Migration(
        name: "second", toVersion: 2, sql: "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1);")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("relay.db")
        try StoreFile.create(path)
    }

    private func run(_ chain: [Migration], release: String = "1.0", at now: Timestamp = monday) throws {
        try Migration.run(on: SQLiteConnection(path: path), path: path, release: release, at: now, chain: chain)
    }

    private func answers(_ query: String) throws -> [[String]] {
        var found: [[String]] = []
        try SQLiteConnection(path: path).rows(SQL(typed: query), values: [], atMost: .max) { row in
            found.append((0..<row.columnCount).map { row.optionalText($0) ?? "" })
        }
        return found
    }

    private static let steps = "SELECT version, name, applied_at / 1000 FROM migration ORDER BY version"
    private static let releases = "SELECT name, schema_version, opened_at / 1000 FROM release ORDER BY id"
    private static let tables = "SELECT name FROM sqlite_schema WHERE name IN ('a', 'b') ORDER BY name"

    @Test("A step that fails leaves neither its work nor its record, and the next release does it")
    func brokenStep() throws {
        #expect(throws: SQLiteFailure.self) { try run([Self.first, Self.brokenSecond]) }
        #expect(try answers(Self.tables) == [["a"]])
        #expect(try answers("PRAGMA user_version") == [["1"]])
        #expect(try answers(Self.steps) == [["1", "first", "1700000000"]])

        try run([Self.first, Self.second], release: "1.1", at: Self.tuesday)
        #expect(try answers(Self.tables) == [["a"], ["b"]])
        #expect(try answers(Self.steps) == [["1", "first", "1700000000"], ["2", "second", "1700086400"]])
        #expect(try answers(Self.releases) == [["1.0", "2", "1700000000"], ["1.1", "2", "1700086400"]])
    }

    @Test("A first step that fails leaves nothing at all")
    func brokenFirstStep() throws {
        #expect(throws: SQLiteFailure.self) {
            try run([Migration(name: "x", toVersion: 1, sql: Self.first.sql + "INSERT INTO nowhere VALUES (1)")])
        }
        #expect(try answers("SELECT count(*) FROM sqlite_schema") == [["0"]])
        #expect(try answers("PRAGMA user_version") == [["0"]])
        try run([Self.first])
    }

    @Test("Releases are noted when they change, and only then")
    func releasesAreNoted() throws {
        try run([Self.first])
        try run([Self.first], at: Self.tuesday)
        #expect(try answers(Self.releases) == [["1.0", "1", "1700000000"]])
        try run([Self.first, Self.second], release: "2.0", at: Self.tuesday)
        // Back to a release that knows the same schema.
        try run([Self.first, Self.second], release: "1.9", at: Self.tuesday)
        #expect(try answers(Self.releases).map { $0[0] } == ["1.0", "2.0", "1.9"])
    }

    @Test("A store from before releases were noted has an unknown first one")
    func olderStore() throws {
        try run([Self.first])
        try SQLiteConnection(path: path).execute("DROP TABLE release")
        try run([Self.first, Self.second], release: "2.0", at: Self.tuesday)
        #expect(try answers(Self.releases) == [["unknown", "1", "1700000000"], ["2.0", "2", "1700086400"]])
    }

    @Test("An older release refuses what a newer one made and leaves it byte for byte as it was")
    func newerStore() throws {
        try run([Self.first, Self.second])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try code { try run([Self.first]) } == .tooNew)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("Many that open a new store at once do each step once, in order, as one first release")
    func together() async throws {
        let path = path
        let chain = [Self.first, Self.second]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try insisting {
                        try Migration.run(
                            on: SQLiteConnection(path: path), path: path, release: "1.0", at: Self.monday, chain: chain)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try answers(Self.steps).map { $0[1] } == ["first", "second"])
        #expect(try answers("SELECT count(*) FROM b") == [["1"]])
        #expect(try answers(Self.releases) == [["1.0", "2", "1700000000"]])
    }

    @Test("A store from before the pauses of provider tokens keeps its token, which has none")
    func providerTokensFromBeforePauses() throws {
        try run(Migration.chain.filter { $0.toVersion <= 5 })
        try SQLiteConnection(path: path).execute(
            "INSERT INTO provider_token (key, token, issued_at) VALUES ('k', 'a.b.c', 1700000000000)")
        let store = try SQLiteStore(path: path)
        defer { store.close() }
        var token = ProviderToken(text: "a.b.c", issuedAt: Self.monday)
        #expect(try store.providerToken(key: "k") == token)
        token.pausedUntil = Self.tuesday
        #expect(try store.pauseProviderToken(key: "k", until: Self.tuesday, by: nil, at: Self.monday))
        #expect(try store.providerToken(key: "k") == token)
        #expect(try answers("PRAGMA user_version") == [["\(Migration.newest)"]])
    }

    // MARK: Status

    @Test("The status is the same from the open store and from its file, which stays as it is")
    func status() throws {
        let path = directory.file("odd %23 name?#.db")
        let store = try SQLiteStore(path: path, release: "1.0")
        let open = try store.status()
        #expect(open.path == path && open.schemaVersion == Migration.newest && open.size > 0)
        #expect(open.chain.map(\.name) == Migration.chain.map(\.name))
        #expect(open.chain.allSatisfy { $0.appliedAt != nil })
        #expect(open.firstInstalled?.release == "1.0" && open.current == open.firstInstalled)
        // The daemon runs: its log holds pages that the file does not.
        #expect(try SQLiteStore.status(ofFile: path).chain == open.chain)
        store.close()

        try SQLiteStore(path: path, release: "1.1").close()
        let before = try files()
        let closed = try SQLiteStore.status(ofFile: path)
        #expect(closed.chain == open.chain)
        #expect(closed.firstInstalled?.release == "1.0" && closed.current?.release == "1.1")
        #expect(try files() == before, "no file was made, none was changed")
    }

    @Test("What is no store of this release is refused and stays as it is")
    func statusRefuses() throws {
        #expect(complaint { try SQLiteStore.status(ofFile: directory.file("none.db")) }.contains("there is no store"))
        #expect(complaint { try SQLiteStore.status(ofFile: path) }.contains("empty"))
        let store = try SQLiteStore(path: directory.file("new.db"))
        try store.administer("PRAGMA user_version = 99")
        store.close()
        let before = try files()
        #expect(try code { try SQLiteStore.status(ofFile: directory.file("new.db")) } == .tooNew)
        #expect(complaint { try SQLiteStore.status(ofFile: directory.file("new.db")) }.contains("99"))
        #expect(try files() == before)
    }

    @Test("A step that is still to come has no time")
    func statusOfAnOlderStore() throws {
        try run([])
        try SQLiteConnection(path: path).execute("PRAGMA application_id = \(Migration.applicationID)")
        let status = try SQLiteStore.status(ofFile: path)
        #expect(status.schemaVersion == 0 && status.chain.count == Migration.chain.count)
        #expect(status.chain.allSatisfy { $0.appliedAt == nil })
    }

    private func files() throws -> [String: Data] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var files: [String: Data] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            files[file.lastPathComponent] = try Data(contentsOf: file)
        }
        return files
    }
}
