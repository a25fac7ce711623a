// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("One user explained, live", .ownThread)
struct UserExplanationTests {
    private static let user = "13800138000"
    private static let path = "/v1/users?telephone=\(user)"

    /// Three devices: behind, current, and of unknown version with a dead token; a campaign that has pushed to the first.
    private func bench() throws -> (bench: Bench, campaign: String) {
        let bench = try Bench()
        for (token, version) in [("ab01", #""1.0""#), ("ab02", #""2.0""#), ("ab03", "null")] {
            let body = #"{"telephone":"\#(Self.user)","version":\#(version)}"#
            #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/\(token)", body).status == 201)
        }
        let id = try bench.campaign(required: "2.0")
        let record = try #require(try bench.store.campaign(id: id))
        try bench.store.planShards(record.key, shardSize: 10, waves: nil, at: Bench.now)
        var rows = DeviceRows()
        try bench.store.readDevices(
            Bench.app, channel: .production, after: 0, through: .max, limit: 10, into: &rows)
        let outcomes = zip(rows.rows, [DeliveryState.accepted, .filtered, .unregistered]).map { row, state in
            LedgerRow(
                device: row.id, state: state, attempts: state == .filtered ? 0 : 1,
                reason: state == .filtered ? FilterReason.alreadyCurrent.rawValue : nil, telephone: row.telephone)
        }
        let dead = try #require(rows.rows.last)
        try bench.store.commitAnew(
            [
                LedgerCommit(
                    campaign: record.key, shard: try bench.store.firstShard(of: record.key), cursor: dead.id,
                    shardDone: true, rows: outcomes, devices: rows,
                    retirements: [
                        TokenRetirement(
                            device: dead.id, deadSince: Bench.now + .seconds(1), registeredAt: Bench.now)
                    ])
            ], at: Bench.now)
        return (bench, id)
    }

    private func words(_ answer: Answer, _ device: Int) -> [String?] {
        ["push", "login", "enforce", "launchDocument"].map {
            answer.text("apps", "0", "devices", "\(device)", "channels", $0, "says")
        }
    }

    @Test("each device is told of with what each channel says, and why")
    func explained() throws {
        let (bench, id) = try bench()
        let told = try bench.askNetwork(
            "GET", "/v1/check?app=com.example.app&platform=ios&version=1.1&telephone=\(Self.user)&token=ab01")
        #expect(told.text("body", "needUpgrade") == "1")
        try bench.until { try bench.store.toldAtLogin([1])[1]?.isEmpty == false }
        let answer = try bench.ask("GET", Self.path)
        #expect(answer.status == 200 && answer.value("known") == .bool(true))
        #expect(answer.count("apps") == 1 && answer.count("apps", "0", "devices") == 3)
        #expect(words(answer, 0) == ["pushed", "mustUpgrade", "denied", "mustUpgrade"])
        #expect(words(answer, 1) == ["notPushed", "nothing", "passes", "nothing"])
        #expect(words(answer, 2) == ["notPushed", "nothing", "unknown", "nothing"])
        func why(_ device: Int, _ channel: String) -> String? {
            answer.text("apps", "0", "devices", "\(device)", "channels", channel, "why")
        }
        #expect(why(0, "push") == "the push service took it, by campaign \(id)")
        #expect(why(0, "login") == "1.1 is below 2.0, which is required of everybody")
        #expect(why(1, "login") == "2.0 meets all that is required and announced")
        #expect(why(2, "push")?.hasPrefix("the push service declared this token dead at 2023-11-14T") == true)
        #expect(answer.text("apps", "0", "devices", "0", "toldAtLogin", "0") == "2.0")
        #expect(answer.count("apps", "0", "devices", "1", "toldAtLogin") == 0)
        #expect(answer.text("apps", "0", "devices", "0", "versionFrom") == "login")
        #expect(answer.text("apps", "0", "devices", "1", "versionFrom") == "registration")
        #expect(answer.count("apps", "0", "pushes") == 3)
        #expect(answer.text("apps", "0", "pushes", "1", "reason") == "alreadyCurrent")
        #expect(!bench.logged.all.contains { $0.contains(Self.user) })
    }

    @Test("a canary's user is told of it, and who is not named is told why nothing holds")
    func canary() throws {
        let (bench, _) = try bench()
        let bump = #"{"required":"3.0","telephones":["\#(Self.user)"]}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/version", bump).status == 202)
        let register = #"{"telephone":"13900139000","version":"2.5"}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/ab09", register).status == 201)
        let named = try bench.ask("GET", Self.path)
        #expect(named.value("apps", "0", "stage", "named") == .bool(true))
        #expect(named.value("apps", "0", "stage", "reached") == .bool(true))
        #expect(words(named, 1) == ["due", "mustUpgrade", "passes", "nothing"])
        #expect(
            named.text("apps", "0", "devices", "1", "channels", "login", "why")
                == "2.0 is below 3.0, which is required of those whom its canary names, this user among them")
        #expect(
            named.text("apps", "0", "devices", "1", "channels", "enforce", "why")
                == "a proxy does not know the user: 2.0 is below 3.0, which is required of those alone whom its canary names, "
                + "and this user is not known to be one of them", "the words are the proxy's, who lets him pass")
        let other = try bench.ask("GET", "/v1/users?telephone=13900139000")
        #expect(other.value("apps", "0", "stage", "reached") == .bool(false))
        #expect(words(other, 0) == ["notPushed", "nothing", "passes", "nothing"])
        #expect(
            other.text("apps", "0", "devices", "0", "channels", "push", "why")
                == "2.5 is below 3.0, which is required of those alone whom its canary names, and this user is not known to "
                + "be one of them")
        #expect(!other.body.contains(Self.user), "whom a canary names is nobody's business")
    }

    @Test("of somebody unknown it says how the number was looked for, and how it is known")
    func unknown() throws {
        let (bench, _) = try bench()
        for (spelt, known) in [
            ("%2B86%20138-0013-8000", true), ("138%200013%208000", true), ("008613800138000", true),
            ("13900139000", false),
            ("x", false),
        ] {
            let answer = try bench.ask("GET", "/v1/users?telephone=\(spelt)")
            #expect(answer.status == 200 && answer.value("known") == .bool(false) && answer.count("apps") == 0)
            #expect(answer.count("similar") == (known ? 1 : 0), "\(spelt)")
            #expect(answer.text("similar", "0") == (known ? Self.user : nil))
        }
        #expect(
            try bench.ask("GET", "/v1/users?telephone=%2B86%20138").text("spelling")
                == "looked for character by character, as apps compare it: 7 characters, 2 of them no digits (PLUS SIGN at 1, "
                + "SPACE at 4)")
        #expect(try bench.ask("GET", "/v1/users").status == 422)
        #expect(try bench.ask("GET", "/v1/users?telephone=").status == 422)
    }

    @Test("whose token is bound to an app learns of no other, and it takes the right to read devices")
    func rights() throws {
        let (bench, _) = try bench()
        bench.control.hasOther.withLock { $0 = true }
        let bound = [("Authorization", "Bearer \(try bench.newToken(.devices, apps: ["com.example.other"]))")]
        let answer = try bench.askNetwork("GET", Self.path, headers: bound)
        #expect(answer.status == 200 && answer.value("known") == .bool(false))
        #expect(
            try bench.askNetwork("GET", "/v1/users?telephone=%2B8613800138000", headers: bound).count("similar") == 0)
        let status = [("Authorization", "Bearer \(try bench.newToken(.status))")]
        #expect(try bench.askNetwork("GET", Self.path, headers: status).status == 403)
        #expect(try bench.askNetwork("GET", Self.path).status == 401)
    }
}
