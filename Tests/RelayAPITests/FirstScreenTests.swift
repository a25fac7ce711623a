// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestPeers
import Testing
import UpgradeRules

@testable import RelayAPI

/// The first screen, the history and the push's picture, as a reader of the page gets them.
@Suite("The first screen, live", .ownThread)
struct FirstScreenTests {
    private func get(_ path: String, _ bench: Bench, _ token: String, language: String = "en") throws -> Answer {
        var request = HTTPRequest("GET", "http://127.0.0.1:\(bench.server.port ?? 0)\(path)")
        request.headers = [("Authorization", "Bearer \(token)"), ("Accept-Language", language)]
        return Answer(try HTTPClient().send(request))
    }

    private func text(_ page: Answer) -> String {
        page.body.replacing(/<[^>]+>/, with: " ").replacing(/\s+/, with: " ")
    }

    @Test(
        "it begins with what waits for the reader, with who asked, and the form that decides it",
        arguments: [("en", "Waits for you", "Problems", "Apps"), ("zh", "等待您处理", "问题", "应用")])
    func waits(language: String, waits: String, problems: String, apps: String) throws {
        let bench = try Bench(hasPage: true)
        let token = try bench.newToken(.status, .campaigns)
        let id = try bench.campaign(required: "2.0.0")
        let before = text(try get("/", bench, token, language: language))
        #expect(
            before.contains(language == "en" ? "Nothing waits for a person." : "没有等待人工处理的事项。"), "\(before)")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/pause").status == 200)
        try bench.until { try bench.server.api.overview().campaigns.first?.record.state == .paused }
        let page = try get("/", bench, token, language: language)
        let words = text(page)
        let places = [waits, problems, apps].compactMap { page.body.firstRange(of: ">\($0)</h2>")?.lowerBound }
        #expect(places.count == 3 && places == places.sorted(), "\(words)")
        let resume = try #require(page.body.firstRange(of: "action=\"/page/campaigns/\(id)/resume\""), "\(page.body)")
        let rest = page.body[resume.upperBound...].prefix(600)
        for fact in ["ifVersion\" value=\"2.0.0", "ifState\" value=\"paused", "ifDevices"] {
            #expect(rest.contains(fact), "\(rest)")
        }
        // The person at the control socket has asked for it, and not the relay, which began its campaign.
        let asker = try #require(words.firstRange(of: language == "en" ? "Asked for by" : "提出者"))
        #expect(words[asker.upperBound...].prefix(30).contains("(uid "), "\(words)")
        let reader = try bench.newToken(.status)
        #expect(try !get("/", bench, reader).body.contains("/resume\""), "who may not act gets no button")
    }

    @Test("what waits for a second person is among it, with the form for those who may approve it")
    func secondPerson() throws {
        let bench = try Bench(hasPage: true)
        let request = try #require(try bench.ask(forSecondPerson: "2.0"))
        let form = "action=\"/page/approvals/\(request.id)/approve\""
        let page = try get("/", bench, try bench.newToken(.status, .versions))
        #expect(page.body.contains(form), "\(page.body)")
        #expect(text(page).contains("require 2.0") && !text(page).contains("Nothing waits for a person."))
        let reader = try get("/", bench, try bench.newToken(.status))
        #expect(!reader.body.contains(form) && text(reader).contains("require 2.0"), "\(reader.body)")
    }

    @Test("a request comes to the open first screen, and to the page of requests, as a part, and leaves them so")
    func livePart() throws {
        let bench = try Bench(hasPage: true)
        let token = try bench.newToken(.status, .versions)
        let page = try get("/", bench, token)
        let topics = try #require(page.body.firstMatch(of: /id="waits" data-live="([^"]*)"/)).1.split(separator: " ")
        #expect(topics.contains("approvals") && page.body.contains("data-events="), "\(topics)")
        let request = try #require(try bench.ask(forSecondPerson: "2.0"))
        let form = "action=\"/page/approvals/\(request.id)/approve\""
        let places = ["/?part=waits", "/page/approvals?part=requests"]
        for path in places {
            try bench.until { try get(path, bench, token).body.contains(form) }
        }
        _ = try bench.store.refuse(
            approval: request.id, by: Signature(by: .operator("bob"), at: Bench.now), reason: "not now")
        for path in places {
            try bench.until { try !get(path, bench, token).body.contains(form) }
        }
    }

    @Test("an entry of the history has a page of its own, for those who may see its app")
    func entries() throws {
        let bench = try Bench(hasPage: true)
        let token = try bench.newToken(.status)
        let id = try bench.campaign(required: "2.0.0")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/pause").status == 200)
        let campaign = try get("/page/campaigns/\(id)", bench, token)
        let links = campaign.body.matches(of: /href="(\/page\/audit\/\d+)"/).map { String($0.1) }
        #expect(links.count >= 2, "\(campaign.body)")
        let paused = try #require(links.last)
        let entry = try get(paused, bench, token)
        #expect(entry.status == 200 && text(entry).contains("paused the campaign campaign.pause"), "\(text(entry))")
        #expect(try get("/page/audit/999999", bench, token).status == 404)
        for wrong in ["0", "-1", "x", "9223372036854775807"] {
            #expect(try get("/page/audit/\(wrong)", bench, token).status == 404, "\(wrong)")
        }
        bench.control.hasOther.withLock { $0 = true }
        let other = try bench.newToken(of: [.status], apps: ["com.example.other"])
        #expect(try get(paused, bench, other).status == 404, "another team's reader")
        let audit = try get("/page/audit", bench, token)
        #expect(audit.body.contains("href=\"\(paused)\""))
    }

    @Test(
        "an app's page has its versions over weeks as lines and as a table with the rises; a sentence where none were counted",
        arguments: [
            ("en", "No count is kept yet", "Share of each version over time", "2.0.0 is required"),
            ("zh", "尚无统计", "各版本比例随时间变化", "必须升级到 2.0.0"),
        ])
    func versions(language: String, none: String, title: String, rise: String) throws {
        let bench = try Bench(hasPage: true)
        let token = try bench.newToken(.status)
        let path = "/page/apps/com.example.app/ios"
        let empty = try get(path, bench, token, language: language)
        #expect(text(empty).contains(none) && !empty.body.contains("chart-versions"), "\(text(empty))")
        let start = Bench.now - .seconds(50 * 86_400)
        for (days, version) in [(0, "1.9"), (20, "2.0"), (50, "2.0")] {
            let at = start + .seconds(days * 86_400)
            _ = try bench.store.register(
                [DeviceRegistration(app: Bench.app, token: "ab", telephone: "138", version: try Version(version))],
                at: at)
            try bench.store.register(
                [DeviceRegistration(app: Bench.app, token: "cd\(days)", telephone: "139", version: try Version("1.9"))],
                at: at)
            #expect(try bench.store.followVersions(of: Bench.app, by: RetirementRules(), at: at))
        }
        _ = try bench.campaign(required: "2.0.0")
        let page = try get(path, bench, token, language: language)
        let words = text(page)
        #expect(!words.contains(none) && words.contains(title), "\(words)")
        #expect(page.body.contains("id=\"chart-versions-title\""))
        let table = try #require(page.body.firstRange(of: "id=\"chart-versions-numbers\""))
        let rows = page.body[table.upperBound...].prefix { _ in true }
        #expect(rows.contains(">2.0<") && rows.contains(">1.9<"), "\(rows)")
        #expect(rows.contains("100 %") || rows.contains("100%"), "\(rows)")
        #expect(rows.contains(rise), "\(rows)")
        #expect(page.body.contains("class=\"mark\""), "the rise is marked")
    }

    @Test("the form shows the push of the configuration, and the dry run the push that would be sent")
    func preview() throws {
        let bench = try Bench(hasPage: true)
        let token = try bench.newToken(.status, .versions)
        let form = try get("/page/apps/com.example.app/ios/raise", bench, token)
        #expect(form.status == 200 && !form.body.contains("class=\"phone\""), "the double has no words")
        var request = HTTPRequest(
            "POST", "http://127.0.0.1:\(bench.server.port ?? 0)/page/apps/com.example.app/ios/raise")
        request.headers = [
            ("Authorization", "Bearer \(token)"), ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        request.body = Array("step=plan&required=2.0.0".utf8)
        let plan = Answer(try HTTPClient().send(request))
        #expect(plan.status == 200 && text(plan).contains("On the phone com.example.app Upgrade"), "\(text(plan))")
    }
}
