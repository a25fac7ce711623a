// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import RelayStore
import StorePeers
import TestPeers
import Testing

@testable import RelayStorePostgres

@Suite(
    "What may be between the relay and the server", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresWayTests {
    /// A server with TLS, and the identity that has signed for it.
    private static func server() throws -> (PostgresServer, TestIdentity) {
        let identity = try TestIdentity()
        let server = try PostgresServer()
        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
        try server.write(bytes(identity.chainPath), to: "data/server.crt")
        try server.write(bytes(identity.keyPath), to: "data/server.key")
        try server.run("echo 'ssl = on' >> data/postgresql.conf")
        try server.crash()
        return (server, identity)
    }

    private static func conninfo(_ server: PostgresServer, _ authority: String) -> String {
        "host=localhost hostaddr=127.0.0.1 port=\(server.port) user=\(PostgresServer.superuser) dbname=postgres "
            + "sslmode=verify-full sslrootcert=\(authority)"
    }

    @Test("Over TLS: much in one answer, much by COPY, and what takes too long is cancelled")
    func tls() throws {
        let (server, identity) = try Self.server()
        let connection = try TestDatabase.dialer(Self.conninfo(server, identity.authorityPath)).dial(
            .long, until: .soon)
        #expect(try connection.value("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t")
        // Single values and rows that are longer than a record of TLS and libpq's buffer.
        for length in [8_000, 16_384, 100_000, 5_000_000] {
            #expect(try connection.value("SELECT repeat('x', \(length))").utf8.count == length)
        }
        let rows = try connection.execute("SELECT g, repeat('y', 200) FROM generate_series(1, 50000) g", until: .soon)
        #expect(rows.count == 50_000)
        try connection.execute("CREATE TABLE public.things (bytes bytea)", until: .soon)
        let written = try connection.copy("COPY public.things FROM STDIN (FORMAT binary)", until: .soon) { rows in
            for _ in 0..<300 { try rows.row(columns: 1) { $0.add([UInt8](repeating: 1, count: 50_000)) } }
        }
        #expect(written == 300)
        let failure = #expect(throws: PostgresFailure.self) {
            try connection.execute("SELECT pg_sleep(60)", until: .after(.milliseconds(200))).count
        }
        #expect(failure?.state == "57014")
        #expect(try connection.value("SELECT 1") == "1")
    }

    @Test("A server whose certificate nobody vouches for is not spoken to")
    func untrusted() throws {
        let (server, _) = try Self.server()
        let other = try TestIdentity()
        let failure = try #require(throws: PostgresFailure.self) {
            _ = try TestDatabase.dialer(Self.conninfo(server, other.authorityPath), password: "hunter2-hunter2").dial(
                .requests, until: .soon)
        }
        #expect(failure.message.contains("certificate verify failed"))
        #expect(!failure.message.contains("hunter2"))
    }

    @Test(
        "A pooler: its session mode does, its transaction mode is found out",
        .enabled(if: FileManager.default.isExecutableFile(atPath: PostgresServer.pooler), "there is no pgbouncer"),
        arguments: [("session", []), ("transaction", [SessionFault.Code.transactionPooler])])
    func pooler(mode: String, codes: [SessionFault.Code]) throws {
        let server = try PostgresServer()
        let pool = try TestDatabase.pool(server.pool(mode))
        defer { pool.close() }
        let faults = try pool.faults(schema: "upgrade_relay", connections: 8, until: .soon)
        #expect(faults.map(\.code) == [.noFsync, .noFullPageWrites] + codes)
        if let fault = faults.last, fault.code == .transactionPooler {
            #expect(fault.context.contains("a pooler between the relay and the server"))
            #expect(fault.hint.contains("pool_mode = session"))
        }
    }
}
