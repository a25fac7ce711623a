// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import Testing

/// The store's server goes away while a campaign is sent: the relay keeps the answers, waits, and goes on.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct CrashedServerTests {
    @Test func restartsInACampaignLoseNothing() throws {
        let plan = CrashPlan()
        let server = try PostgresServer.durable()
        let trial = try ServerTrial("restart -m immediate", plan, conninfo: server.conninfo(), seconds: plan.kills)
        try trial.begin()
        for number in 1..<plan.kills {
            try trial.pass(left: plan.kills - number)
            try server.crash()
            try trial.goesOn()
        }
        // The last outage lasts until the relay notices it.
        try trial.pass(left: 1)
        try server.stop()
        try trial.bench.readiness(503)
        try server.start()
        try trial.goesOn()
        try trial.end(times: plan.kills)
    }

    @Test func sessionsThatAreEndedAtRandomLoseNothing() throws {
        let plan = CrashPlan()
        let server = try PostgresServer.durable()
        let trial = try ServerTrial(
            "pg_terminate_backend", plan, conninfo: server.conninfo(), seconds: max(3, plan.kills / 2))
        try trial.begin()
        var ended = 0
        while trial.bench.simulator.figures.distinctTokens < trial.fleet.devices.count {
            trial.plan.pass(upTo: .milliseconds(60))
            ended += try server.number(
                """
                SELECT count(pg_terminate_backend(pid)) FROM (
                    SELECT pid FROM pg_stat_activity WHERE application_name = 'upgrade-relay' ORDER BY backend_start
                    OFFSET \(Int.random(in: 0..<6, using: &trial.plan.random)) LIMIT 1) AS one
                """)
        }
        try trial.end(times: ended)
    }

    /// Such as another program's backup: rows that change while it is open cannot be cleared away.
    @Test func aSnapshotThatIsHeldOpenStopsNothing() throws {
        for isHeld in [false, true] {
            let server = try PostgresServer.durable()
            let trial = try ServerTrial(
                isHeld ? "a foreign snapshot" : "no snapshot", CrashPlan(), conninfo: server.conninfo(), seconds: 1)
            try trial.begin()
            let snapshot = isHeld ? try PostgresServer.Held("SELECT FROM upgrade_relay.probe", in: server) : nil
            #expect(try trial.finish().state == "completed")
            let size = try server.sql(
                """
                SELECT pg_relation_size('upgrade_relay.campaign_run') / 1024 || ' KiB, ' || commits || ' commits'
                FROM upgrade_relay.campaign_run
                """)
            snapshot?.end()
            try trial.end(times: 1, note: "(the run's row: \(size))")
        }
    }
}
