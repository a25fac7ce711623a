// SPDX-License-Identifier: Apache-2.0
import Foundation
package import PrivatePostgres
import TestPeers

/// A server for tests: small, and without any durability.
extension PostgresServer {
    package static let whereToGetIt: String = "PostgreSQL is not installed; \"make test\" installs it"

    /// Shared by all tests of a process that leave it unchanged; made with the first of them.
    package static let shared = Result { try PostgresServer() }

    /// Returns when the server takes connections, also on a port of loopback.
    ///
    /// - Parameters:
    ///   - primary: the server to copy and to follow until `promote`.
    ///   - settings: further lines of postgresql.conf.
    package convenience init(standbyOf primary: PostgresServer? = nil, _ settings: [String] = []) throws {
        // Kept until the server takes it. Another process may be faster, and then this one fails.
        let reserved = try Loopback.ReservedPort()
        let lines = [
            "fsync = off", "synchronous_commit = off", "full_page_writes = off", "shared_buffers = 32MB",
            "max_connections = 120", "log_min_messages = warning", "max_wal_size = 256MB", "autovacuum = on",
        ]
        try self.init(
            port: reserved.port, from: primary.map(Origin.standby) ?? .new, settings: lines + settings)
        withExtendedLifetime(reserved) {}
    }

    /// Makes a writable server of a standby. Returns when it is writable.
    package func promote() throws { try control("promote -w -t 60") }

    /// `pg_ctl restart -m immediate`: as after a crash. Returns when the server takes connections again.
    package func crash() throws { try control("restart -w -t 60 -l log -m immediate") }

    /// `pg_ctl stop` in the given mode; returns when it has stopped.
    package func stop(mode: String = "immediate") throws { try control("stop -w -m \(mode)") }

    package func start() throws { try control("start -w -t 60 -l log") }

    /// Writes a file into the server's folder, readable by the server's user alone.
    package func write(_ bytes: [UInt8], to name: String) throws {
        try run("echo \(Data(bytes).base64EncodedString()) | base64 -d > \(name)")
    }

    package static let pooler = "/usr/sbin/pgbouncer"

    /// Puts a pgbouncer in front of the server, for the server's life.
    /// - Parameter mode: "session" or "transaction".
    /// - Returns: libpq's connection text for it.
    package func pool(_ mode: String) throws -> String {
        let place = try Loopback.ReservedPort()
        let lines = [
            "[databases]", "* = host=\(folder) port=\(port) user=\(Self.superuser)", "[pgbouncer]", "auth_type = any",
            "unix_socket_dir =", "listen_addr = 127.0.0.1", "listen_port = \(place.port)", "pool_mode = \(mode)",
            "pidfile = \(folder)/pgbouncer.pid", "logfile = \(folder)/pgbouncer.log",
        ]
        try write(Array(lines.joined(separator: "\n").utf8), to: "pgbouncer.ini")
        // pgbouncer listens before it goes into the background.
        try run("\(Self.pooler) -q -d \(folder)/pgbouncer.ini")
        return "host=127.0.0.1 port=\(place.port) user=\(Self.superuser) dbname=postgres sslmode=disable"
    }
}
