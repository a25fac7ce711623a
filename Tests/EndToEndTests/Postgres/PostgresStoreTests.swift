// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import StorePeers
import Testing

@testable import PushSimulator

/// The main job with the store in a database.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresStoreTests {
    @Test func aSignedWebhookReachesEveryPhoneThatNeedsIt() throws {
        let server = try PostgresServer.durable()
        let fleet = Fleet(count: 2_000, withoutTelephone: 10, current: 7)
        let dead = Set(fleet.behind.prefix(30).map(\.token))
        let bench = try Workbench { $0.faults.deadTokens = dead }
        try bench.keepStore(inPostgres: server.conninfo())
        #expect(try bench.command("check-config").status == 0)
        try bench.start()
        try bench.register(fleet)
        let answer = try bench.bump("2.0.0", id: "release-2")
        #expect(answer.status == 202)
        let campaign = try bench.campaign(of: answer)
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.state == "completed")
        #expect(end.addsUp)
        #expect(end.counts["audience"] == 2_000)
        #expect(end.counts["accepted"] == fleet.behind.count - 30)
        #expect(end.counts["unregistered"] == 30)
        let record = try bench.record()
        #expect(Set(record.compactMap { $0["token"] as? String }).count == fleet.behind.count - 30)
        // The same webhook again: the same answer, and nothing moves.
        #expect(try bench.campaign(of: try bench.bump("2.0.0", id: "release-2")) == campaign)
        #expect(try bench.bump("1.5", id: "lower").status == 409)
        // The dead are known dead now.
        let second = try bench.follow(try bench.campaign(of: bench.bump("2.1.0"))) { $0.isFinal }
        #expect(second.filteredBy["knownDead"] == 30)
        #expect(second.addsUp)
        #expect(try bench.command("store", "check").output.contains("the store is sound"))
        let backup = try bench.command("store", "backup", bench.path("backup.db"))
        #expect(backup.status != 0)
        #expect(backup.errors.contains("pg_dump"), "\(backup.errors)")
        bench.kill()
        let status = try bench.command("store", "status")
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.output.contains("PostgreSQL") || status.output.contains("upgrade_relay"), "\(status.output)")
    }

    @Test func killedInTheMiddleItGoesOn() throws {
        let server = try PostgresServer.durable()
        let fleet = Fleet(count: 5_000)
        let bench = try Workbench { $0.latency = .milliseconds(20) }
        try bench.keepStore(inPostgres: server.conninfo())
        try bench.start()
        try bench.register(fleet)
        let campaign = try bench.campaign(of: try bench.bump("2.0.0"))
        _ = try bench.follow(campaign) { ($0.counts["accepted"] ?? 0) > 0 || $0.isFinal }
        bench.kill()
        try bench.start()
        let end = try bench.follow(campaign) { $0.isFinal }
        #expect(end.state == "completed")
        #expect(end.addsUp)
        let tokens = Set(try bench.record().compactMap { $0["token"] as? String })
        #expect(tokens.isSuperset(of: fleet.behind.map(\.token)))
        #expect(try bench.command("store", "check").output.contains("the store is sound"))
    }

    /// PostgreSQL has no text with a NUL: a request with one is the client's mistake, not the store's.
    @Test(arguments: [true, false]) func aNULIsRefusedAtEveryDoor(isPostgres: Bool) throws {
        let server = isPostgres ? try PostgresServer.durable() : nil
        let bench = try Workbench()
        if let server { try bench.keepStore(inPostgres: server.conninfo()) }
        try bench.start()
        let app = "/v1/apps/\(Workbench.app)/ios"
        for (method, path, body, status) in [
            ("GET", "/v1/campaigns/a%00b", "", 400), ("DELETE", "/v1/tokens/a%00b", "", 400),
            ("GET", "/v1/apps/a%00b/ios/version", "", 400), ("GET", "/v1/devices?telephone=1%000", "", 400),
            ("GET", "/v1/users?telephone=1%000", "", 400), ("DELETE", "/v1/users?telephone=1%000", "", 400),
            ("GET", "/v1/deliveries?telephone=1%000", "", 400), ("GET", "/v1/notifications?campaign=1%000", "", 400),
            ("GET", "/v1/check?app=\(Workbench.app)&platform=ios&version=1&telephone=1%000", "", 400),
            ("PUT", "\(app)/alert", #"{"message":"a\u0000b"}"#, 422),
            ("PUT", "\(app)/version", #"{"required":"2","downloadUrl":"https://a/\u0000"}"#, 422),
            ("PUT", "\(app)/version", #"{"required":"2","telephones":["1\u00002"]}"#, 422),
            ("PUT", "\(app)/devices/00ff", #"{"telephone":"1\u00002"}"#, 422),
            ("POST", "\(app)/withdraw", #"{"required":"2","reason":"a\u0000b"}"#, 422),
            ("POST", "/v1/tokens", #"{"name":"a\u0000b","scopes":["status"]}"#, 422),
        ] {
            let answer = try bench.api(method, path, body: body.isEmpty ? nil : Array(body.utf8))
            #expect(answer.status == status, "\(method) \(path) \(body): \(answer)")
            if status == 422 {
                let reason = ((answer.json["errors"] as? [[String: Any]])?.first?["reason"] as? String) ?? ""
                #expect(reason.contains("U+0000") || reason.contains("\\u0000"), "\(method) \(path) \(body): \(answer)")
            }
        }
    }
}
