// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import Testing

/// The server dies in the middle of a campaign, and its standby takes its place.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct CrashedPrimaryTests {
    private static func conninfo(_ servers: PostgresServer...) -> String {
        "host=\(servers.map(\.folder).joined(separator: ",")) port=\(servers.map { String($0.port) }.joined(separator: ",")) "
            + "user=\(PostgresServer.superuser) dbname=postgres"
    }

    /// A standby that waits for no standby of its own once it is promoted.
    private static func standby(of primary: PostgresServer) throws -> PostgresServer {
        try .durable(standbyOf: primary, ["synchronous_standby_names = ''"])
    }

    private func isFollowed(_ primary: PostgresServer, _ bench: Workbench) throws {
        _ = try bench.until {
            try primary.number("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") > 0 ? true : nil
        }
    }

    @Test func aSynchronousStandbyHasAllThatWasRecorded() throws {
        let primary = try PostgresServer.durable()
        let standby = try Self.standby(of: primary)
        let trial = try ServerTrial(
            "failover, synchronous", CrashPlan(), conninfo: Self.conninfo(primary, standby), seconds: 4)
        try isFollowed(primary, trial.bench)
        try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try primary.sql("SELECT pg_reload_conf()")
        try trial.begin()
        try trial.pass(left: 1)
        try primary.stop()
        try standby.promote()
        try trial.goesOn()
        try trial.end(times: 1)
        #expect(try standby.recorded() == trial.fleet.devices.count)
    }

    /// Pushes whose records the standby lacked when the server died are sent again on an operator's word, with the same ids; no
    /// others are.
    @Test func anAsynchronousStandbyLosesWhatItHadNotGot() throws {
        let primary = try PostgresServer.durable()
        let standby = try Self.standby(of: primary)
        let trial = try ServerTrial(
            "failover, asynchronous", CrashPlan(), conninfo: Self.conninfo(primary, standby), seconds: 4)
        try isFollowed(primary, trial.bench)
        try trial.begin()
        try trial.pass(left: 2)
        // From here on the standby receives nothing.
        try standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        try standby.sql("SELECT pg_reload_conf()")
        _ = try trial.bench.until {
            try standby.number("SELECT count(*) FROM pg_stat_wal_receiver") == 0 ? true : nil
        }
        let kept = try standby.recorded()
        _ = try trial.bench.until { try primary.recorded() > kept ? true : nil }
        try trial.pass(left: 2)
        try primary.stop()
        try standby.promote()
        // Allowed twice: pushes sent so far that the standby has no record of, and pushes in flight that no campaign could record.
        let sent = trial.bench.simulator.figures.accepted
        _ = try trial.bench.until("the relay does not see it") {
            try trial.bench.api("GET", "/readyz").status == 503
                && trial.bench.relay?.log.contains("went back in time") == true
                ? true : nil
        }
        let word = try trial.bench.command("store", "accept", "--yes")
        #expect(word.status == 0, "\(word.output)\(word.errors)")
        try trial.goesOn()
        let relay = try #require(trial.bench.relay)
        func late() -> Int {
            relay.log.matches(of: #/came too late .* pushes=(\d+)/#).compactMap { Int($0.output.1) }.reduce(0, +)
        }
        try trial.end(times: 1, twice: sent - kept + late(), note: "(\(kept) recorded of \(sent))")
    }
}
