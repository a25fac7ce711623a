// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import Testing
import Threading

@testable import RelayStorePostgres

@Suite("When the server is asked for changes by others")
struct ChangeWatchTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    @Test("A mark counts for a second, or until something may have changed it")
    func ages() {
        var watch = ChangeWatch(longest: .seconds(1))
        #expect(watch.mark(at: start) == nil)
        watch.found(7, doubts: watch.doubts, at: start)
        #expect(watch.mark(at: start + .milliseconds(999)) == 7)
        #expect(watch.mark(at: start + .seconds(1)) == nil)
        watch.doubt()
        #expect(watch.mark(at: start) == nil)
    }

    @Test("An answer that a change has overtaken is not kept")
    func overtaken() {
        var watch = ChangeWatch(longest: .seconds(1))
        let before = watch.doubts
        watch.doubt()
        watch.found(7, doubts: before, at: start)
        #expect(watch.mark(at: start) == nil)
    }

    @Test(
        "What another program writes is heard without asking, and what this relay writes counts at once", .ownThread,
        .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
    func heard() throws {
        let database = try TestDatabase()
        let store = try database.store()
        defer { store.close() }
        #expect(try store.awaitNews(until: .soon).isEverything, "it has just begun to listen")
        let mark = try store.changeMark()
        #expect(try store.changeMark() == mark)
        try database.connect().execute(
            "INSERT INTO version (app, platform, required) VALUES ('a', 'ios', '2')", until: .soon)
        #expect(try store.awaitNews(until: .soon).concerns(["version"]))
        let later = try store.changeMark()
        #expect(later != mark)
        // A session that the server has ended is replaced by one that listens.
        try database.connect().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
            until: .soon)
        try database.connect().execute("UPDATE version SET required = '3'", until: .soon)
        let deadline = MonotonicTime.soon
        while MonotonicClock.now() < deadline {
            if let news = try? store.awaitNews(until: .soon), news.concerns(["version"]) { break }
        }
        let last = try store.changeMark()
        #expect(last != later)
    }
}
