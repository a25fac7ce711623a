// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import RelayEngine
import RelayStore
import StorePeers
import TestPeers
import Testing
import Threading

@testable import RelayStorePostgres

/// On a server of its own, since it keeps everybody out for a while.
@Suite(
    "The schema's place", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct SchemaPlaceTests {
    @Test("While one takes it anew and the server lets nobody in, others are told so soon, and have it afterwards")
    func takenAnew() throws {
        let database = try TestDatabase(on: PostgresServer())
        let place = try SchemaPlace(in: PostgresSettings(url: database.conninfo, library: .load()))
        defer { place.close() }
        let owner = try database.connect()
        let deadline = MonotonicTime.soon
        func count(_ locks: String) throws -> String { try owner.value("SELECT count(*) FROM pg_locks WHERE \(locks)") }
        func wait(for locks: String, _ which: String) throws {
            while try count(which) != locks { try #require(MonotonicClock.now() < deadline, "\(which)") }
        }
        let places = "locktype = 'advisory' AND classid = 9"
        #expect(try count(places) == "1")
        // Who logs in reads this table.
        try owner.execute("BEGIN; LOCK TABLE pg_authid IN ACCESS EXCLUSIVE MODE", until: .soon)
        try owner.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE \(places)", until: .soon)
        try wait(for: "0", places)
        let isOver = CancellationFlag()
        // The socket's end may come a moment after the lock's.
        let first = try NativeThread(name: "first") { while (try? place.hold()) != nil, !isOver.isSet {} }
        try wait(for: "1", "NOT granted")
        let start = MonotonicClock.now()
        let error = try #require(throws: StoreError.self) { try place.hold() }
        #expect(error.code == .unreachable)
        #expect(MonotonicClock.now() - start < .seconds(1) * Patience.factor)
        isOver.set()
        try owner.execute("ROLLBACK", until: .soon)
        first.join()
        while (try? place.hold()) == nil { try #require(MonotonicClock.now() < deadline) }
        #expect(try count(places) == "1")
    }
}
