// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import StoreConformance
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@Suite("One user's data, live", .ownThread)
struct UserErasureTests {
    private static let user = "13800138000"

    /// Two devices of the user in one app, one in another, one of another user; a campaign that was sent.
    private func bench() throws -> (bench: Bench, campaign: String) {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        for (app, token, telephone) in [
            ("com.example.app", "ab01", Self.user), ("com.example.app", "ab02", Self.user),
            ("com.example.app", "ab03", "139"), ("com.example.other", "ab01", Self.user),
        ] {
            let body = #"{"telephone":"\#(telephone)","version":"1.0"}"#
            #expect(try bench.ask("PUT", "/v1/apps/\(app)/ios/devices/\(token)", body).status == 201)
        }
        let id = try bench.campaign(required: "2.0")
        try bench.send(id)
        return (bench, id)
    }

    @Test("a user's devices are found in every app, by telephone and by token, page by page")
    func found() throws {
        let (bench, _) = try bench()
        let all = try bench.ask("GET", "/v1/devices?telephone=\(Self.user)")
        #expect(all.count("items") == 3)
        #expect(all.text("items", "2", "app") == "com.example.other")
        #expect(try bench.ask("GET", "/v1/devices?telephone=\(Self.user)&app=com.example.other").count("items") == 1)
        #expect(try bench.ask("GET", "/v1/devices?telephone=\(Self.user)&platform=android").count("items") == 0)
        #expect(try bench.ask("GET", "/v1/devices?token=AB01").count("items") == 2)
        let page = try bench.ask("GET", "/v1/devices?telephone=\(Self.user)&limit=2")
        #expect(page.count("items") == 2)
        let rest = try bench.ask(
            "GET", "/v1/devices?telephone=\(Self.user)&limit=2&cursor=\(page.text("next") ?? "")")
        #expect(rest.count("items") == 1 && rest.value("next") == .null)
    }

    @Test("an erased user is nowhere, what was sent stays, and the log does not name the user")
    func erased() throws {
        let (bench, id) = try bench()
        let path = "/v1/users?telephone=\(Self.user)"
        let before = try bench.ask("GET", "/v1/campaigns/\(id)").value("counts")
        let answer = try bench.ask("DELETE", path)
        #expect(answer.status == 200)
        #expect(answer.number("devices") == "3" && answer.number("deliveries") == "2")
        #expect(answer.text("sentence")?.contains("forgotten; the phone number is out of 2 deliveries.") ?? false)
        #expect(try bench.ask("DELETE", path).status == 404)
        #expect(try bench.ask("GET", path).value("known") == .bool(false))
        #expect(try bench.ask("GET", "/v1/devices?telephone=\(Self.user)").count("items") == 0)
        #expect(try bench.ask("GET", "/v1/apps/com.example.app/ios/devices/ab01").status == 404)
        #expect(try bench.ask("GET", "/v1/apps/com.example.app/ios/devices").body.split(separator: "\n").count == 1)
        #expect(try bench.ask("GET", "/v1/deliveries?telephone=\(Self.user)").count("items") == 0)
        let sent = try bench.ask("GET", "/v1/campaigns/\(id)/deliveries")
        #expect(sent.count("items") == 3)
        #expect(sent.text("items", "0", "token") == "ab01")
        #expect(sent.text("items", "0", "state") == "accepted")
        #expect(sent.value("items", "0", "telephone") == .null)
        #expect(sent.text("items", "2", "telephone") == "139")
        #expect(try bench.ask("GET", "/v1/campaigns/\(id)").value("counts") == before)
        let lines = bench.logged.all.filter { $0.contains("a user was erased") }
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix("notice a user was erased telephone=138…00 devices=3 deliveries=2 by=") == true,
            "\(lines)")
        #expect(!bench.logged.all.contains { $0.contains(Self.user) })
        // The phone's next user finds nothing of it.
        let next = #"{"telephone":"next"}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/ab01", next).status == 200)
        #expect(try bench.ask("GET", "/v1/deliveries?telephone=next").count("items") == 0)
    }

    @Test("whose token is bound to an app finds and erases there alone; a mistake is refused")
    func bound() throws {
        let (bench, _) = try bench()
        let headers = [
            ("Authorization", "Bearer \(try bench.newToken(.devices, apps: ["com.example.other"]))")
        ]
        let path = "/v1/devices?telephone=\(Self.user)"
        #expect(try bench.askNetwork("GET", path, headers: headers).count("items") == 1)
        let user = "/v1/users?telephone=\(Self.user)"
        #expect(try bench.askNetwork("DELETE", "\(user)&app=com.example.app", headers: headers).status == 404)
        #expect(try bench.askNetwork("DELETE", user, headers: headers).number("devices") == "1")
        #expect(try bench.ask("GET", path).count("items") == 2)
        #expect(try bench.askNetwork("DELETE", user).status == 401)
        let status = [("Authorization", "Bearer \(try bench.newToken(.status))")]
        #expect(try bench.askNetwork("DELETE", user, headers: status).status == 403)
        for wrong in ["", "?telephone=", "?telephone=1&platform=web"] {
            #expect(try bench.ask("DELETE", "/v1/users\(wrong)").status == 422, "\(wrong)")
        }
    }

    @Test("A near miss is no success, and names the spelling that is registered")
    func nearMiss() throws {
        let bench = try Bench()
        #expect(
            try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/ffee", #"{"telephone":"+8613800138000"}"#).status
                == 201)
        let answer = try bench.ask("DELETE", "/v1/users?telephone=13800138000")
        #expect(answer.status == 404)
        #expect(answer.text("errors", "0", "reason")?.contains("+8613800138000") == true, "\(answer.body)")
        let other = try bench.ask("DELETE", "/v1/users?telephone=%2B86%20138-0013-8000")
        #expect(
            other.status == 404 && other.text("errors", "0", "reason")?.contains("+8613800138000") == true,
            "\(other.body)")
        #expect(try bench.ask("DELETE", "/v1/users?telephone=%2B8613800138000").status == 200)
        #expect(!bench.logged.all.contains { "\($0)".contains("13800138000") })
    }
}
