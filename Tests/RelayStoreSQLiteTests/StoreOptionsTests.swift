// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Synchronization
import TestStores
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("What a store is opened with", .timeLimit(.minutes(60)), .ownThread)
struct StoreOptionsTests {
    /// New each time, because they hold a relay's memory of its store.
    private static var onOneThread: SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.readers = 1
        options.copiesLogAside = false
        options.walkedBatch = 1
        return options
    }

    private func fileSize(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test(
        "Without a reader, without a thread beside it, and with imports of any size met by runs, the rules of every driver hold",
        arguments: ConformanceCase.all)
    func oneThread(_ rule: ConformanceCase) async throws {
        let directory = try TemporaryDirectory()
        var options = Self.onOneThread
        options.readers = 0
        try NewStore.copy(to: directory.file("relay.db"))
        let store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        options.membership = Membership()
        let second = rule.isOfTwo ? try SQLiteStore(path: directory.file("relay.db"), options: options) : nil
        defer {
            withExtendedLifetime(directory) {
                second?.close()
                store.close()
            }
        }
        try await rule.hold(for: store, beside: second)
    }

    @Test("Without a thread beside it, a large batch's own commit copies the log")
    func copiesByItself() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("relay.db")
        let store = try SQLiteStore(path: path, options: Self.onOneThread)
        defer { withExtendedLifetime(directory) { store.close() } }
        #expect(store.checkpoints == nil)
        let before = try fileSize(path)
        try store.writeMuch("writing much") { connection in
            try connection.execute(
                """
                CREATE TABLE bulk (content BLOB);
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                    INSERT INTO bulk SELECT zeroblob(3500) FROM n
                """)
        }
        #expect(try fileSize(path) - before >= 2000 * 4096)
    }

    @Test("The schema's steps are recorded with the time that the clock tells")
    func timeOfOpening() throws {
        let directory = try TemporaryDirectory()
        var options = Self.onOneThread
        options.clock = { Timestamp(seconds: 12) }
        let store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        defer { withExtendedLifetime(directory) { store.close() } }
        #expect(try store.inspect("SELECT DISTINCT applied_at FROM migration") == [["12000"]])
        #expect(try store.inspect("SELECT DISTINCT opened_at FROM release") == [["12000"]])
    }

    @Test("A long work takes its time from the ticks that it is given, and rests as it is told to")
    func ticksAndRests() throws {
        let directory = try TemporaryDirectory()
        let time = Mutex(MonotonicTime(nanoseconds: 0))
        let rests = Mutex<[Duration]>([])
        var options = Self.onOneThread
        options.ticks = {
            time.withLock { now in
                defer { now = now + .milliseconds(7) }; return now
            }
        }
        options.rest = { rest in rests.withLock { $0.append(rest) } }
        let store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        defer { withExtendedLifetime(directory) { store.close() } }
        try store.checkWritable()
        #expect(store.figures().commits.seconds == 0.007)
        let now = Timestamp(seconds: 1_700_000_000)
        let report = try store.prune(before: now, at: now) { _ in true }
        #expect(report.longestPause == .milliseconds(7))
        #expect(rests.withLock { !$0.isEmpty && $0.allSatisfy { $0 == .milliseconds(7) } })
        rests.withLock { $0 = [] }
        _ = try store.snapshot { _ in true }
        #expect(rests.withLock { !$0.isEmpty && $0.allSatisfy { $0 == .milliseconds(7) } })
    }

    @Test("A campaign's public id comes from the source of chance")
    func publicID() throws {
        let directory = try TemporaryDirectory()
        var options = Self.onOneThread
        options.random = RandomSource { 0xABCD_EF01_2345_6789 }
        let store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        defer { withExtendedLifetime(directory) { store.close() } }
        let app = AppKey(app: "com.example.app", platform: .ios)
        let bump = VersionBump(app: app, latest: nil, required: try Version("2.0"))
        let now = Timestamp(seconds: 1_700_000_000)
        _ = try store.apply(bump, actor: "tester", source: "test", at: now, draft: nil, receipt: nil) { _ in
            StoredAnswer(status: 200, body: [])
        }
        let draft = CampaignDraft(downloadURL: "https://apps.example.com/app", timeToLive: .seconds(60))
        #expect(try store.reconcile(app, draft: draft, at: now).campaign?.id == "abcdef012345")
    }

    @Test("Others have their turn before each entry, while no lock is held")
    func entries() throws {
        let directory = try TemporaryDirectory()
        let entries = Atomic(0)
        let other = Mutex<SQLiteStore?>(nil)
        var options = Self.onOneThread
        options.onEnter = {
            entries.add(1, ordering: .relaxed)
            // Enters as well, once: behind a lock of the call that is about to begin, it would wait forever.
            guard let store = other.withLock({ $0.take() }) else { return }
            _ = try? store.changeMark()
            _ = try? store.inspect("SELECT 1")
            other.withLock { $0 = store }
        }
        let store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        defer { withExtendedLifetime(directory) { store.close() } }
        #expect(entries.load(ordering: .relaxed) == 0, "to open is none")
        _ = try store.inspect("SELECT 1")
        try store.checkWritable()
        #expect(entries.load(ordering: .relaxed) == 2)
        other.withLock { $0 = store }
        try store.checkWritable()
        _ = try store.inspect("SELECT 1")
        _ = try store.check { _ in true }
        _ = try store.snapshot { _ in true }
        #expect(entries.load(ordering: .relaxed) >= 2 + 4 * 3)
        other.withLock { $0 = nil }
    }
}
