// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import TestStores
import Testing
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

@Suite("Sessions of browsers", .ownThread)
struct SessionLiveTests {
    private struct Browser {
        let bench: Bench
        let cookie: String
        let formToken: String

        init(_ bench: Bench, token: String) throws {
            self.bench = bench
            let answer = try bench.askNetwork("POST", "/v1/session", headers: [("Authorization", "Bearer \(token)")])
            #expect(answer.status == 201)
            let header = try #require(answer[header: "set-cookie"])
            cookie = String(header.prefix { $0 != ";" })
            formToken = try #require(answer.text("formToken"))
        }

        func ask(_ method: String, _ path: String, _ headers: [(String, String)] = []) throws -> Answer {
            try bench.askNetwork(method, path, headers: [("Cookie", cookie)] + headers)
        }
    }

    private static let own = ("Sec-Fetch-Site", "same-origin")

    @Test("the cookie is for this server's own pages alone, and stands for its API token")
    func cookie() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status, .campaigns)
        let answer = try bench.askNetwork("POST", "/v1/session", headers: [("Authorization", "Bearer \(token)")])
        let header = try #require(answer[header: "set-cookie"])
        for attribute in ["Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=43200"] {
            #expect(header.contains("; \(attribute)"), "\(attribute)")
        }
        #expect(!header.contains("Secure"), "plain HTTP: a browser would not send it back")
        #expect(!header.contains(token))
        let secure = try bench.askNetwork(
            "POST", "/v1/session", headers: [("Authorization", "Bearer \(token)"), ("X-Forwarded-Proto", "https")])
        let name = "__Host-upgrade_relay_session="
        #expect(secure[header: "set-cookie"].map { $0.hasPrefix(name) && $0.hasSuffix("; Secure") } == true)
        let browser = try Browser(bench, token: token)
        #expect(try browser.ask("GET", "/v1/campaigns").status == 200)
        #expect(try browser.ask("GET", "/v1/users?telephone=138").status == 403, "the scope devices")
        #expect(try browser.ask("GET", "/v1/tokens").status == 403)
        #expect(
            try bench.askNetwork("GET", "/v1/campaigns", headers: [("Cookie", "upgrade_relay_session=x")]).status == 401
        )
    }

    @Test("over TLS the cookie with the prefix counts alone, and the first proxy says what the browser spoke")
    func transport() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let bearer = ("Authorization", "Bearer \(token)")
        let secure: [(String, String)] = [
            ("X-Forwarded-Proto", "https"), ("X-Forwarded-Proto", "HTTPS"), ("X-Forwarded-Proto", "https, http"),
            ("X-Forwarded-Proto", "https,https"), ("X-Forwarded-Proto", " , https , http"),
            ("Forwarded", "for=192.0.2.1;proto=https;by=203.0.113.43, for=198.51.100.17;proto=http"),
            ("Forwarded", "For=\"[2001:db8::1]\"; Proto=\"https\""),
        ]
        let plain: [(String, String)] = [
            ("X-Forwarded-Proto", "http, https"), ("X-Forwarded-Proto", "xhttps"), ("X-Forwarded-Proto", ""),
            ("X-Forwarded-Proto", "https http"), ("Forwarded", "for=a, proto=https"), ("Forwarded", "proto=httpsx"),
            ("X-Forwarded-Protocol", "https"),
        ]
        for (fields, isSecure) in secure.map({ ($0, true) }) + plain.map({ ($0, false) }) {
            let answer = try bench.askNetwork("POST", "/v1/session", headers: [bearer, fields])
            let header = try #require(answer[header: "set-cookie"])
            #expect(header.hasPrefix("__Host-upgrade_relay_session=") == isSecure, "\(fields)")
            #expect(header.hasSuffix("; Secure") == isSecure, "\(fields)")
            let secret = String(header.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" })
            func status(_ name: String) throws -> Int {
                try bench.askNetwork("GET", "/v1/campaigns", headers: [("Cookie", "\(name)=\(secret)"), fields]).status
            }
            #expect(try status("__Host-upgrade_relay_session") == 200, "\(fields)")
            #expect(try status("upgrade_relay_session") == (isSecure ? 401 : 200), "\(fields)")
        }
    }

    @Test("a change by cookie wants this server's own page and the form token")
    func changes() throws {
        let bench = try Bench()
        let campaign = try bench.campaign(required: "2.0.0")
        let browser = try Browser(bench, token: try bench.newToken(.status, .campaigns))
        let path = "/v1/campaigns/\(campaign)/pause"
        let form = ("X-Form-Token", browser.formToken)
        for headers in [
            [], [form], [Self.own], [("Sec-Fetch-Site", "cross-site"), form], [("Sec-Fetch-Site", "same-site"), form],
            [("Sec-Fetch-Site", "none"), form], [("Origin", "https://evil.example"), form],
            [Self.own, ("X-Form-Token", "x")],
        ] {
            #expect(try browser.ask("POST", path, headers).status == 403, "\(headers)")
        }
        #expect(try bench.ask("GET", "/v1/campaigns/\(campaign)").text("state") == "running")
        let origin = ("Origin", "http://127.0.0.1:\(bench.server.port ?? 0)")
        #expect(try browser.ask("POST", path, [origin, form]).status == 200, "an older browser names its origin")
        #expect(try bench.ask("GET", "/v1/campaigns/\(campaign)").text("state") == "paused")
        let other = try Browser(bench, token: try bench.newToken(.status, .campaigns))
        #expect(try other.ask("POST", path, [Self.own, form]).status == 403, "another session's form token")
    }

    @Test("it ends with its API token, on sign-out, after an hour without use and after twelve hours")
    func ends() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        func good(_ browser: Browser) throws -> Bool { try browser.ask("GET", "/v1/campaigns").status == 200 }

        let first = try Browser(bench, token: token)
        #expect(try first.ask("DELETE", "/v1/session", [Self.own, ("X-Form-Token", first.formToken)]).status == 204)
        #expect(try !good(first))

        let idle = try Browser(bench, token: token)
        bench.clock.advance(by: .seconds(3599))
        #expect(try good(idle))
        bench.clock.advance(by: .seconds(3599))
        #expect(try good(idle), "it was used")
        bench.clock.advance(by: .seconds(3601))
        #expect(try !good(idle))

        let long = try Browser(bench, token: token)
        for _ in 0..<23 {
            bench.clock.advance(by: .seconds(1800))
            #expect(try good(long))
        }
        bench.clock.advance(by: .seconds(1800))
        #expect(try !good(long), "twelve hours")

        let last = try Browser(bench, token: token)
        let name = try #require(bench.store.tokens().first?.name)
        #expect(try bench.ask("DELETE", "/v1/tokens/\(name)").status == 204)
        #expect(try !good(last))
    }

    @Test("a link of the control socket signs in once, within five minutes, with an operator's rights")
    func link() throws {
        let bench = try Bench()
        let sessions = bench.server.api.sessions
        let answer = try bench.ask("POST", "/v1/session/link")
        #expect(answer.status == 201)
        let secret = try #require(answer.text("path")?.split(separator: "/").last.map(String.init))
        let session = try #require(try sessions.follow(link: secret))
        #expect(try sessions.follow(link: secret) == nil, "once")
        let late = try #require(try bench.ask("POST", "/v1/session/link").text("path")?.split(separator: "/").last)
        bench.clock.advance(by: .seconds(301))
        #expect(try sessions.follow(link: String(late)) == nil, "too old")
        #expect(try bench.askNetwork("POST", "/v1/session/link").status == 401)
        let cookie = ("Cookie", "upgrade_relay_session=\(session.text)")
        #expect(try bench.askNetwork("GET", "/v1/users?telephone=138", headers: [cookie]).status == 200)
        #expect(try bench.askNetwork("GET", "/v1/tokens", headers: [cookie]).status == 403, "the control socket alone")
    }

    private static func status(_ bench: Bench, _ cookie: String) throws -> Int {
        try bench.askNetwork("GET", "/v1/campaigns", headers: [("Cookie", cookie)]).status
    }

    @Test("a token has so many sessions, and the oldest ends")
    func bounded() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let other = try Browser(bench, token: try bench.newToken(.status))
        var browsers: [Browser] = []
        for _ in 0..<(Sessions.most + 8) {
            bench.clock.advance(by: .seconds(1))
            browsers.append(try Browser(bench, token: token))
        }
        let good = try browsers.map { try $0.ask("GET", "/v1/campaigns").status == 200 }
        #expect(good == Array(repeating: false, count: 8) + Array(repeating: true, count: Sessions.most))
        #expect(try other.ask("GET", "/v1/campaigns").status == 200, "another token's")
        #expect(try bench.server.api.sessions.all().count == Sessions.most + 1)
    }

    @Test("operators see who is signed in, and sign others out; nobody else does")
    func listed() throws {
        let bench = try Bench()
        let browser = try Browser(bench, token: try bench.newToken(.status, .versions, .devices, .campaigns))
        let sessions = bench.server.api.sessions
        let (link, _) = try sessions.makeLink(for: "root (uid 0)")
        let secret = try #require(try sessions.follow(link: link))
        let cookie = "upgrade_relay_session=\(secret.text)"
        #expect(try Self.status(bench, cookie) == 200)
        let list = try bench.ask("GET", "/v1/sessions")
        #expect(list.status == 200 && !list.body.contains(secret.text))
        #expect(list.text("items", "0", "name") != nil && list.text("items", "1", "name") != nil)
        let mine = try #require(try sessions.all().first { $0.live.session.token == nil })
        #expect(mine.live.session.actor == "root (uid 0)")
        let path = "/v1/sessions/\(mine.id)"
        #expect(try browser.ask("GET", "/v1/sessions").status == 403)
        let form = ("X-Form-Token", browser.formToken)
        #expect(try browser.ask("DELETE", path, [Self.own, form]).status == 403)
        #expect(try bench.askNetwork("DELETE", path).status == 401)
        #expect(try Self.status(bench, cookie) == 200)
        #expect(try bench.ask("DELETE", path).status == 204)
        #expect(try Self.status(bench, cookie) == 401)
        #expect(try bench.ask("DELETE", path).status == 404)
        #expect(try bench.ask("DELETE", "/v1/sessions/none").status == 404)
        #expect(try bench.ask("GET", "/v1/audit?action=session.end").text("items", "0", "object") == "root (uid 0)")
        #expect(try browser.ask("GET", "/v1/campaigns").status == 200, "another's goes on")
        bench.clock.advance(by: .seconds(3601))
        #expect(try sessions.all().isEmpty, "idle ones are over")
    }

    @Test("the session of root's link is the person's, and another user cannot name one")
    func person() throws {
        let bench = try Bench(hasPage: true)
        let named = ActedFor("alice", isLogin: false).field
        let answer = try bench.ask("POST", "/v1/session/link", headers: [(named.name, named.value)])
        guard geteuid() == 0 else {
            #expect(answer.status == 403)
            return
        }
        let link = try #require(answer.text("path")?.split(separator: "/").last)
        _ = try bench.server.api.sessions.follow(link: String(link))
        #expect(try bench.ask("GET", "/v1/sessions").text("items", "0", "name") == "root (uid 0) for alice")
    }

    @Test("a look at a link does not use it up")
    func looks() throws {
        let bench = try Bench()
        let sessions = bench.server.api.sessions
        let (link, _) = try sessions.makeLink(for: "root")
        for _ in 0..<3 { #expect(sessions.isGood(link: link)) }
        #expect(!sessions.isGood(link: "none") && !sessions.isGood(link: ""))
        #expect(try sessions.follow(link: link) != nil)
        #expect(!sessions.isGood(link: link))
        let (late, _) = try sessions.makeLink(for: "root")
        bench.clock.advance(by: .seconds(301))
        #expect(!sessions.isGood(link: late))
    }

    @Test("while another program holds the store, a link signs in all the same, and a token does not")
    func heldStore() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let other = try openStore(bench.directory.appending(path: "relay.db").path)
        try other.administer("BEGIN IMMEDIATE")
        let sessions = bench.server.api.sessions
        let (link, _) = try sessions.makeLink(for: "root")
        let secret = try #require(try sessions.follow(link: link))
        #expect(
            try bench.askNetwork("POST", "/v1/session", headers: [("Authorization", "Bearer \(token)")]).status == 503)
        let cookie = "upgrade_relay_session=\(secret.text)"
        #expect(try Self.status(bench, cookie) == 200)
        #expect(try sessions.all().map(\.live.session.actor) == ["root"])
        try other.administer("ROLLBACK")
        #expect(try Self.status(bench, cookie) == 200, "afterwards, too")
        let id = try #require(try sessions.all().first).id
        #expect(try bench.ask("DELETE", "/v1/sessions/\(id)").status == 204)
        #expect(try Self.status(bench, cookie) == 401)
        let (second, _) = try sessions.makeLink(for: "root")
        #expect(try sessions.follow(link: second) != nil)
        #expect(try bench.store.sessions(at: bench.clock.now).count == 1, "the store has it")
    }

    @Test("that a stream looks whether its session is good is no use of it")
    func streamsAreNoUse() throws {
        let bench = try Bench()
        let browser = try Browser(bench, token: try bench.newToken(.status))
        let secret = SessionSecret(text: String(browser.cookie.split(separator: "=")[1]))
        let sessions = bench.server.api.sessions
        bench.clock.advance(by: .seconds(1800))
        #expect(try sessions.isGood(secret))
        bench.clock.advance(by: .seconds(1801))
        #expect(try !sessions.isGood(secret))
        #expect(try browser.ask("GET", "/v1/campaigns").status == 401)
    }

    @Test("the store has no secret of a session")
    func stored() throws {
        let bench = try Bench()
        let browser = try Browser(bench, token: try bench.newToken(.status))
        let secret = SessionSecret(text: String(browser.cookie.split(separator: "=")[1]))
        #expect(try bench.store.session(hash: Array(secret.text.utf8)) == nil)
        let live = try #require(try bench.store.session(hash: secret.hash))
        #expect(live.token?.scopes == [.status])
        #expect(secret.formToken != secret.text)
    }
}
