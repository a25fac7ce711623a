// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import TestPeers
import Testing
import WireFormat

/// The page in a browser without JavaScript, with the daemon itself.
@Suite(.serialized, .ownThread) struct PageTests {
    private struct Browser {
        let origin: String
        var cookie: String?
        var language = "en"

        func ask(
            _ method: String, _ path: String, _ body: String? = nil, headers: [(name: String, value: String)] = []
        ) throws -> HTTPResponse {
            var request = HTTPRequest(method, origin + path)
            request.headers = headers + [(name: "Accept-Language", value: language)]
            if let cookie { request.headers.append((name: "Cookie", value: cookie)) }
            if let body {
                request.body = Array(body.utf8)
                request.headers.append((name: "Content-Type", value: "application/x-www-form-urlencoded"))
            }
            return try HTTPClient().send(request)
        }

        /// Sends a form as the page does.
        func send(_ path: String, _ fields: String) throws -> HTTPResponse {
            try ask("POST", path, fields, headers: [(name: "Sec-Fetch-Site", value: "same-origin")])
        }

        mutating func take(_ response: HTTPResponse) throws {
            cookie = String(try #require(response["set-cookie"]).prefix { $0 != ";" })
        }

        /// The hidden fields of a question's form that begin with "if", as the browser sends them back.
        func carried(_ path: String) throws -> String {
            Self.carried(in: try ask("GET", path).text)
        }

        static func carried(in page: String) -> String {
            page.matches(of: /type="hidden" name="(if[A-Za-z]+)" value="([^"]*)"/)
                .map { "&\($0.1)=\($0.2.replacing(" ", with: "+"))" }.joined()
        }

        func formToken() throws -> String {
            let text = try ask("GET", "/").text
            let found = try #require(text.firstMatch(of: /name="formToken" value="([^"]+)"/), "\(text.prefix(300))")
            return String(found.1)
        }
    }

    private static func browser(_ bench: Workbench) throws -> Browser {
        Browser(origin: "http://\(try #require(bench.relay).address)")
    }

    private static func signedIn(_ bench: Workbench, _ scopes: String...) throws -> Browser {
        var browser = try browser(bench)
        let words =
            ["tokens", "create", "--name", "t\(scopes.joined())", "--json"] + scopes.flatMap { ["--scope", $0] }
        let made = try CommandResult.of(words + ["--config", bench.path("config.json5")])
        let json = try JSONReader.read(Array(made.output.utf8))
        let answer = try browser.send("/page/session", "token=\(try #require(json["token"]?.string))")
        #expect(answer.status == 303 && answer["location"] == "/")
        try browser.take(answer)
        return browser
    }

    private static let views = [
        "/", "/page/campaigns", "/page/users", "/page/users?telephone=13800000000", "/page/devices", "/page/deliveries",
        "/page/audit", "/page/apps/\(Workbench.app)/ios", "/page/apps/\(Workbench.app)/ios/raise",
        "/page/apps/\(Workbench.app)/ios/withdraw",
    ]

