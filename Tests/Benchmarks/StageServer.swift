// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres

/// The kind of store of a stage's daemon.
enum StageStore: String, CaseIterable {
    case sqlite, postgres

    /// A table's name in it.
    func table(_ name: String) -> String { self == .postgres ? "upgrade_relay.\(name)" : name }
}

/// A private PostgreSQL server with the settings that `initdb` makes, with fsync; and the figures of all its processes.
final class StageServer {
    private let server: PostgresServer
    private let postmaster: Int32

    /// - Parameter counting: whether each statement is counted (pg_stat_statements), which costs the server something.
    init(counting: Bool = false) throws {
        server = try PostgresServer(
            settings: counting
                ? ["shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.track = 'top'"] : [])
        let file = try String(contentsOfFile: "\(server.folder)/data/postmaster.pid", encoding: .utf8)
        guard let first = file.split(separator: "\n").first, let process = Int32(first) else {
            throw BenchError("PostgreSQL's server does not say which process it is")
        }
        postmaster = process
        if counting { try ask("CREATE EXTENSION pg_stat_statements") }
    }

    var conninfo: String { server.conninfo() }

    func end() { server.end() }

    struct Usage {
        /// User and system time of all processes, in nanoseconds.
        var processorTime: UInt64 = 0
        /// The bytes that they caused to be sent to the storage layer.
        var written = 0
        /// Where the write-ahead log ends, in bytes.
        var log = 0

        static func - (left: Usage, right: Usage) -> Usage {
            Usage(
                processorTime: left.processorTime - min(right.processorTime, left.processorTime),
                written: left.written - right.written, log: left.log - right.log)
        }
    }

    /// - Parameter asksFirst: whether the query for the log comes before the look at the processes. This leaves out the query's
    ///   cost at the first of two moments.
    func usage(asksFirst: Bool) throws -> Usage {
        var log = 0
        func ask() throws { log = Int(try self.ask("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")) ?? 0 }
        if asksFirst { try ask() }
        var usage = try processes()
        if !asksFirst { try ask() }
        usage.log = log
        return usage
    }

    /// The usage after a program that has just ended: its sessions end after it, and count once the server has waited for them.
    func usageOfEndedSessions() throws -> Usage {
        usleep(500_000)
        return try usage(asksFirst: false)
    }

    /// The number of statements so far, without this one.
    func statements() throws -> Int { Int(try ask("SELECT sum(calls) FROM pg_stat_statements")) ?? 0 }

    /// The output of psql for a statement, or for a command of its own.
    @discardableResult
    func ask(_ question: String) throws -> String {
        guard let programs = PostgresServer.binaries else { throw BenchError("PostgreSQL's programs are gone") }
        let words = ["--no-psqlrc", "-d", conninfo, "-v", "ON_ERROR_STOP=1", "-Atqc", question]
        let answer = String(decoding: try Child(programs + "/psql", words).result(), as: UTF8.self)
        return answer.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The figures of all processes. The postmaster has waited for those that have ended (wait(2)), so they are counted with it.
    private func processes() throws -> Usage {
        let ticks = UInt64(sysconf(Int32(_SC_CLK_TCK)))
        var usage = Usage()
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let process = Int32(entry),
                let stat = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8),
                // The name may contain anything. After it, from 0: 1 is the parent, 13 and 14 are the times of awaited children
                // (proc(5)).
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
