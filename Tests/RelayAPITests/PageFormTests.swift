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

/// The page's forms, lists and choices, as a browser without a script meets them.
@Suite("The page's forms and lists", .ownThread) struct PageFormTests {
    private struct Browser {
        let bench: Bench
        var cookies: [String] = []
        var formToken = ""

        init(_ bench: Bench, signedIn: Bool = true, apps: [String]? = nil) throws {
            self.bench = bench
            guard signedIn else { return }
            let token = try bench.newToken(.status, .versions, .devices, .campaigns, apps: apps)
            let answer = try bench.askNetwork("POST", "/v1/session", headers: [("Authorization", "Bearer \(token)")])
            cookies = [String(try #require(answer[header: "set-cookie"]).prefix { $0 != ";" })]
            formToken = answer.text("formToken") ?? ""
        }

        /// - Parameter view: the path of the view whose link or form is followed; nil: the browser names none.
        func ask(
            _ method: String, _ path: String, _ form: String? = nil, language: String = "en", from view: String? = nil
        ) throws -> Answer {
            var request = HTTPRequest(method, "http://127.0.0.1:\(bench.server.port ?? 0)\(path)")
            request.headers = [("Accept-Language", language), ("Sec-Fetch-Site", "same-origin")].map {
                (name: $0.0, value: $0.1)
            }
            if let view { request.headers.append((name: "Referer", value: "http://127.0.0.1:1\(view)")) }
            if !cookies.isEmpty { request.headers.append((name: "Cookie", value: cookies.joined(separator: "; "))) }
            if let form {
                request.body = Array("formToken=\(formToken)&\(form)".utf8)
                request.headers.append((name: "Content-Type", value: "application/x-www-form-urlencoded"))
            }
            return Answer(try HTTPClient().send(request))
        }
    }

    private static let app = "/page/apps/com.example.app/ios"

    @Test("a fault stands at its own field, and at no field whose name it begins with")
    func faults() throws {
        let browser = try Browser(Bench(hasPage: true))
        let page = try browser.ask("POST", "\(Self.app)/raise", "step=plan&required=2.0&requiredFrom=tomorrow")
        #expect(page.status == 422)
        #expect(
            page.body.contains("id=\"field-requiredFrom-fault\"") && !page.body.contains("id=\"field-required-fault\""))
        let chinese = try browser.ask(
            "POST", "\(Self.app)/raise", "step=plan&required=2.0&requiredFrom=tomorrow", language: "zh")
        #expect(chinese.body.contains("需要一个时刻"), "\(chinese.body.suffix(3000))")
    }

    @Test("a box that has to be ticked is asked for again, in words, and nothing is done")
    func unticked() throws {
        let bench = try Bench(hasPage: true)
        let browser = try Browser(bench)
        let page = try browser.ask(
            "POST", "\(Self.app)/raise", "step=raise&required=200.0&doubts=implausible-rise+200.0")
        #expect(page.status == 422 && page.body.contains("value=\"raise\""), "the question again")
        #expect(try bench.store.version(of: Bench.app) == nil)
    }

