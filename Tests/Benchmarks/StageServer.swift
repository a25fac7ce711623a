// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres

/// Where a stage's daemon has its store.
enum StageStore: String, CaseIterable {
    case sqlite, postgres
}

/// A private server of PostgreSQL with its own settings, as `initdb` makes them: with fsync. And what all its processes have done.
final class StageServer {
    private let server: PostgresServer
    private let postmaster: Int32

    /// - Parameter counting: has each statement counted (pg_stat_statements), which costs it something.
    init(counting: Bool = false) throws {
        server = try PostgresServer(
            settings: counting
                ? ["shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.track = 'top'"] : [])
        let file = try String(contentsOfFile: "\(server.folder)/data/postmaster.pid", encoding: .utf8)
        guard let first = file.split(separator: "\n").first, let process = Int32(first) else {
            throw BenchError("PostgreSQL's server does not say which process it is")
        }
        postmaster = process
        if counting { _ = try ask("CREATE EXTENSION pg_stat_statements") }
    }

    var conninfo: String { server.conninfo() }

    func end() { server.end() }

    struct Usage {
        /// User and system time of all processes, in nanoseconds.
        var processorTime: UInt64 = 0
        /// What they caused to be sent to the storage layer, in bytes.
        var written = 0
        /// Where the write-ahead log ends, in bytes.
        var log = 0

        static func - (left: Usage, right: Usage) -> Usage {
            Usage(
                processorTime: left.processorTime - min(right.processorTime, left.processorTime),
                written: left.written - right.written, log: left.log - right.log)
        }
    }

    /// - Parameter asksFirst: whether the question for the log comes before the look at the processes: what it costs is left out where
    ///   that is the first of two moments.
    func usage(asksFirst: Bool) throws -> Usage {
        var log = 0
        func ask() throws { log = Int(try self.ask("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")) ?? 0 }
        if asksFirst { try ask() }
        var usage = try processes()
        if !asksFirst { try ask() }
        usage.log = log
        return usage
    }

    /// How many statements were run so far; this one is not counted yet.
    func statements() throws -> Int { Int(try ask("SELECT sum(calls) FROM pg_stat_statements")) ?? 0 }

    private func ask(_ question: String) throws -> String {
        try server.run(
            "\"$1/psql\" -h \(server.folder) -p \(server.port) -U \(PostgresServer.superuser) -d postgres -Atc \"\(question)\" > answer"
        )
        let answer = try String(contentsOfFile: "\(server.folder)/answer", encoding: .utf8)
        return answer.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Of those that have ended the postmaster has waited for (wait(2)), so that they are counted with it.
    private func processes() throws -> Usage {
        let ticks = UInt64(sysconf(Int32(_SC_CLK_TCK)))
        var usage = Usage()
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let process = Int32(entry),
                let stat = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8),
                // The name may have anything in it. Behind it, from 0: 1 the parent, 13 and 14 what waited-for children used (proc(5)).
                let fields = stat.split(separator: ")").last?.split(separator: " "), fields.count > 14,
                process == postmaster || Int32(fields[1]) == postmaster,
                let own = try? ProcessUsage(of: process)
            else { continue }
            usage.processorTime += own.processorTime
            usage.written += own.written
            if process == postmaster {
                let ended = (UInt64(fields[13]) ?? 0) + (UInt64(fields[14]) ?? 0)
                usage.processorTime += ended * (1_000_000_000 / ticks)
            }
        }
        return usage
    }
}
