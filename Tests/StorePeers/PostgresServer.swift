// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestPeers

/// A real server of PostgreSQL with a private cluster, in a folder of its own, on a socket there and on a port of loopback.
///
/// It belongs to a shell that waits for its input to end: so it stops, and its folder goes, however the process of the test
/// ends. PostgreSQL refuses to run as root: then it runs as `postgres`, whom Debian's package makes.
package final class PostgresServer: Sendable {
    /// The newest that is installed; nil where there is none.
    package static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { Int($0) }.sorted().map { "\(root)/\($0)/bin" }.last {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
        }
    }()

    package static var isInstalled: Bool { binaries != nil }
    package static let whereToGetIt: String = "PostgreSQL is not installed; \"make test\" installs it"

    /// One for all tests of a process that leave it as it is: made with the first of them.
    package static let shared = Result { try PostgresServer() }

    /// Where its socket is, and its data.
    package let folder: String
    package let port: UInt16
    private let shell: Lifeline

    /// Its owner, who may do anything.
    package static let superuser = "relay"

    /// Returns when it takes connections.
    ///
    /// - Parameters:
    ///   - primary: whose standby it is: a copy, which follows it until `promote`.
    ///   - settings: lines of postgresql.conf beside those of a test server: small, and durable for nobody.
    package init(standbyOf primary: PostgresServer? = nil, _ settings: [String] = []) throws {
        guard let binaries = Self.binaries else { throw PeerError(Self.whereToGetIt) }
        // Kept as long as it takes to be given to the server: another process may be faster, and then this one fails.
        let reserved = try Loopback.ReservedPort()
        port = reserved.port
        let lines = [
            "listen_addresses = '127.0.0.1'", "port = \(port)", "fsync = off", "synchronous_commit = off",
            "full_page_writes = off", "shared_buffers = 32MB", "max_connections = 60", "log_min_messages = warning",
            "max_wal_size = 256MB", "autovacuum = on",
        ]
        let script = """
            set -e
            umask 077
            folder=$(mktemp -d /tmp/upgrade-relay-postgres-XXXXXX)
            end() {
                [ ! -e pgbouncer.pid ] || kill "$(cat pgbouncer.pid)"
                [ ! -e data/postmaster.pid ] || "$1/pg_ctl" -D data -s -m immediate stop >&2
                rm -rf "$folder"
            }
            trap 'end "$1"' EXIT
            # Whoever reads is gone: then an echo fails, and that is the end.
            trap '' PIPE
            cd "$folder"
            \(primary.map(Self.copy) ?? Self.new) > new.log 2>&1 || { cat new.log >&2; exit 1; }
            printf '%s\\n' "$2" "unix_socket_directories = '$folder'" >> data/postgresql.conf
            { echo 'local all \(Self.superuser) trust'; echo 'host all \(Self.superuser) 127.0.0.1/32 trust';
              echo 'local replication \(Self.superuser) trust';
              echo 'host all all 127.0.0.1/32 scram-sha-256'; echo 'local all all scram-sha-256'; } > data/pg_hba.conf
            "$1/pg_ctl" -D data -w -t 60 -l log -s start >&2 || { cat log >&2; exit 1; }
            echo "$folder"
            # Each line is a command of the test's, run as this user in this folder; the answer is its exit code.
            while read -r line; do eval "$line" >> commands.log 2>&1 < /dev/null && echo 0 || echo $?; done
            """
        shell = try Lifeline(
            as: geteuid() == 0 ? "postgres" : nil,
            ["/bin/sh", "-c", script, "sh", binaries, (lines + settings).joined(separator: "\n")])
        folder = try shell.line()
        guard folder.hasPrefix("/tmp/") else { throw PeerError("the server did not start; its words are above") }
    }

    private static let new =
        "\"$1/initdb\" --no-sync --auth=trust --encoding=UTF8 --locale=C --username=\(superuser) -D data"

    private static func copy(of primary: PostgresServer) -> String {
        "\"$1/pg_basebackup\" -h \(primary.folder) -p \(primary.port) -U \(superuser) -D data -R -X stream -c fast --no-sync"
    }

    /// Makes a standby a server that can be written to. Returns when it is.
    package func promote() throws { try control("promote -w -t 60") }

    /// libpq's text for it: by its socket.
    package func conninfo(database: String = "postgres", user: String = superuser) -> String {
        "host=\(folder) port=\(port) user=\(user) dbname=\(database)"
    }

    /// `pg_ctl restart -m immediate`: as after a crash. Returns when it takes connections again.
    package func crash() throws { try control("restart -w -t 60 -l log -m immediate") }

    /// `pg_ctl stop` in the given mode; returns when it has stopped.
    package func stop(mode: String = "immediate") throws { try control("stop -w -m \(mode)") }

    package func start() throws { try control("start -w -t 60 -l log") }

    private func control(_ words: String) throws { try run("\"$1/pg_ctl\" -D data -s \(words)") }

    /// Writes a file of its folder, for its user alone.
    package func write(_ bytes: [UInt8], to name: String) throws {
        try run("echo \(Data(bytes).base64EncodedString()) | base64 -d > \(name)")
    }

    package static let pooler = "/usr/sbin/pgbouncer"

    /// Puts a pgbouncer in front of it, for this server's life.
    /// - Parameter mode: "session" or "transaction".
    /// - Returns: libpq's text for it.
    package func pool(_ mode: String) throws -> String {
        let place = try Loopback.ReservedPort()
        let lines = [
            "[databases]", "* = host=\(folder) port=\(port) user=\(Self.superuser)", "[pgbouncer]", "auth_type = any",
            "unix_socket_dir =", "listen_addr = 127.0.0.1", "listen_port = \(place.port)", "pool_mode = \(mode)",
            "pidfile = \(folder)/pgbouncer.pid", "logfile = \(folder)/pgbouncer.log",
        ]
        try write(Array(lines.joined(separator: "\n").utf8), to: "pgbouncer.ini")
        // It listens before it goes into the background.
        try run("\(Self.pooler) -q -d \(folder)/pgbouncer.ini")
        return "host=127.0.0.1 port=\(place.port) user=\(Self.superuser) dbname=postgres sslmode=disable"
    }

    /// Runs a line of the shell as the server's user, in its folder; `$1` is where its programs are.
    package func run(_ line: String) throws {
        let code = try shell.ask(line)
        guard code == "0" else { throw PeerError("\(line): exit code \(code); see \(folder)/commands.log") }
    }
}

/// A program that ends when its input does, which is when nobody holds this any more, or the process is gone.
private final class Lifeline: Sendable {
    private struct Ends: @unchecked Sendable {
        // Used under the lock of `asking` alone, after init.
        let process = Process()
        let input = Pipe()
        let output = Pipe()
    }

    private let ends = Ends()
    private let asking = NSLock()

    init(as user: String?, _ command: [String]) throws {
        let words = user.map { ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups", "--"] } ?? []
        let all = words + command
        ends.process.executableURL = URL(filePath: all[0])
        ends.process.arguments = Array(all.dropFirst())
        ends.process.standardInput = ends.input
        ends.process.standardOutput = ends.output
        // A terminal's Ctrl-C must not reach it before the test has ended, and its folder is no place of ours.
        ends.process.currentDirectoryURL = URL(filePath: "/tmp")
        try ends.process.run()
    }

    deinit {
        try? ends.input.fileHandleForWriting.close()
        ends.process.waitUntilExit()
    }

    func line() throws -> String {
        var line: [UInt8] = []
        while let byte = try ends.output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    func ask(_ command: String) throws -> String {
        try asking.withLock {
            try ends.input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
            return try line()
        }
    }
}