    @Test func everyViewIsWholeInBothLanguagesAndTellsNobodyElse() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 20))
        let answer = try bench.api(
            "PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(#"{"required":"2.0.0"}"#.utf8))
        let campaign = try bench.campaign(of: answer)
        _ = try bench.follow(campaign) { $0.isFinal }
        let stranger = try Self.browser(bench)
        var browser = try Self.signedIn(bench, "status", "versions", "devices", "campaigns")
        let paths = Self.views + ["/page/campaigns/\(campaign)", "/page/campaigns/\(campaign)/retry"]
        for language in ["en", "zh-CN"] {
            browser.language = language
            for path in paths {
                let page = try browser.ask("GET", path)
                #expect(page.status == 200, "\(path): \(page.text.suffix(400))")
                #expect(page.text.contains("<html lang=\"\(language == "en" ? "en" : "zh-Hans")\">"), "\(path)")
                #expect(page.text.hasSuffix("</html>") && page.text.utf8.count < 60_000, "\(path)")
                #expect(page["cache-control"] == "no-store" && page["x-content-type-options"] == "nosniff", "\(path)")
                #expect(page["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
                #expect(!page.text.contains("style=") && page.text.firstMatch(of: /\son[a-z]+=/) == nil, "\(path)")
            }
        }
        for path in paths {
            let page = try stranger.ask("GET", path)
            #expect(page.status == 401 && page.text.contains("name=\"token\""), "\(path)")
            #expect(!page.text.contains(Workbench.app) && !page.text.contains(campaign), "\(path)")
        }
        let style = try #require(try stranger.ask("GET", "/").text.firstMatch(of: /href="([^"]+\.css)"/))
        #expect(try stranger.ask("GET", String(style.1))["cache-control"]?.contains("immutable") == true)
        for path in ["/page/assets/old", "/page/language/xx", "/page/nothing"] {
            let page = try stranger.ask("GET", path)
            #expect(page.status == 404 && !page.text.contains("<nav"), "there is nowhere to go for a stranger: \(path)")
        }
        let part = try browser.ask("GET", "/?part=apps").text
        #expect(part.hasPrefix("<section id=\"apps\"") && part.hasSuffix("</section>"))
    }

    @Test func whatAnAPITokenDoesNotAllowIsNeitherShownNorDone() throws {
        let bench = try Workbench()
        try bench.start()
        let fleet = Fleet(count: 20)
        try bench.register(fleet)
        let later = Date.now.addingTimeInterval(86_400).formatted(.iso8601)
        let answer = try bench.api(
            "PUT", "/v1/apps/\(Workbench.app)/ios/version",
            body: Array(#"{"required":"2.0.0","requiredFrom":"\#(later)"}"#.utf8))
        let campaign = try bench.campaign(of: answer)
        let reader = try Self.signedIn(bench, "status")
        let page = try reader.ask("GET", "/page/campaigns/\(campaign)").text
        #expect(!page.contains("/cancel\""))
        let token = try reader.formToken()
        let cancel = "/page/campaigns/\(campaign)/cancel"
        let fields = "formToken=\(token)&app=\(Workbench.app)"
        #expect(try reader.send(cancel, fields).status == 403)
        for path in ["/page/users", "/page/devices", "/page/tokens", "/page/apps/\(Workbench.app)/ios/raise"] {
            #expect(try reader.ask("GET", path).status == 403, "\(path)")
        }
        let user = try #require(fleet.devices.compactMap(\.telephone).first)
        #expect(!(try reader.ask("GET", "/page/deliveries").text).contains(user))

        let actor = try Self.signedIn(bench, "status", "campaigns")
        let own = try actor.formToken()
        #expect(try actor.ask("POST", cancel, "formToken=\(own)&app=\(Workbench.app)").status == 403, "no origin")
        #expect(try actor.send(cancel, "app=\(Workbench.app)").status == 403, "no form token")
        #expect(try actor.send(cancel, "formToken=\(own)&app=other").status == 422, "another name")
        #expect(try bench.view(campaign).state == "waiting")
        let empty = try actor.send(cancel, "formToken=\(own)&app=\(Workbench.app)")
        #expect(empty.status == 409 && empty.text.contains("name=\"ifState\""), "it carries nothing: asked anew")
        #expect(try bench.view(campaign).state == "waiting")
        let done = try actor.send(cancel, "formToken=\(own)&app=\(Workbench.app)" + actor.carried(cancel))
        #expect(done.status == 303 && done["location"] == "/page/campaigns/\(campaign)")
        #expect(try bench.view(campaign).state == "cancelled")
        let trail = try actor.ask("GET", "/page/campaigns/\(campaign)").text
        #expect(trail.contains("campaign.cancel") && trail.contains("tstatuscampaigns"))
        #expect(try actor.send("/page/session/end", "formToken=\(own)").status == 303)
        #expect(try actor.ask("GET", "/").status == 401)
    }

    @Test func aLinkOfTheCommandSignsInOnceAndARiseIsShownFirst() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 20))
        var browser = try Self.browser(bench)
        let link = try bench.command("page").output
        let path = try #require(link.firstMatch(of: /\/page\/enter\/\S+/)).0
        // Looking at a link does not use it up.
        for method in ["HEAD", "GET", "GET"] {
            let seen = try browser.ask(method, String(path))
            #expect(seen.status == 200 && seen["set-cookie"] == nil, "\(method)")
            #expect(method == "HEAD" || seen.text.contains("method=\"post\" action=\"\(path)\""))
        }
        let entered = try browser.send(String(path), "")
        #expect(entered.status == 303 && entered["location"] == "/")
        #expect(try browser.ask("GET", String(path)).status == 401, "once")
        #expect(try browser.send(String(path), "").status == 401, "once")
        try browser.take(entered)
        #expect(try browser.ask("GET", "/page/tokens").status == 200)
        let unknown = try browser.ask("GET", "/page/nothing")
        #expect(
            unknown.status == 404 && unknown.text.hasPrefix("<!doctype html>"), "a page for who reads it in a browser")
        let raise = "/page/apps/\(Workbench.app)/ios/raise"
        let form = "formToken=\(try browser.formToken())&required="
        let fault = try browser.send(raise, form + "two&step=plan")
        #expect(
            fault.status == 422 && fault.text.contains("aria-invalid=\"true\"") && fault.text.contains("value=\"two\""))
        let plan = try browser.send(raise, form + "2.0.0&step=plan")
        #expect(plan.status == 200 && plan.text.contains("value=\"raise\"") && plan.text.contains("needUpgrade"))
        #expect(try bench.api("GET", "/v1/campaigns").json["items"] as? [Any] != nil)
        #expect((try bench.api("GET", "/v1/campaigns").json["items"] as? [Any])?.isEmpty == true, "nothing has changed")
        let hostile = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
        let raised = try browser.send(
            raise, form + "2.0.0&step=raise&confirm=yes&message=\(hostile)" + Browser.carried(in: plan.text))
        #expect(raised.status == 303, "\(raised.text.suffix(500))")
        let page = try browser.ask("GET", "/page/apps/\(Workbench.app)/ios").text
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script>alert"))

        let file = bench.path("report.html")
        #expect(try bench.command("campaigns", "report", "latest", "--output", file).status == 0)
        let report = try String(contentsOfFile: file, encoding: .utf8)
        #expect(
            report.contains("2.0.0") && !report.contains("<script") && !report.contains("src=")
                && !report.contains("href="))
        for device in Fleet(count: 20).devices {
            #expect(!report.contains(device.token) && !(device.telephone.map { report.contains($0) } ?? false))
        }
    }

    @Test func itIsSwitchedOffByTheConfiguration() throws {
        let bench = try Workbench()
        try bench.reconfigure("listen: {", "listen: { page: false,")
        try bench.start()
        let browser = try Self.browser(bench)
        for path in ["/", "/page/campaigns", "/page/assets/x"] { #expect(try browser.ask("GET", path).status == 404) }
        #expect(try browser.ask("GET", "/healthz").status == 200)
        #expect(try bench.command("page").status == 1)
    }
}

extension HTTPResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
