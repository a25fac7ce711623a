// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// A real server of PostgreSQL with a private cluster, in a folder of its own below /tmp, on a socket there.
///
/// It belongs to a shell that waits for its input to end: so the server stops, and its folder is removed, however this
/// process ends. PostgreSQL refuses to run as root: where this process is root, the server runs as `postgres`, a user that
/// Debian's package makes.
package final class PostgresServer: Sendable {
    /// Why there is no server.
    package struct Failure: Error, CustomStringConvertible {
        package var context: String
        /// Advice on what to do about it.
        package var hint: String?

        package var description: String { hint.map { "\(context) (\($0))" } ?? context }
    }

    /// The data that the server begins with.
    package enum Origin {
        case new
        /// A copy of another server's data, which this one follows as its standby.
        case standby(of: PostgresServer)
    }

    /// The folder with the programs of the newest installed version, or the folder that POSTGRES_BINARIES names; nil where
    /// there is none.
    package static let binaries: String? = {
        if let named = ProcessEnvironment.value("POSTGRES_BINARIES") { return named }
        let root = "/usr/lib/postgresql"
        let versions = (try? Folder.names(root)) ?? []
        return versions.compactMap { Int($0) }.sorted().map { "\(root)/\($0)/bin" }.last {
            unsafe access("\($0)/initdb", X_OK) == 0
        }
    }()

    package static var isInstalled: Bool { binaries != nil }

    /// The cluster's owner, which has all rights.
    package static let superuser = "relay"

    /// The folder of its socket and its data.
    package let folder: String
    /// The port on 127.0.0.1, where one was given; else only a part of its socket's name (unix_socket_directories).
    package let port: UInt16
    private let shell: Lifeline

    /// Starts a server, and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - port: the port on 127.0.0.1, beside the socket; nil: the socket alone.
    ///   - settings: lines of postgresql.conf; without any it is as durable as PostgreSQL is by default.
    ///   - binaries: the folder with the server's programs; nil: there is none.
    /// - Throws: `Failure`.
    package init(
        port: UInt16? = nil, from origin: Origin = .new, settings: [String],
        binaries: String? = PostgresServer.binaries
    ) throws {
        guard let binaries else {
            throw Failure(context: "PostgreSQL's server is not installed", hint: "apt-get install postgresql")
        }
        self.port = port ?? 5432
        let lines = ["listen_addresses = '\(port == nil ? "" : "127.0.0.1")'", "port = \(self.port)"] + settings
        let user = Self.superuser
        let script = """
            set -e
            umask 077
            folder=$(mktemp -d /tmp/upgrade-relay-postgres-XXXXXX)
            end() {
                # What else was started here.
                for other in *.pid; do [ ! -e "$other" ] || kill "$(cat "$other")"; done
                [ ! -e data/postmaster.pid ] || "$1/pg_ctl" -D data -s -m immediate stop >&2
                rm -rf "$folder"
            }
            trap 'end "$1"' EXIT
            # Whoever reads is gone: then an echo fails, and that is the end.
            trap '' PIPE
            cd "$folder"
            \(Self.command(origin)) > new.log 2>&1 || { cat new.log >&2; exit 1; }
            printf '%s\\n' "$2" "unix_socket_directories = '$folder'" >> data/postgresql.conf
            { echo 'local all \(user) trust'; echo 'host all \(user) 127.0.0.1/32 trust';
              echo 'local replication \(user) trust';
              echo 'host all all 127.0.0.1/32 scram-sha-256'; echo 'local all all scram-sha-256'; } > data/pg_hba.conf
            "$1/pg_ctl" -D data -w -t 60 -l log -s start >&2 || { cat log >&2; exit 1; }
            echo "$folder"
            # Whoever reads what a test run says need not wait until the folder is gone.
            exec 2> /dev/null
            # Each line is a command, run as this user in this folder; the answer is its exit code.
            while read -r line; do eval "$line" >> commands.log 2>&1 < /dev/null && echo 0 || echo $?; done
            """
        shell = try Lifeline(
            as: geteuid() == 0 ? "postgres" : nil,
            ["/bin/sh", "-c", script, "sh", binaries, lines.joined(separator: "\n")])
        folder = try shell.line()
        guard folder.hasPrefix("/tmp/") else {
            throw Failure(
                context: "PostgreSQL's server did not start", hint: "Its output is above; as root it runs as postgres"
            )
        }
    }

    private static func command(_ origin: Origin) -> String {
        switch origin {
        case .new:
            "\"$1/initdb\" --no-sync --auth=trust --encoding=UTF8 --locale=C --username=\(superuser) -D data"
        case .standby(let primary):
            "\"$1/pg_basebackup\" -h \(primary.folder) -p \(primary.port) -U \(superuser) -D data -R -X stream -c fast "
                + "--no-sync"
        }
    }

    /// The connection string for libpq, by the server's socket.
    package func conninfo(database: String = "postgres", user: String = superuser) -> String {
        "host=\(folder) port=\(port) user=\(user) dbname=\(database)"
    }

    /// Runs a line of the shell as the server's user, in its folder; `$1` is the folder of its programs.
    package func run(_ line: String) throws {
        let code = try shell.ask(line)
        guard code == "0" else {
            throw Failure(context: "\(line): exit code \(code)", hint: "See \(folder)/commands.log")
        }
    }

    /// Runs `pg_ctl` on its data, with these arguments.
    package func control(_ words: String) throws { try run("\"$1/pg_ctl\" -D data -s \(words)") }

    /// Stops the server, and removes its folder; does nothing a second time. Releasing this object does the same.
    package func end() { shell.end() }

    /// Stops the server, and leaves its folder with its data.
    package func endKeepingData() {
        // The trap would remove the folder.
        if (try? run("trap - EXIT")) != nil { try? control("stop -w -m fast") }
        end()
    }
}
