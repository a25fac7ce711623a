// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// A database that went back in time: a failover to a standby that lacks the latest decisions, and a restored dump.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct StaleDatabaseTests {
    @Test("A version that was withdrawn is not sent from a standby that had not heard of it; nor is anything else done")
    func staleStandby() throws {
        let primary = try PostgresServer.durable()
        let standby = try PostgresServer.durable(standbyOf: primary, ["synchronous_standby_names = ''"])
        let fleet = Fleet(count: 2_740)
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 50 },")
        try bench.keepStore(
            inPostgres:
                "host=\(primary.folder),\(standby.folder) port=\(primary.port),\(standby.port) user=\(PostgresServer.superuser) dbname=postgres"
        )
        let state = ["STATE_DIRECTORY": bench.folder.path]
        try bench.launch(environment: state)
        try bench.relay?.waitUntilReady()
        try bench.register(fleet)
        let token = try bench.api(
            "POST", "/v1/tokens", body: Array(#"{"name":"ci","scopes":["status","versions"]}"#.utf8))
        let secret = try #require(token.json["token"] as? String)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 100, deadline: .seconds(60)))
        // From here on the standby receives nothing.
        _ = try bench.until {
            try primary.number("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") > 0 ? true : nil
        }
        try standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        try standby.sql("SELECT pg_reload_conf()")
        _ = try bench.until {
            try standby.number("SELECT count(*) FROM pg_stat_wal_receiver") == 0 ? true : nil
        }
        let withdrawn = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/withdraw", body: Array(#"{"required":"2.0.0"}"#.utf8))
        #expect(withdrawn.status == 200, "\(withdrawn)")
        #expect(try bench.api("DELETE", "/v1/tokens/ci").status == 204)
        #expect(
            try bench.api("DELETE", "/v1/users?telephone=\(try #require(fleet.devices[2_700].telephone))").status < 300)
        _ = try bench.until { try bench.view(campaign).counts["inFlight"] == 0 ? true : nil }
        let sent = bench.simulator.figures.requests
        try primary.stop()
        try standby.promote()
        #expect(
            try standby.number("SELECT count(*) FROM upgrade_relay.campaign WHERE state = 'running'") == 1,
            "it is there")
        try isFallen(bench, secret, sent)
        // The next process knows it from its own directory.
        bench.kill()
        try bench.launch(environment: state)
        try bench.relay?.waitUntilReady()
        try isFallen(bench, secret, sent)
        // The operator repeats what was lost, and accepts the store.
        #expect(
            try bench.api(
                "POST", "/v1/apps/\(Workbench.app)/ios/withdraw", body: Array(#"{"required":"2.0.0"}"#.utf8)
            ).status == 200)
        #expect(try bench.api("DELETE", "/v1/tokens/ci").status == 204)
        let word = try bench.command("store", "accept", "--yes")
        #expect(word.status == 0, "\(word.output)\(word.errors)")
        try bench.readiness(200)
        usleep(2_000_000)
        #expect(bench.simulator.figures.requests == sent, "what was withdrawn is not sent")
        let next = try bench.campaign(of: bench.bump("3.0.0"))
        _ = try bench.until { try bench.view(next).counts["accepted"] ?? 0 > 50 ? true : nil }
    }

    @Test("A dump that is restored into the database under a running relay is seen")
    func restoredDump() throws {
        let server = try PostgresServer.durable()
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 50 },")
        try bench.keepStore(inPostgres: server.conninfo())
        try bench.start()
        try bench.register(Fleet(count: 500))
        let token = try bench.api(
            "POST", "/v1/tokens", body: Array(#"{"name":"ci","scopes":["status","versions"]}"#.utf8))
        let secret = try #require(token.json["token"] as? String)
        let way = "-h \(server.folder) -p \(server.port) -U \(PostgresServer.superuser)"
        try server.run("\"$1/pg_dump\" \(way) -Fc -n upgrade_relay -f dump postgres")
        _ = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 50, deadline: .seconds(60)))
        try server.run("\"$1/pg_restore\" \(way) --clean --if-exists -d postgres dump")
        // Time for the pushes that were in flight then.
        usleep(2_000_000)
        try isFallen(bench, secret, bench.simulator.figures.requests)
    }

    private func isFallen(_ bench: Workbench, _ secret: String, _ sent: Int) throws {
        let ready = try bench.until("readyz says nothing of it") { () -> [String: Any]? in
            guard let answer = try? bench.api("GET", "/readyz"), answer.status == 503 else { return nil }
            let faults = answer.json["faults"] as? [[String: Any]] ?? []
            return faults.first { $0["part"] as? String == "past" }
        }
        let reason = ready["reason"] as? String ?? ""
        #expect(reason.contains("the store went back in time"), "\(ready)")
        #expect(try bench.bump("9.0.0").status == 503, "a webhook")
        let address = try #require(bench.relay?.address)
        var request = HTTPRequest("POST", "http://\(address)/v1/apps/\(Workbench.app)/ios/release")
        request.headers = [("Authorization", "Bearer \(secret)")]
        #expect(try HTTPClient().send(request).status == 503, "a token")
        let check = try HTTPClient().send(
            HTTPRequest("GET", "http://\(address)/v1/check?app=\(Workbench.app)&platform=ios&version=1.0.0"))
        #expect(check.status == 200)
        if sent > 0 {
            usleep(2_500_000)
            #expect(bench.simulator.figures.requests == sent, "nothing is sent")
        }
    }
}