    @Test("one form raises both platforms, each with the facts that were shown of it and its own oldest system")
    func bothPlatforms() throws {
        let bench = try Bench(hasPage: true)
        let browser = try Browser(bench)
        let android = AppKey(app: "com.example.app", platform: .android)
        let fields = "required=2.0&minimumOs=15.0&android.minimumOs=29&also.android=yes"
        #expect(try browser.ask("GET", "\(Self.app)/raise").body.contains("name=\"also.android\""))
        let question = try browser.ask("POST", "\(Self.app)/raise", "step=plan&\(fields)")
        #expect(question.status == 200, "\(question.body.suffix(2000))")
        #expect(question.body.contains("com.example.app Android"))
        let shown = question.body.matches(of: /name="((?:android\.)?if[A-Z][A-Za-z]*)" value="([^"]*)"/).map {
            (name: String($0.1), value: String($0.2))
        }
        #expect(shown.contains { $0.name == "ifVersion" } && shown.contains { $0.name == "android.ifVersion" })
        func raise(_ change: (String, String) -> String?) throws -> Answer {
            let facts = shown.compactMap { name, value in change(name, value).map { "&\(name)=\($0)" } }.joined()
            return try browser.ask("POST", "\(Self.app)/raise", "step=raise&\(fields)\(facts)")
        }
        // A fact of one platform that is not carried is asked for again, and a stale one leaves that platform as it is.
        #expect(try raise { $0 == "android.ifVersion" ? nil : $1 }.status == 409)
        #expect(try bench.store.version(of: Bench.app) == nil && bench.store.version(of: android) == nil)
        let stale = try raise { $0 == "android.ifVersion" ? "1.0" : $1 }
        #expect(stale.status == 409 && stale.body.contains("android: not done (409)"), "\(stale.body.suffix(3000))")
        #expect(try bench.store.version(of: android) == nil)
        let done = try raise { $0 == "ifVersion" ? "2.0" : $1 }
        #expect(done.status == 303, "\(done.body.suffix(2000))")
        for (key, system) in [(Bench.app, "15.0"), (android, "29")] {
            let requirements = try #require(try bench.store.version(of: key)).requirements
            #expect(requirements.required?.version == (try Version("2.0")))
            #expect(requirements.required?.minimumOS?.text == system)
        }
    }

    @Test("signing in leads to the view that was asked for, and to no other server")
    func goal() throws {
        let bench = try Bench(hasPage: true)
        let stranger = try Browser(bench, signedIn: false)
        let asked = try stranger.ask("GET", "/page/audit?app=com.example.app")
        #expect(
            asked.status == 401 && !asked.body.contains("com.example.app"), "a stranger is told nothing, not even this")
        let token = try bench.newToken(.status)
        for (view, place) in [
            ("/page/audit?app=com.example.app", "/page/audit?app=com.example.app"), ("/", "/"), (nil, "/"),
            ("//evil.example/", "/"), ("/page/../..//evil.example", "/"), ("/page/session/end", "/"),
            ("/v1/store", "/"),
            // A form that comes after the session's end leads back to its question.
            ("\(Self.app)/withdraw", "\(Self.app)/withdraw"),
        ] as [(String?, String)] {
            let answer = try stranger.ask("POST", "/page/session", "token=\(token)", from: view)
            #expect(answer.status == 303 && answer[header: "location"] == place, "\(view ?? "none")")
        }
        let wrong = try stranger.ask("POST", "/page/session", "token=no", from: "/page/audit")
        #expect(wrong.status == 401 && wrong.body.contains("name=\"to\" value=\"/page/audit\""), "it is not forgotten")
        for (goal, place) in [("%2Fpage%2Faudit", "/page/audit"), ("https%3A%2F%2Fevil.example%2F", "/page/users")] {
            let answer = try stranger.ask("POST", "/page/session", "token=\(token)&to=\(goal)", from: "/page/users")
            #expect(answer.status == 303 && answer[header: "location"] == place, "\(goal)")
        }
    }

    @Test("a campaign is found by the first characters of its id")
    func shortID() throws {
        let bench = try Bench(hasPage: true)
        bench.control.hasOther.withLock { $0 = true }
        let browser = try Browser(bench)
        let ids = [try bench.campaign(required: "2.0"), try bench.campaign(required: "3.0")]
        var short = ids[0]
        while ids[1].hasPrefix(short.dropLast()) == false, short.count > 4 { short.removeLast() }
        let answer = try browser.ask("GET", "/page/campaigns/\(short)")
        #expect(answer.status == 303 && answer[header: "location"] == "/page/campaigns/\(ids[0])")
        #expect(try browser.ask("GET", "/page/deliveries?campaign=\(short)").body.contains("value=\"\(ids[0])\""))
        #expect(try browser.ask("GET", "/page/audit?campaign=\(short)").body.contains(ids[0]))
        #expect(try browser.ask("GET", "/page/campaigns/zzzz").status == 404)
        let other = try Browser(bench, apps: ["com.example.other"]).ask("GET", "/page/campaigns/\(short)")
        #expect(other.status == 404, "a reader of another app learns nothing of it")
    }

    @Test("the zone that was chosen is remembered, and moments are in it")
    func zone() throws {
        let bench = try Bench(hasPage: true)
        var browser = try Browser(bench)
        _ = try bench.campaign(required: "2.0")
        let plain = try browser.ask("GET", "/page/campaigns").body
        #expect(plain.contains("2023-11-14 22:13:20 UTC") && !plain.contains("data-zone=\""))
        let chosen = try browser.ask("GET", "/page/zone?zone=Asia%2FShanghai", from: "/page/campaigns")
        #expect(chosen.status == 303 && chosen[header: "location"] == "/page/campaigns")
        browser.cookies.append(String(try #require(chosen[header: "set-cookie"]).prefix { $0 != ";" }))
        let there = try browser.ask("GET", "/page/campaigns").body
        #expect(there.contains("2023-11-15 06:13:20 Asia/Shanghai") && there.contains("data-zone=\"Asia/Shanghai\""))
        #expect(there.contains("datetime=\"2023-11-14T22:13:20.000Z\""))
        for (name, status) in [
            ("UTC", 303), ("browser", 303), ("Asia%2FNowhere", 404), ("..%2F..%2Fetc", 404), ("", 404),
        ] {
            #expect(try browser.ask("GET", "/page/zone?zone=\(name)").status == status, "\(name)")
        }
        browser.cookies[1] = "upgrade_relay_zone=../../etc/passwd"
        #expect(try browser.ask("GET", "/page/campaigns").body.contains("22:13:20 UTC"), "a broken cookie is ignored")
    }

    @Test("every list says how long it is")
    func totals() throws {
        let bench = try Bench(hasPage: true)
        let browser = try Browser(bench)
        for number in 0..<60 {
            let token = String(repeating: "a", count: 62) + (number < 16 ? "0" : "") + String(number, radix: 16)
            let path = "/v1/apps/com.example.app/ios/devices/\(token)"
            #expect(try bench.ask("PUT", path, #"{"telephone":"138","version":"1.0"}"#).status == 201)
        }
        for version in 2..<24 { _ = try bench.campaign(required: "\(version).0") }
        for (path, text) in [
            ("/page/devices", "60 in all"), ("/page/devices?below=0.5", "0 in all"), ("/page/campaigns", "22 in all"),
            ("/page/campaigns?state=superseded", "in all"), ("/page/audit", "in all"), ("/page/deliveries", "in all"),
            (Self.app, "1 to 20 of 22"), ("\(Self.app)?changes=2", "21 to 22 of 22"),
            ("/page/users?telephone=138", "1 to 10 of 60"), ("/page/users?telephone=138&devices=6", "51 to 60 of 60"),
        ] {
            let page = try browser.ask("GET", path)
            #expect(page.status == 200 && page.body.contains(text), "\(path): \(page.status)")
        }
        #expect(try browser.ask("GET", "\(Self.app)?changes=x").status == 422)
    }

    @Test("an overview shows the campaign that counts, and the time of its figures")
    func overview() throws {
        let bench = try Bench(hasPage: true)
        let browser = try Browser(bench)
        _ = try bench.campaign(required: "2.0")
        let page = try browser.ask("GET", "/").body
        #expect(page.contains("2.0 is required") && page.contains("As of <time datetime=\"2023-11-14T22:13:20.000Z\""))
        let chinese = try browser.ask("GET", "/", language: "zh").body
        #expect(!chinese.contains("lang=\"en\"><bdi") && chinese.contains("截至"))
    }
}
