// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres
import StorePeers

extension PostgresServer {
    /// A server that keeps its commits over a crash.
    static func durable(standbyOf primary: PostgresServer? = nil, _ settings: [String] = []) throws -> PostgresServer {
        try PostgresServer(
            standbyOf: primary, ["fsync = on", "full_page_writes = on", "synchronous_commit = on"] + settings)
    }

    private static var psql: URL { URL(filePath: "\(binaries ?? "")/psql") }

    /// Runs a statement as another program; returns the rows, a line each.
    @discardableResult
    func sql(_ statement: String) throws -> String {
        let result = try CommandResult.of(
            ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, conninfo()], program: Self.psql)
        guard result.status == 0 else { throw Unexpected("\(statement): \(result.errors)") }
        return result.output.trimmingCharacters(in: .newlines)
    }

    func number(_ statement: String) throws -> Int {
        let output = try sql(statement)
        guard let number = Int(output) else { throw Unexpected("no number: \(statement): \(output)") }
        return number
    }

    /// The data of the relay's schema, as text.
    func dump() throws -> String {
        let program = URL(filePath: "\(Self.binaries ?? "")/pg_dump")
        let result = try CommandResult.of(["--data-only", "--schema=upgrade_relay", conninfo()], program: program)
        guard result.status == 0 else { throw Unexpected("pg_dump: \(result.errors)") }
        return result.output
    }

    /// The pushes that all campaigns count as accepted.
    func recorded() throws -> Int {
        try number("SELECT coalesce(sum(accepted), 0) FROM upgrade_relay.campaign_run")
    }

    /// Another program in a transaction of its own, until `end`.
    final class Held {
        private let process = Process()
        private let server: PostgresServer
        private let name = "held-\(UUID().uuidString.prefix(8))"

        /// Returns when it has run the statement, and has a snapshot of that moment.
        init(_ statement: String, in server: PostgresServer) throws {
            self.server = server
            process.executableURL = PostgresServer.psql
            let script = "BEGIN ISOLATION LEVEL REPEATABLE READ; \(statement); SELECT pg_sleep(3600)"
            process.arguments = ["-XAtq", "-c", script, "\(server.conninfo()) application_name=\(name)"]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let deadline = ContinuousClock.now + .seconds(60)
            while try server.sql("SELECT wait_event FROM pg_stat_activity WHERE application_name = '\(name)'")
                != "PgSleep"
            {
                guard process.isRunning, ContinuousClock.now < deadline else { throw Unexpected("psql has nothing") }
            }
        }

        /// Ends the program's session, and waits for its exit.
        func end() {
            guard process.isRunning else { return }
            _ = try? server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)'")
            process.waitUntilExit()
        }

        deinit { end() }
    }
}
