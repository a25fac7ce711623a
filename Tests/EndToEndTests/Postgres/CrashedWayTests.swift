// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// The connection to the store's server fails while a campaign is sent; the server itself is well.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct CrashedWayTests {
    private static func conninfo(_ port: UInt16) -> String {
        "host=127.0.0.1 port=\(port) user=\(PostgresServer.superuser) dbname=postgres sslmode=disable"
    }

    @Test func connectionsThatAreCutAndHeldUpAtRandomLoseNothing() throws {
        let plan = CrashPlan()
        let server = try PostgresServer.durable()
        let proxy = try StallingProxy(to: server.port)
        defer { proxy.stop() }
        let trial = try ServerTrial(
            "proxy cuts, or stalls below a second", plan, conninfo: Self.conninfo(proxy.port), seconds: plan.kills)
        try trial.begin()
        let times = plan.kills * 2
        for number in 1...times {
            try trial.pass(left: times - number)
            if Bool.random(using: &trial.plan.random) {
                proxy.stall()
                trial.plan.pass(upTo: .milliseconds(900))
                // Bytes in flight get through at times, and are lost at times.
                if Bool.random(using: &trial.plan.random) { proxy.cut() }
                proxy.release()
            } else {
                proxy.cut()
            }
            try trial.goesOn()
        }
        try trial.end(times: times)
    }

    /// No byte passes until the relay reports it, which is after the deadline of the statement that it waits for.
    @Test func aStallThatIsLongerThanTheDeadlineIsTold() throws {
        let plan = CrashPlan()
        let server = try PostgresServer.durable()
        let proxy = try StallingProxy(to: server.port)
        defer { proxy.stop() }
        let trial = try ServerTrial(
            "proxy stalls beyond the deadline", plan, conninfo: Self.conninfo(proxy.port), seconds: 4)
        try trial.begin()
        let times = max(1, plan.kills / 4)
        for number in 1...times {
            try trial.pass(left: times - number + 1)
            let begun = ContinuousClock.now
            proxy.stall()
            try trial.bench.readiness(503)
            let told = ContinuousClock.now - begun
            let relay = try #require(trial.bench.relay)
            try #require(relay.waitForLine(" the store ", times: 2 * number - 1, within: .seconds(60)), "\(relay.log)")
            print("    readyz 503 after \(told), a line after \(ContinuousClock.now - begun)")
            proxy.release()
            try trial.goesOn()
        }
        try trial.end(times: times)
    }
}
