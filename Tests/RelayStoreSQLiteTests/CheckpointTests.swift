// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import StoreSQL
import Testing

@testable import RelayStoreSQLite

@Suite("When SQLite's log is copied into the file", .timeLimit(.minutes(60)), .ownThread)
struct CheckpointTests {
    /// The number of pages in the log. Copies those that it can.
    private func log(_ fixture: StoreFixture) throws -> Int64? {
        try fixture.store.locked("looking at the log") { connection in
            try connection.first("PRAGMA wal_checkpoint(PASSIVE)") { row in
                row.skip()
                defer { row.leave() }
                return row.integer()
            }
        }
    }

    /// Commits `pages` pages at once.
    private func write(_ pages: Int, _ fixture: StoreFixture) throws {
        try fixture.store.administer(
            """
            CREATE TABLE IF NOT EXISTS bulk (content BLOB);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(pages))
                INSERT INTO bulk SELECT zeroblob(3500) FROM n
            """)
    }

    @Test("A commit copies a log of a usual size, and leaves one that a large batch has left")
    func decision() throws {
        let fixture = try StoreFixture()
        let checkpoints = Checkpoints(try SQLiteStore.reader(path: fixture.path))
        #expect(!checkpoints.isForCommit(Checkpoints.few - 1))
        #expect(checkpoints.isForCommit(Checkpoints.few))
        #expect(checkpoints.isForCommit(Checkpoints.many - 1))
        #expect(!checkpoints.isForCommit(Checkpoints.many))
        checkpoints.settle()
        checkpoints.withoutCommits { #expect(!checkpoints.isForCommit(Checkpoints.few)) }
        #expect(checkpoints.isForCommit(Checkpoints.few), "the large batch is over")
        checkpoints.close()
    }

    @Test("After a large commit the log is copied beside the writer, and begins anew")
    func beside() throws {
        let fixture = try StoreFixture()
        try write(Checkpoints.many + 500, fixture)
        try #require(fixture.store.checkpoints).settle()
        try fixture.store.checkWritable()
        #expect(try #require(try log(fixture)) < 100)
        #expect(try fixture.store.inspect("SELECT count(*) FROM bulk") == [["\(Checkpoints.many + 500)"]])
    }

    @Test("What was left of a log that has become too large is copied before the next large batch")
    func tooLarge() throws {
        let fixture = try StoreFixture()
        let checkpoints = Checkpoints(try SQLiteStore.reader(path: fixture.path))
        func size() throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int)
        }
        try write(500, fixture)
        let before = try size()
        checkpoints.keepUp()
        #expect(try size() == before, "there is no need")
        checkpoints.withoutCommits { _ = checkpoints.isForCommit(Checkpoints.most) }
        checkpoints.settle()
        let after = try size()
        #expect(after - before >= 500 * 4096, "begun beside the batch that left it")
        try write(500, fixture)
        #expect(try size() == after)
        checkpoints.keepUp()
        #expect(try size() - after >= 500 * 4096)
        checkpoints.close()
    }
}
