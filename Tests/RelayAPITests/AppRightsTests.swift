// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Signing
import Synchronization
import Testing
import UpgradeRules

@testable import RelayAPI

/// Two teams on one relay: what a token or a webhook's secret that is bound to one team's app can see and change.
@Suite("Rights per app, live", .ownThread)
struct AppRightsTests {
    /// A campaign of each app, and a token that is bound to the second app.
    private struct Teams {
        let bench: Bench
        var ours = ""
        var theirs = ""
        let headers: [(String, String)]

        init() throws {
            bench = try Bench()
            bench.control.hasOther.withLock { $0 = true }
            for (app, telephone) in [(Bench.app, "138"), (Bench.other, "139")] {
                let path = "/v1/apps/\(app.app)/ios"
                _ = try bench.ask("PUT", "\(path)/devices/abcd01", #"{"telephone":"\#(telephone)","version":"1.0"}"#)
                let answer = try bench.ask("PUT", "\(path)/version", #"{"required":"2.0"}"#)
                let id = try #require(answer.text("campaign", "id"))
                if app == Bench.app { theirs = id } else { ours = id }
                let campaign = try #require(try bench.store.campaign(id: id))
                try bench.store.planShards(campaign.key, shardSize: 10, waves: nil, at: Bench.now)
            }
            let token = try bench.newToken(.status, .versions, .devices, .campaigns, apps: [Bench.other.app])
            headers = [("Authorization", "Bearer \(token)")]
        }

        func status(_ method: String, _ path: String, _ body: String? = nil) throws -> Int {
            try bench.askNetwork(method, path, body.map { Array($0.utf8) }, headers: headers).status
        }

        func body(_ path: String) throws -> String { try bench.askNetwork("GET", path, headers: headers).body }
    }

    @Test("paths of another team's app are forbidden, its campaigns are not there")
    func paths() throws {
        let teams = try Teams()
        for (method, path, body) in [
            ("GET", "/version", nil), ("PUT", "/version", #"{"required":"3.0"}"#), ("POST", "/plan", "{}"),
            ("GET", "/devices/abcd01", nil), ("DELETE", "/devices/abcd01", nil), ("GET", "/devices", nil),
            ("PUT", "/alert", #"{"message":"x"}"#),
        ] as [(String, String, String?)] {
            #expect(try teams.status(method, "/v1/apps/com.example.app/ios\(path)", body) == 403, "\(method) \(path)")
        }
        #expect(try teams.status("GET", "/v1/apps/com.example.other/ios/version") == 200)
        #expect(try teams.status("GET", "/v1/apps/com.example.other/ios/devices/abcd01") == 200)
        for path in ["", "/deliveries", "/events"] {
            #expect(try teams.status("GET", "/v1/campaigns/\(teams.theirs)\(path)") == 404, "\(path)")
        }
        for verb in ["pause", "approve", "resume", "cancel", "release"] {
            #expect(try teams.status("POST", "/v1/campaigns/\(teams.theirs)/\(verb)") == 404, "\(verb)")
        }
        #expect(try teams.bench.store.campaign(id: teams.theirs)?.state == .running)
        #expect(try teams.status("GET", "/v1/campaigns/\(teams.ours)") == 200)
        #expect(try teams.status("POST", "/v1/campaigns/\(teams.ours)/pause") == 200)
    }

    @Test("lists show only what the token may see")
    func lists() throws {
        let teams = try Teams()
        for path in ["/v1/apps", "/v1/campaigns", "/v1/campaigns?limit=1", "/v1/deliveries?token=abcd01"] {
            let body = try teams.body(path)
            #expect(body.contains("com.example.other") && !body.contains("com.example.app"), "\(path): \(body)")
        }
        #expect(try !teams.body("/v1/deliveries?telephone=138").contains("138"))
        #expect(try teams.body("/v1/deliveries?telephone=139").contains("139"))
        #expect(try teams.bench.ask("GET", "/v1/campaigns").body.contains("com.example.app"), "an operator sees all")
    }

    @Test("a bound token vouches for its own app's users at the check only")
    func check() throws {
        let teams = try Teams()
        for (app, needUpgrade) in [("com.example.other", "1"), ("com.example.app", "0")] {
            _ = try teams.bench.ask(
                "PUT", "/v1/apps/\(app)/ios/version", #"{"required":"3.0","telephones":["138"]}"#)
            let path = "/v1/check?app=\(app)&platform=ios&version=2.0&telephone=138"
            let answer = try teams.bench.askNetwork("GET", path, headers: teams.headers)
            #expect(answer.text("body", "needUpgrade") == needUpgrade, "\(app)")
        }
    }

    @Test("a token is bound to configured apps, and says so")
    func making() throws {
        let bench = try Bench()
        let path = "/v1/tokens"
        for wrong in ["[]", "\"com.example.app\"", "[\"com.example.typo\"]", "[1]"] {
            let answer = try bench.ask("POST", path, #"{"name":"x","scopes":["status"],"apps":\#(wrong)}"#)
            #expect(answer.status == 422 && answer.body.contains("apps"), "\(wrong)")
        }
        let made = try bench.ask("POST", path, #"{"name":"x","scopes":["status"],"apps":["com.example.app"]}"#)
        #expect(made.status == 201 && made.body.contains(#""apps":["com.example.app"]"#))
        #expect(try bench.ask("GET", path).body.contains(#""apps":["com.example.app"]"#))
    }

    // MARK: Webhooks

    @Test("one team's secret does not raise another team's version, whatever the tool")
    func secrets() throws {
        var secret = try WebhookSecret(Bench.secret)
        secret.apps = [Bench.other.app]
        let bench = try Bench(secrets: [secret])
        bench.control.hasOther.withLock { $0 = true }
        #expect(try bench.webhook(#"{"app":"com.example.app","platform":"ios","required":"2.0"}"#).status == 401)
        let release = ReleaseWebhookLiveTests.release("v2.0")
        #expect(try ReleaseWebhookLiveTests.sendGitHub(bench, release, id: "1").status == 401)
        #expect(
            try ReleaseWebhookLiveTests.sendGitLab(bench, ReleaseWebhookLiveTests.created("v2.0"), id: "2").status
                == 401)
        let state = ReleaseWebhookLiveTests.state("READY_FOR_DISTRIBUTION", id: "3")
        #expect(try ReleaseWebhookLiveTests.sendApple(bench, state).status == 401)
        #expect(try bench.store.version(of: Bench.app) == nil)

        let own = try bench.webhook(#"{"app":"com.example.other","platform":"ios","required":"2.0"}"#, id: "msg_2")
        #expect(own.status == 202)
        let path = "/v1/webhooks/github/com.example.other/ios"
        #expect(try ReleaseWebhookLiveTests.sendGitHub(bench, release, id: "4", path: path).status == 200)
    }

    @Test("the same webhook id with another signed body is 409 and changes nothing")
    func reusedID() throws {
        let bench = try Bench()
        let body = #"{"app":"com.example.app","platform":"ios","required":"2.0"}"#
        #expect(try bench.webhook(body).status == 202)
        #expect(try bench.webhook(body, age: 7).status == 202, "a retry of the sender's is answered alike")
        let other = try bench.webhook(#"{"app":"com.example.app","platform":"ios","required":"9.0"}"#)
        #expect(other.status == 409 && other.body.contains("id"))
        #expect(try bench.store.version(of: Bench.app)?.required?.text == "2.0")
    }
}
