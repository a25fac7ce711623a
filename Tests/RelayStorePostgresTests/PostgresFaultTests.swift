// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import StorePeers
import TestPeers
import Testing
import Threading

@testable import RelayStorePostgres

/// A peer that speaks the protocol and fails by script.
@Suite("A server that fails", .ownThread)
struct PostgresFaultTests {
    private static let insert = PostgresStatement("INSERT INTO things VALUES (1)")
    private static let select = PostgresStatement("SELECT id FROM things", isReadOnly: true)

    private static func took(_ body: () throws -> Void) rethrows -> Duration {
        let start = MonotonicClock.now()
        try body()
        return MonotonicClock.now() - start
    }

    private static func count(_ peer: PostgresPeer, _ word: String) -> Int {
        peer.state.now.statements.count { $0.hasPrefix(word) }
    }

    @Test("A connection that is taken and not answered: the deadline is kept")
    func silentArrival() throws {
        let peer = try PostgresPeer(arrival: { _ in .stall })
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        defer { pool.close() }
        let took = Self.took {
            let error = #expect(throws: StoreError.self) {
                try pool.use(.requests, "asking", until: .after(.milliseconds(300))) { _ in }
            }
            #expect(error?.code == .unreachable)
            #expect(error?.context.contains("127.0.0.1 port \(peer.port) failed: it does not answer") == true)
        }
        // A connection attempt has a second, however short the deadline is.
        #expect(took >= .seconds(1) && took < .seconds(3) * Patience.factor, "\(took)")
    }

    @Test("Of two servers the first is silent: the second one has its turn")
    func secondServer() throws {
        let (silent, good) = (try PostgresPeer(arrival: { _ in .stall }), try PostgresPeer())
        defer {
            silent.stop()
            good.stop()
        }
        let conninfo =
            "host=127.0.0.1,127.0.0.1 port=\(silent.port),\(good.port) user=relay sslmode=disable connect_timeout=1"
        let took = try Self.took {
            let connection = try TestDatabase.dialer(conninfo).dial(.requests, until: .soon)
            #expect(connection.end == nil)
        }
        #expect(took >= .seconds(1) && took < .seconds(4) * Patience.factor, "\(took)")
        #expect(good.state.now.connections == 1)
    }

    @Test("A statement that is not answered, and cannot be cancelled: its connection is closed")
    func silentStatement() throws {
        let peer = try PostgresPeer { _, text in text.hasPrefix("INSERT") ? .stall : .done }
        defer { peer.stop() }
        let connection = try TestDatabase.dialer(peer.conninfo).dial(.requests, until: .soon)
        let took = Self.took {
            let failure = #expect(throws: PostgresFailure.self) {
                try connection.execute("INSERT", until: .after(.milliseconds(300)))
            }
            #expect(failure?.cause == .silent)
            #expect(failure?.isOutcomeUnknown == true)
        }
        #expect(took >= .milliseconds(1300) && took < .seconds(5) * Patience.factor, "\(took)")
        #expect(peer.state.wait { $0.cancels == 1 })
        #expect(connection.end != nil)
    }

    @Test("A write that was answered by the end of its connection is not done twice, and reading is done again")
    func lostAnswer() throws {
        let peer = try PostgresPeer { connection, text in
            text.hasPrefix("INSERT") || text.hasPrefix("SELECT id") && connection == 1 ? .cut : .done
        }
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        defer { pool.close() }
        let error = #expect(throws: StoreError.self) {
            try pool.use(.requests, "writing", until: .soon) { connection in
                _ = try connection.execute("INSERT", until: .soon).count
            }
        }
        #expect(error?.code == .unreachable)
        #expect(error?.context.hasSuffix("whether it was done is not known") == true)
        #expect(Self.count(peer, "INSERT") == 1)
        // The first connection is gone; on the second the answer is lost; the third gets it.
        let rows = try pool.use(.requests, "reading", isReadOnly: true, until: .soon) { connection in
            try connection.run(Self.select, until: .soon).count
        }
        #expect(rows == 0)
        #expect(peer.state.now.connections == 3)
    }

    @Test("Connections that look well and are dead: the first one that is used tells of all")
    func allAreDead() throws {
        let areDead = CancellationFlag()
        let peer = try PostgresPeer { connection, text in
            areDead.isSet && connection < 4 && text.hasPrefix("SELECT id") ? .cut : .done
        }
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        defer { pool.close() }
        func hold(_ count: Int) throws {
            guard count > 0 else { return }
            try pool.use(.requests, "holding", until: .soon) { _ in try hold(count - 1) }
        }
        try hold(4)
        areDead.set()
        let rows = try pool.use(.requests, "reading", isReadOnly: true, until: .soon) { connection in
            try connection.run(Self.select, until: .soon).count
        }
        #expect(rows == 0)
        #expect(peer.state.now.connections == 5)
    }

    @Test("A transaction whose connection ends before its COMMIT is done again; at its COMMIT it is not")
    func lostTransaction() throws {
        let peer = try PostgresPeer { connection, text in
            switch (connection, text) {
            case (0, let text) where text.hasPrefix("INSERT"): .end("57P01", "terminating connection")
            case (1, "COMMIT"): .cut
            default: .done
            }
        }
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        defer { pool.close() }
        let error = #expect(throws: StoreError.self) {
            try pool.write(.requests, "writing", until: .soon) { connection in
                _ = try connection.execute("INSERT", until: .soon).count
            }
        }
        #expect(error?.context.hasSuffix("whether it was done is not known") == true)
        #expect(Self.count(peer, "INSERT") == 2)
        #expect(Self.count(peer, "COMMIT") == 1)
        try pool.write(.requests, "writing", until: .soon) { connection in
            _ = try connection.execute("INSERT", until: .soon).count
        }
        #expect(Self.count(peer, "COMMIT") == 2)
    }

    @Test(
        "A deadlock is tried three times; a lock that was not had in time, a full disk, a broken rule, once",
        arguments: [
            ("40P01", 3, StoreError.Code.busy), ("40001", 3, .busy), ("55P03", 1, .busy), ("53100", 1, .full),
            ("23505", 1, .conflict), ("42501", 1, .failed),
        ])
    func refused(state: String, times: Int, code: StoreError.Code) throws {
        let peer = try PostgresPeer { _, text in text.hasPrefix("INSERT") ? .refuse(state) : .done }
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        defer { pool.close() }
        let error = #expect(throws: StoreError.self) {
            try pool.write(.requests, "writing", until: .soon) { connection in
                _ = try connection.execute("INSERT", until: .soon).count
            }
        }
        #expect(error?.code == code)
        #expect(
            error?.context.hasPrefix("writing failed: PostgreSQL says: as the test wants it (SQLSTATE \(state)") == true
        )
        #expect(Self.count(peer, "INSERT") == times)
        #expect(peer.state.now.connections == 1)
    }

    @Test("A plan that stays stale is prepared anew once, and no more")
    func stalePlan() throws {
        let peer = try PostgresPeer { _, text in text.hasPrefix("INSERT") ? .refuse("0A000") : .done }
        defer { peer.stop() }
        let connection = try TestDatabase.dialer(peer.conninfo).dial(.requests, until: .soon)
        let failure = #expect(throws: PostgresFailure.self) { try connection.run(Self.insert, until: .soon).count }
        #expect(failure?.state == "0A000")
        #expect(connection.end == nil)
        // Parse is refused here already, because the peer does not distinguish it from the run.
        #expect(Self.count(peer, "INSERT") == 2)
    }

    @Test("A server that starts lets nobody in: 57P03 is waited out")
    func starting() throws {
        let peer = try PostgresPeer(arrival: { $0 < 2 ? .end("57P03", "the database system is starting up") : .done })
        defer { peer.stop() }
        let logged = LogLines()
        let pool = try TestDatabase.pool(peer.conninfo, log: logged.log)
        defer { pool.close() }
        try pool.use(.requests, "asking", until: .soon) { _ in }
        #expect(peer.state.now.connections == 3)
        #expect(logged.lines.now == ["error the database is gone", "notice the database is back"])
    }

    @Test("What is closed gives nobody a session")
    func closed() throws {
        let peer = try PostgresPeer()
        defer { peer.stop() }
        let pool = try TestDatabase.pool(peer.conninfo)
        try pool.use(.requests, "asking", until: .soon) { _ in }
        pool.close()
        let error = #expect(throws: StoreError.self) { try pool.use(.requests, "asking", until: .soon) { _ in } }
        #expect(error?.context.contains("the store is closed") == true)
        #expect(peer.state.now.connections == 1)
    }
}
