// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import StorePeers
import Testing

/// The store's server has no room for more: on its disk, or for sessions.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct FullServerTests {
    private static let mounts = ConditionTrait.enabled(if: getuid() == 0, "mounts a small tmpfs, which only root may")

    /// PostgreSQL refuses a write for which the table has no room.
    @Test(mounts) func aFullDiskOfTheTablesIsWaitedFor() throws {
        let server = try PostgresServer.durable()
        let trial = try ServerTrial("disk full: tables", CrashPlan(), conninfo: server.conninfo(), seconds: 4)
        guard let disk = try SmallDisk(in: trial.bench, megabytes: 128) else { return }
        let place = disk.folder.appending(path: "tables").path
        try server.run("mkdir \(place)")
        try server.sql("CREATE TABLESPACE small LOCATION '\(place)'")
        try server.sql("ALTER ROLE \(PostgresServer.superuser) SET default_tablespace = small")
        try trial.begin()
        try trial.pass(left: 3)
        try disk.fill()
        let relay = try #require(trial.bench.relay)
        let line = try #require(relay.waitForLine(" the store refuses", within: .seconds(60)))
        #expect(line.contains("53100"), "\(line)")
        try trial.bench.readiness(503)
        try disk.empty()
        try trial.goesOn()
        try trial.end(times: 1)
    }

    /// PostgreSQL stops when it cannot write its log (postgresql.org/docs, "WAL Internals"), and the operator starts it again.
    @Test(mounts) func aFullDiskOfTheServersLogIsWaitedFor() throws {
        let server = try PostgresServer.durable()
        let trial = try ServerTrial("disk full: pg_wal", CrashPlan(), conninfo: server.conninfo(), seconds: 4)
        guard let disk = try SmallDisk(in: trial.bench, megabytes: 80) else { return }
        try server.stop(mode: "fast")
        try server.run("mv data/pg_wal \(disk.folder.path)/ && ln -s \(disk.folder.path)/pg_wal data/pg_wal")
        try server.start()
        try trial.begin()
        try trial.pass(left: 3)
        try disk.fill()
        // Writes until the next file of the log is needed and cannot be created.
        while (try? server.sql("SELECT pg_switch_wal(); CREATE TABLE public.more (); DROP TABLE public.more")) != nil {}
        let relay = try #require(trial.bench.relay)
        try trial.bench.readiness(503)
        #expect(relay.waitForLine("the database is gone", within: .seconds(60)) != nil)
        try disk.empty()
        try server.run("\"$1/pg_ctl\" -D data -s status || \"$1/pg_ctl\" -D data -s start -w -t 60 -l log")
        try trial.goesOn()
        try trial.end(times: 1)
    }

    @Test func aConnectionLimitIsWaitedFor() throws {
        let server = try PostgresServer.durable()
        // Connection limits do not hold for a superuser.
        try server.run("sed -i '1i local all plain trust' data/pg_hba.conf && \"$1/pg_ctl\" -D data -s reload")
        try server.sql("CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain")
        let trial = try ServerTrial(
            "connection limit", CrashPlan(), conninfo: server.conninfo(user: "plain"), seconds: 4)
        try trial.begin()
        func limit(_ sessions: Int) throws {
            try server.sql("ALTER ROLE plain CONNECTION LIMIT \(sessions)")
            try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'")
        }
        // With fewer sessions than the relay uses, part of its work finds none; with a limit of 0, all of it.
        try trial.pass(left: 3)
        try limit(0)
        let relay = try #require(trial.bench.relay)
        // Other lines may come first: that of a commit that was under way when its session was ended (57P01), that of the lease.
        let line = try trial.bench.until("the store refuses") {
            relay.log.split(separator: "\n").first { $0.contains("the store refuses") && $0.contains("SQLSTATE 53300") }
        }
        #expect(line.contains("too many connections"), "\(line)")
        try trial.bench.readiness(503)
        try limit(-1)
        try trial.goesOn()
        try trial.pass(left: 2)
        try limit(3)
        trial.plan.pass(upTo: .seconds(2))
        try limit(-1)
        try trial.goesOn()
        try trial.end(times: 2)
    }
}
