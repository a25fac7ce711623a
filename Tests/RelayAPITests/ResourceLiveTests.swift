// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import HTTPServer
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import SeedApps
import StoreConformance
import Synchronization
import Testing
import Threading
import UpgradeRules
import VersionSources
import WireFormat

@Suite("Resources, live", .ownThread)
struct ResourceLiveTests {
    static let version = "/v1/apps/com.example.app/ios/version"
    static let devices = "/v1/apps/com.example.app/ios/devices"

    @Test("a version is read before and after it is set, with its history")
    func versions() throws {
        let bench = try Bench()
        let before = try bench.ask("GET", Self.version)
        #expect(before.status == 200)
        #expect(before.value("required") == .null)
        #expect(before.count("history") == 0)
        #expect(try bench.ask("PUT", Self.version, #"{"required":"1.0"}"#).status == 202)
        #expect(
            try bench.ask("PUT", Self.version, #"{"required":"2.0","message":"Now","telephones":["1"]}"#).status == 202)
        let after = try bench.ask("GET", Self.version)
        #expect(after.text("required") == "2.0")
        #expect(after.text("message") == "Now")
        #expect(after.text("telephones", "0") == "1")
        #expect(after.count("history") == 2)
        #expect(after.text("history", "0", "actor") == SystemUser.shown(geteuid()))
        #expect(after.text("history", "0", "source") == "cli")
        #expect(try bench.ask("GET", "\(Self.version)?limit=1").count("history") == 1)
        let apps = try bench.ask("GET", "/v1/apps")
        #expect(apps.count("items") == 2)
        #expect(apps.text("items", "0", "platform") == "android")
        #expect(apps.value("items", "0", "required") == .null)
        #expect(apps.text("items", "1", "required") == "2.0")

        #expect(try bench.ask("PUT", Self.version, #"{"required":"1.5"}"#).status == 409)
        #expect(try bench.ask("PUT", Self.version, #"{"app":"com.example.app","required":"3"}"#).status == 422)
        #expect(try bench.ask("GET", "/v1/apps/other/ios/version").status == 404)
    }

    @Test("one device: put, get, put again, delete")
    func oneDevice() throws {
        let bench = try Bench()
        let path = "\(Self.devices)/ABCDEF01"
        let body = #"{"telephone":"13800138000","version":"1.9.0","environment":"sandbox"}"#
        #expect(try bench.ask("GET", path).status == 404)
        #expect(try bench.ask("PUT", path, body).status == 201)
        let got = try bench.ask("GET", path)
        #expect(
            got.body
                == #"{"app":"com.example.app","platform":"ios","token":"abcdef01","telephone":"13800138000","#
                + #""version":"1.9.0","environment":"sandbox","osVersion":null,"country":null,"registeredAt":"2023-11-14T22:13:20.000Z","#
                + #""retiredAt":null}"#)
        let out = try bench.ask("PUT", path, #"{"telephone":null}"#)
        #expect(out.status == 200)
        #expect(out.value("telephone") == .null)
        #expect(out.text("environment") == "production")
        #expect(try bench.ask("DELETE", path).status == 204)
        #expect(try bench.ask("DELETE", path).status == 404)

        let wrong = try bench.ask("PUT", path, #"{"telephone":13800138000}"#)
        #expect(wrong.status == 422)
        #expect(
            wrong.text("errors", "0", "reason")
                == "a string is needed, such as \"13800138000\"; got the number 13800138000")
        #expect(try bench.ask("PUT", "\(Self.devices)/xyz", "{}").text("errors", "0", "field") == "token")
        let android = "/v1/apps/com.example.app/android/devices/a%3AB_c-d"
        #expect(try bench.ask("PUT", android, "{}").text("token") == "a:B_c-d")
    }

    @Test(
        "No door for a single device takes what a program printed in the place of a number",
        arguments: ["(null)", "NULL", "<null>", "Optional(\\\"138\\\")", "[object Object]", "nil"])
    func printedTelephone(text: String) throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/ios/devices/ffee"
        #expect(try bench.ask("PUT", path, #"{"telephone":"138"}"#).status == 201)
        let version = #"{"required":"2.0","telephones":["\#(text)"]}"#
        for (method, place, body) in [
            ("PUT", path, #"{"telephone":"\#(text)"}"#), ("PATCH", path, #"{"telephone":"\#(text)"}"#),
            ("PUT", "/v1/apps/com.example.app/ios/version", version),
        ] {
            let answer = try bench.ask(method, place, body)
            #expect(answer.status == 422, "\(method) \(place)")
            // The id of the request, beside it, may have any digits.
            let said = try #require(answer.text("detail"), "\(answer.body)")
            #expect(said.contains("prints for no value") && !said.contains("138"))
        }
        #expect(try bench.ask("GET", path).text("telephone") == "138")
    }

    @Test("PATCH and the import change what they name; null forgets")
    func parts() throws {
        let bench = try Bench()
        let path = "\(Self.devices)/abcdef01"
        #expect(try bench.ask("PATCH", path, "{}").status == 404)
        let body = #"{"telephone":"13800138000","version":"1.9.0","environment":"sandbox"}"#
        #expect(try bench.ask("PUT", path, body).status == 201)
        var answer = try bench.ask("PATCH", path, #"{"version":"1.9.1"}"#)
        #expect(answer.status == 200)
        #expect(answer.text("version") == "1.9.1")
        #expect(answer.text("telephone") == "13800138000")
        #expect(answer.text("environment") == "sandbox")
        #expect(try bench.ask("GET", path).body == answer.body)
        #expect(
            try bench.ask("POST", Self.devices, #"{"token":"ABCDEF01","version":"2.0"}"# + "\n").number("stored") == "1"
        )
        answer = try bench.ask("GET", path)
        #expect(answer.text("version") == "2.0")
        #expect(answer.text("telephone") == "13800138000")
        #expect(answer.text("environment") == "sandbox")
        #expect(try bench.ask("PATCH", path, #"{"telephone":null}"#).value("telephone") == .null)
        #expect(
            try bench.ask("POST", Self.devices, #"{"token":"abcdef01","version":null,"environment":null}"# + "\n")
                .number("stored") == "1")
        answer = try bench.ask("GET", path)
        #expect(answer.value("version") == .null)
        #expect(answer.text("environment") == "production")
        #expect(try bench.ask("PATCH", path, #"{"token":"ab"}"#).text("errors", "0", "field") == "token")
        #expect(try bench.ask("PATCH", path, #"{"telephone":""}"#).status == 422)
    }

    @Test("a nightly sync of an export revives no dead token and registers nobody anew")
    func nightlySync() throws {
        let bench = try Bench()
        let path = "\(Self.devices)/abcdef01"
        #expect(try bench.ask("PUT", path, #"{"telephone":"1","version":"1.9.0"}"#).status == 201)
        let alive = try bench.ask("GET", Self.devices).body
        let death = #"{"token":"abcdef01","deadSince":"2023-11-14T22:13:21Z"}"# + "\n"
        bench.clock.advance(by: .seconds(60))
        #expect(try bench.ask("POST", Self.devices, death).number("updated") == "1")
        let dead = try bench.ask("GET", path)
        #expect(dead.text("retiredAt") == "2023-11-14T22:13:21.000Z")
        #expect(dead.text("registeredAt") == "2023-11-14T22:13:20.000Z")
        let export = try bench.ask("GET", Self.devices).body
        let times = #""registeredAt":"2023-11-14T22:13:20.000Z","deadSince":"2023-11-14T22:13:21.000Z","seenAt":null}"#
        #expect(export.contains(times))
        let plain = #"{"token":"abcdef01","telephone":"1","version":"1.9.0"}"# + "\n"
        for lines in [plain, alive, export] {
            bench.clock.advance(by: .seconds(60))
            let answer = try bench.ask("POST", Self.devices, lines)
            #expect(answer.number("unchanged") == "1", "\(answer.body)")
            #expect(try bench.ask("GET", path).body == dead.body)
        }
        let later = #"{"token":"abcdef01","registeredAt":"2023-11-14T22:13:22+00:00"}"# + "\n"
        #expect(try bench.ask("POST", Self.devices, later).number("updated") == "1")
        let revived = try bench.ask("GET", path)
        #expect(revived.value("retiredAt") == .null)
        #expect(revived.text("registeredAt") == "2023-11-14T22:13:22.000Z")
        // A device that is registered alone is registered by the app itself.
        #expect(try bench.ask("PATCH", path, "{}").text("registeredAt") == "2023-11-14T22:17:20.000Z")
    }

    @Test("a dry run tells what would be stored, and stores nothing")
    func dryRun() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "\(Self.devices)/ab", #"{"telephone":"1"}"#).status == 201)
        #expect(try bench.ask("PUT", "\(Self.devices)/ac", "{}").status == 201)
        let before = try bench.ask("GET", Self.devices).body
        let lines = [
            #"{"token":"ab","telephone":"2"}"#, #"{"token":"ac"}"#, #"{"token":"ad"}"#, #"{"token":"ad"}"#, "x",
        ].joined(separator: "\n")
        for (query, again) in [("?dryRun=true", "1"), ("?dryRun=false", "1"), ("", "0")] {
            let answer = try bench.ask("POST", Self.devices + query, lines)
            #expect(answer.number("new") == again)
            #expect(answer.number("updated") == again)
            #expect(answer.number("refusedCount") == "1")
            #expect(answer.number("stored") == "4")
            if query == "?dryRun=true" { #expect(try bench.ask("GET", Self.devices).body == before) }
        }
        #expect(try bench.ask("POST", "\(Self.devices)?dryRun=1", lines).status == 422)
    }

    @Test("ten thousand lines with faulty ones between; the export gives them back")
    func manyDevices() throws {
        let bench = try Bench()
        var text = ""
        var good = 0
        for number in 1...10_000 {
            if number % 50 == 0 {
                text += #"{"token":"zz","telephone":"1"}"# + "\n"
            } else if number == 5001 {
                text += String(repeating: "x", count: 20_000) + "\n"
            } else {
                let token = String(repeating: "0", count: 64 - String(number).count) + String(number)
                text += #"{"token":"\#(token)","telephone":"1380013\#(number)","version":"1.0"}"# + "\n"
                good += 1
            }
        }
        let answer = try bench.ask("POST", Self.devices, text)
        #expect(answer.status == 200)
        #expect(answer.number("stored") == String(good))
        #expect(answer.number("new") == String(good))
        #expect(answer.number("refusedCount") == "201")
        #expect(answer.count("refused") == 201)
        #expect(answer.number("refused", "0", "line") == "50")
        #expect(answer.number("refused", "100", "line") == "5001")
        #expect(answer.number("refused", "200", "line") == "10000")
        #expect(
            answer.text("refused", "0", "reason") == "token: only hex digits are allowed; position 1 holds another")

        let export = try bench.ask("GET", Self.devices)
        #expect(export[header: "content-type"] == "application/x-ndjson")
        #expect(export.body.split(separator: "\n").count == good)
        // An export can be imported again, and changes nothing.
        bench.clock.advance(by: .seconds(3600))
        let again = try bench.ask("POST", Self.devices, export.body)
        #expect(again.number("stored") == String(good))
        #expect(again.number("unchanged") == String(good))
        #expect(try bench.ask("GET", Self.devices).body == export.body)

        let plan = try bench.ask("POST", "/v1/apps/com.example.app/ios/plan", #"{"required":"2.0"}"#)
        #expect(plan.number("audience") == String(good))
        #expect(plan.text("samplePayload", "aps", "alert") == "Upgrade")
        let sample = try #require(plan.body.firstRange(of: #"{"aps":"#)).lowerBound
        let end = try #require(plan.body.firstRange(of: #","samplePayloadSize":"#)).lowerBound
        let payload = Array(plan.body[sample..<end].utf8)
        #expect(plan.number("samplePayloadSize") == String(payload.count))
        #expect(PushJury(pushType: "needUpgrade").fault(of: payload, users: ["138"]) == nil)
    }

    @Test("refused lines are answered up to the limit, and counted behind it")
    func refusedLines() throws {
        var limits = APILimits()
        limits.refusedLines = 3
        let bench = try Bench(limits: limits)
        let faulty = "{" + (1...100).map { "\"field\($0)\":1" }.joined(separator: ",") + "}\n"
        let answer = try bench.ask("POST", Self.devices, String(repeating: faulty, count: 5))
        #expect(answer.number("refusedCount") == "5")
        #expect(answer.count("refused") == 3)
        let reason = try #require(answer.text("refused", "2", "reason"))
        #expect(reason.hasPrefix("token: is missing"))
        #expect(reason.hasSuffix("…"))
        #expect(reason.count == 401)
    }

    @Test("campaigns: paged, paused, resumed, cancelled")
    func campaigns() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "\(Self.devices)/abcd", #"{"telephone":"1","version":"1"}"#).status == 201)
        let ids = try ["1.0", "2.0", "3.0"].map { try bench.campaign(required: $0) }
        let first = try bench.ask("GET", "/v1/campaigns?limit=2")
        #expect(first.count("items") == 2)
        #expect(first.text("items", "0", "id") == ids[2])
        let next = try #require(first.text("next"))
        let second = try bench.ask("GET", "/v1/campaigns?limit=2&cursor=\(next)")
        #expect(second.count("items") == 1)
        #expect(second.text("items", "0", "id") == ids[0])
        #expect(second.text("items", "0", "state") == "superseded")
        #expect(second.value("next") == .null)

        let running = try bench.ask("GET", "/v1/campaigns?state=running")
        #expect(running.count("items") == 1 && running.text("items", "0", "id") == ids[2])
        #expect(try bench.ask("GET", "/v1/campaigns?state=superseded&app=com.example.app").count("items") == 2)
        #expect(try bench.ask("GET", "/v1/campaigns?app=com.example.gone").count("items") == 0)

        let path = "/v1/campaigns/\(ids[2])"
        #expect(try bench.ask("POST", "\(path)/pause").text("state") == "paused")
        #expect(try bench.ask("POST", "\(path)/pause").status == 409)
        #expect(try bench.ask("POST", "\(path)/resume").text("state") == "running")
        #expect(try bench.ask("POST", "\(path)/cancel").text("state") == "cancelled")
        #expect(try bench.ask("POST", "\(path)/resume").status == 409)
        #expect(try bench.ask("GET", path).text("state") == "cancelled")
        #expect(try bench.ask("GET", "/v1/campaigns/ffffffffffff").status == 404)
        #expect(try bench.ask("POST", "/v1/campaigns/ffffffffffff/pause").status == 404)
    }

    @Test("campaigns: wanted at any hour, and who wants that")
    func urgent() throws {
        let bench = try Bench()
        let until = Bench.now + .seconds(3600)
        bench.control.hours.withLock { $0 = HoursWait(until: until, text: "outside the app's hours") }
        let bump = "/v1/apps/com.example.app/ios/version"
        let asleep = try bench.ask("PUT", bump, #"{"required":"1.0"}"#)
        #expect(asleep.text("warnings", "0") == "outside the app's hours")
        #expect(asleep.value("campaign", "now") == .null)
        let block = try bench.ask("PUT", bump, #"{"blocked":["0.9"]}"#)
        #expect(block.text("warnings", "1") == "outside the app's hours", "\(block.body)")
        let path = "/v1/campaigns/\(try #require(asleep.text("campaign", "id")))"
        let urgent = try bench.ask("PUT", bump, #"{"required":"2.0","now":true}"#)
        #expect(urgent.count("warnings") == 0 && urgent.text("campaign", "now", "at") == Bench.now.internetTime)
        #expect(try bench.ask("POST", "\(path)/resume", #"{"now":"yes"}"#).status == 422)
        #expect(try bench.ask("POST", "\(path)/resume", #"{"later":true}"#).status == 422)
        let second = "/v1/campaigns/\(try #require(urgent.text("campaign", "id")))"
        #expect(try bench.ask("POST", "\(second)/pause").value("now") == .null)
        #expect(try bench.ask("POST", "\(second)/resume").value("now") == .null)
        #expect(try bench.ask("POST", "\(second)/pause").status == 200)
        #expect(try bench.ask("POST", "\(second)/resume", #"{"now":true}"#).text("now", "at") == Bench.now.internetTime)
        #expect(try bench.ask("POST", "\(second)/cancel").status == 200)
        #expect(try bench.ask("POST", "\(second)/retry", #"{"states":["cancelled"],"now":true}"#).status == 409)
    }

    @Test("deliveries: by campaign, state, telephone and token")
    func deliveries() throws {
        let bench = try Bench()
        for number in 1...3 {
            let body = #"{"telephone":"1\#(number)","version":"1"}"#
            #expect(try bench.ask("PUT", "\(Self.devices)/ab0\(number)", body).status == 201)
        }
        let id = try bench.campaign(required: "2.0")
        let record = try #require(try bench.store.campaign(id: id))
        try bench.store.planShards(record.key, shardSize: 10, waves: nil, at: Bench.now)
        var rows = DeviceRows()
        try bench.store.readDevices(
            Bench.app, channel: .production, after: 0, through: .max, limit: 10, into: &rows)
        let outcomes = rows.rows.enumerated().map { index, row in
            LedgerRow(
                device: row.id, state: index == 2 ? .rejected : .accepted, attempts: 1,
                reason: index == 2 ? "BadDeviceToken" : nil, telephone: row.telephone)
        }
        try bench.store.commitAnew(
            [
                LedgerCommit(
                    campaign: record.key, shard: try bench.store.firstShard(of: record.key),
                    cursor: rows.rows.last?.id ?? 0, shardDone: true, rows: outcomes,
                    devices: rows, retirements: [])
            ], at: Bench.now)

        let path = "/v1/campaigns/\(id)/deliveries"
        let page = try bench.ask("GET", "\(path)?limit=2")
        #expect(page.count("items") == 2)
        #expect(
            page.text("items", "0", "apnsId")
                == PushID.text(campaign: id, device: rows.rows.first?.id ?? 0))
        let rest = try bench.ask("GET", "\(path)?limit=2&cursor=\(page.text("next") ?? "")")
        #expect(rest.count("items") == 1)
        #expect(rest.text("items", "0", "reason") == "BadDeviceToken")
        #expect(try bench.ask("GET", "\(path)?state=rejected").count("items") == 1)
        #expect(try bench.ask("GET", "\(path)?telephone=12").text("items", "0", "token") == "ab02")
        #expect(try bench.ask("GET", "/v1/deliveries?telephone=13").text("items", "0", "state") == "rejected")
        #expect(try bench.ask("GET", "/v1/deliveries?token=AB01").text("items", "0", "telephone") == "11")
        #expect(try bench.ask("GET", "/v1/deliveries?telephone=nobody").count("items") == 0)
        let later = try bench.campaign(required: "3.0")
        let newest = try bench.ask("GET", "/v1/deliveries?telephone=13&limit=1")
        #expect(newest.count("items") == 1)
        #expect(newest.text("items", "0", "campaign") == later)
        let older = try bench.ask("GET", "/v1/deliveries?telephone=13&limit=1&cursor=\(newest.text("next") ?? "")")
        #expect(older.text("items", "0", "campaign") == id)
        #expect(older.value("next") == .null)
        let foreign = try bench.ask("GET", "/v1/deliveries?telephone=13&cursor=\(page.text("next") ?? "")")
        #expect(foreign.text("errors", "0", "field") == "cursor")
        let campaign = try bench.ask("GET", "/v1/campaigns/\(id)")
        #expect(campaign.number("counts", "accepted") == "2")
        #expect(campaign.number("rejectedBy", "BadDeviceToken") == "1")
        #expect(campaign.number("filteredBy", "noTelephone") == "0")
    }

    @Test(
        "parameters that nobody asked for",
        arguments: [
            ("/v1/campaigns?limit=0", "limit"), ("/v1/campaigns?state=runing", "state"),
            ("/v1/campaigns?limit=x", "limit"), ("/v1/campaigns?page=2", "page"),
            ("/v1/campaigns?limit=1&limit=2", "limit"), ("/v1/campaigns?cursor=zz", "cursor"), ("/healthz?x=1", "x"),
            ("/v1/deliveries", "telephone"), ("/v1/deliveries?telephone=1&token=2", "telephone"),
            ("/v1/campaigns/00/deliveries?state=done", "state"), ("/v1/deliveries?telephone=", "telephone"),
        ])
    func parameters(path: String, field: String) throws {
        let bench = try Bench()
        let answer = try bench.ask("GET", path)
        #expect(answer.status == 422)
        #expect(answer.text("errors", "0", "field") == field)
    }
}
