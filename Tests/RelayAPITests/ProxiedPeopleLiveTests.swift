// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTPServer
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import TestPeers
import TestStores
import Testing

@testable import RelayAPI

/// The tests' client is at 127.0.0.1, which is the proxy.
@Suite("People whom a proxy signs in", .ownThread)
struct ProxiedPeopleLiveTests {
    private static let own = ("Sec-Fetch-Site", "same-origin")
    private static let campaigns = "/page/campaigns"

    /// The rules in force, which a reload exchanges.
    private final class Rules: Sendable {
        let value: Mutex<ProxyIdentity?>

        init(from proxy: String = "127.0.0.1") throws {
            var rules = ProxyIdentity()
            rules.from = [try PeerNetwork(proxy)]
            rules.rights = ["ops": [.status, .campaigns], "support": [.users], "*": []]
            value = Mutex(rules)
        }

        func change(_ edit: (inout ProxyIdentity) -> Void) {
            value.withLock { rules in
                guard var changed = rules else { return }
                edit(&changed)
                rules = changed
            }
        }
    }

    /// Asks for a page, which the API's document does not describe.
    private static func page(
        _ bench: Bench, _ method: String, _ path: String, _ headers: [(String, String)], _ body: String? = nil
    ) throws -> Answer {
        var request = HTTPRequest(method, "http://127.0.0.1:\(bench.server.port ?? 0)\(path)")
        request.headers = headers.map { (name: $0.0, value: $0.1) }
        if let body { request.body = Array(body.utf8) }
        return Answer(try HTTPClient().send(request))
    }

    private static func bench(_ rules: Rules) throws -> Bench {
        try Bench(hasPage: true, identity: { rules.value.withLock { $0 } })
    }

    /// A browser behind the proxy, with the headers that the proxy sets.
    private struct Browser {
        let bench: Bench
        var name: String
        var groups: String?
        var cookie: String?
        var more: [(String, String)] = []

        init(_ bench: Bench, _ name: String, _ groups: String? = "ops") {
            (self.bench, self.name, self.groups) = (bench, name, groups)
        }

        func ask(
            _ method: String, _ path: String, _ headers: [(String, String)] = [], body: String? = nil
        ) throws -> Answer {
            var all = [("X-Forwarded-User", name)] + more + headers
            if let groups { all.append(("X-Forwarded-Groups", groups)) }
            if let cookie { all.append(("Cookie", cookie)) }
            if path.hasPrefix("/v1/") {
                return try bench.askNetwork(method, path, body.map { Array($0.utf8) }, headers: all)
            }
            return try ProxiedPeopleLiveTests.page(bench, method, path, all, body)
        }

        /// Looks at a page and keeps the cookie that comes.
        mutating func look(_ path: String = campaigns) throws -> Answer {
            let answer = try ask("GET", path)
            if let header = answer[header: "set-cookie"] { cookie = String(header.prefix { $0 != ";" }) }
            return answer
        }

        var formToken: String {
            SessionSecret(text: String(cookie?.split(separator: "=").last ?? "")).formToken
        }
    }

    @Test("a group that is bound to apps has its scopes on these alone, whatever the other groups of the person give")
    func bound() throws {
        let rules = try Rules()
        let (app, other) = (Bench.app.app, Bench.other.app)
        rules.change {
            $0.rights = [
                "team": Grant([.status, .campaigns, .versions], apps: [app]),
                "others": Grant([.status, .campaigns, .versions], apps: [other]), "viewers": [.status],
            ]
        }
        let bench = try Self.bench(rules)
        bench.control.hasOther.withLock { $0 = true }
        let campaign = try bench.campaign(required: "2.0.0")
        let (path, page) = ("/v1/campaigns/\(campaign)/pause", "/page/campaigns/\(campaign)")
        func pause(_ browser: Browser) throws -> Int {
            try browser.ask("POST", path, [Self.own, ("X-Form-Token", browser.formToken)]).status
        }
        var eve = Browser(bench, "eve", "others")
        #expect(try !eve.look().body.contains(campaign))
        #expect(try eve.ask("GET", "/v1/campaigns/\(campaign)").status == 404)
        #expect(try eve.ask("GET", page).status == 404)
        #expect(try pause(eve) == 404)
        let refused = try eve.ask("GET", "/v1/apps/\(app)/ios/version")
        #expect(refused.status == 403)
        #expect(refused.text("detail") == "the groups of \"proxy:eve\" are bound to other apps")
        #expect(try eve.ask("GET", "/v1/apps/\(other)/ios/version").status != 403)
        // Another group shows it, and lets no act be done.
        var bob = Browser(bench, "bob", "others,viewers")
        #expect(try bob.look().body.contains(campaign))
        let seen = try bob.ask("GET", page)
        #expect(seen.status == 200 && !seen.body.contains("\(page)/pause"), "\(seen.body)")
        #expect(try bob.ask("GET", "\(page)/pause").status == 403)
        #expect(try pause(bob) == 404)
        #expect(try bob.ask("GET", "/page/apps/\(app)/ios/raise").status == 403)
        #expect(try bob.ask("GET", "/page/apps/\(other)/ios/raise").status == 200)
        var ada = Browser(bench, "ada", "team,viewers")
        #expect(try ada.look(page).body.contains("\(page)/pause"))
        #expect(try pause(ada) == 200)
        try bench.until { try bench.server.api.overview().campaigns.first?.record.state == .paused }
        #expect(try ada.ask("GET", "/").body.contains("action=\"\(page)/resume\""), "the first screen has her buttons")
        #expect(try !bob.ask("GET", "/").body.contains("\(page)/resume"))
        // Another binding is another right: the session ends.
        rules.change { $0.rights["team"] = Grant([.status, .campaigns, .versions], apps: [other]) }
        #expect(try ada.ask("GET", "/v1/campaigns").status == 401)
    }

    @Test("a look at a page begins a session of that name, which the page's own requests go on with")
    func session() throws {
        let bench = try Self.bench(try Rules())
        let campaign = try bench.campaign(required: "2.0.0")
        var ada = Browser(bench, "ada@example.com")
        let first = try ada.look()
        #expect(first.status == 200 && first.body.contains("proxy:ada@example.com"))
        let header = try #require(first[header: "set-cookie"])
        for attribute in ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=43200"] {
            #expect(header.contains("; \(attribute)"), "\(attribute)")
        }
        #expect(try ada.look()[header: "set-cookie"] == nil, "it goes on")
        #expect(try ada.ask("GET", "/v1/campaigns").status == 200)
        #expect(try ada.ask("GET", "/v1/users?telephone=138").status == 403, "the scope users")
        #expect(try ada.ask("GET", "/v1/tokens").status == 403, "the control socket alone")
        let path = "/v1/campaigns/\(campaign)/pause"
        let form = ("X-Form-Token", ada.formToken)
        for headers in [[], [form], [Self.own], [("Sec-Fetch-Site", "cross-site"), form]] {
            #expect(try ada.ask("POST", path, headers).status == 403, "\(headers)")
        }
        #expect(try ada.ask("POST", path, [Self.own, form]).status == 200)
        let row = try bench.ask("GET", "/v1/audit?action=campaign.pause")
        #expect(row.text("items", "0", "actor") == "proxy:ada@example.com")
        #expect(row.text("items", "0", "actorKind") == "session" && row.text("items", "0", "source") == "page")
        let listed = try bench.ask("GET", "/v1/sessions")
        #expect(listed.count("items") == 1 && listed.text("items", "0", "name") == "proxy:ada@example.com")
        #expect(listed.text("items", "0", "scopes", "0") == "status" && listed.count("items", "0", "scopes") == 2)
        #expect(bench.logged.all.contains("info a proxy signed a person in by=proxy:ada@example.com from=127.0.0.1"))
    }

    @Test("from another address the header is refused on every route that needs a right, and on no other")
    func elsewhere() throws {
        let rules = try Rules(from: "10.0.0.0/8")
        let bench = try Self.bench(rules)
        let mallory = Browser(bench, "ada")
        for path in ["/", Self.campaigns, "/v1/campaigns", "/v1/sessions"] {
            let answer = try mallory.ask("GET", path)
            #expect(answer.status == 403 && answer[header: "set-cookie"] == nil, "\(path)")
            #expect(answer.body.contains("taken from a proxy of listen.page.identity.from alone"), "\(answer.body)")
        }
        let token = ("Authorization", "Bearer \(try bench.newToken(.status))")
        #expect(try mallory.ask("GET", "/v1/campaigns", [token]).status == 403, "a token does not help")
        #expect(try Browser(bench, "", nil).ask("GET", "/v1/campaigns").status == 403, "nor does an empty name")
        // A name means nothing to the routes of apps, release tools and proxies.
        let check = "/v1/check?app=com.example.app&platform=ios&version=1.0"
        #expect(try mallory.ask("GET", check).status == 200)
        #expect(try mallory.ask("GET", "/v1/enforce?app=com.example.app&platform=ios&version=1.0").status == 204)
        #expect(try mallory.ask("GET", "/healthz").status == 200)
        #expect(try bench.webhook(#"{"app":"com.example.app","platform":"ios","latest":"9.0"}"#).status == 200)
        // Forged headers about the address change nothing.
        var forged = mallory
        forged.more = [("X-Forwarded-For", "10.0.0.1"), ("Forwarded", "for=10.0.0.1"), ("X-Real-IP", "10.0.0.1")]
        #expect(try forged.ask("GET", Self.campaigns).status == 403)
        #expect(bench.logged.wait(for: "warning a request that names a person was refused from=127.0.0.1 proxy=none"))
        #expect(!bench.logged.all.contains { $0.contains("ada") }, "what strangers send is not logged")
        // At the control socket the headers mean nothing, wherever the proxies are.
        let socket = try bench.ask("GET", "/v1/sessions", headers: [("X-Forwarded-User", "ada")])
        #expect(socket.status == 200 && socket.count("items") == 0)
    }

    @Test("the name has to be one, and one that the audit trail can show")
    func names() throws {
        let bench = try Self.bench(try Rules())
        func ask(_ name: String, _ more: [(String, String)] = []) throws -> Answer {
            var browser = Browser(bench, name)
            browser.more = more
            return try browser.ask("GET", "/v1/campaigns")
        }
        for name in [String(repeating: "a", count: 65), "a\tb", "a\u{202E}b", "a\u{200B}b", "a\u{FFFD}"] {
            let answer = try ask(name)
            #expect(answer.status == 400 && answer.body.contains("the name in the header X-Forwarded-User"), "\(name)")
        }
        // A client's own header beside the proxy's.
        for twice in ["X-Forwarded-User", "x-forwarded-user", "X-Forwarded-Groups"] {
            let answer = try ask("ada", [(twice, "ops")] + (twice.hasSuffix("Groups") ? [(twice, "ops")] : []))
            #expect(answer.status == 400 && answer.body.contains("came twice"), "\(twice)")
        }
        // No person has signed in at the proxy: an API token may.
        #expect(try ask("").status == 401)
        let page = try Browser(bench, "", nil).ask("GET", "/")
        #expect(page.status == 401 && page.body.contains("sent no name in the header X-Forwarded-User"))
        #expect(try Self.page(bench, "GET", "/", []).body.contains("sent no name in the header X-Forwarded-User"))
        var longest = Browser(bench, "李雷 " + String(repeating: "é", count: 61))
        #expect(try longest.look().status == 200)
    }

    @Test("a person without any right is shown the groups that the proxy sent")
    func withoutRights() throws {
        let bench = try Self.bench(try Rules())
        for (groups, shown) in [
            ("qa, <b>dev</b>,qa", "“qa”, “&lt;b&gt;dev&lt;/b&gt;”"), (nil, "none"),
        ] {
            var ada = Browser(bench, "ada", groups)
            let answer = try ada.look()
            #expect(answer.status == 403 && ada.cookie == nil)
            #expect(answer.body.contains("You have no right here") && answer.body.contains(shown), "\(answer.body)")
            ada.more = [("Accept-Language", "zh")]
            #expect(try ada.look().body.contains("您在此处没有权限"))
        }
        let many = (0..<30).map { "g\($0)" }.joined(separator: ",")
        let detail = try Browser(bench, "ada", many).ask("GET", "/v1/campaigns").text("detail")
        #expect(detail?.contains(#"it sent the groups "g0", "g1""#) == true, "\(detail ?? "")")
        #expect(detail?.contains("+20, and none has a right here") == true, "\(detail ?? "")")
        #expect(try bench.server.api.sessions.all().isEmpty)
    }

    @Test("the scopes of all groups add up, and a group that is lacking is named with those that came")
    func groups() throws {
        let rules = try Rules()
        let bench = try Self.bench(rules)
        var both = Browser(bench, "ada", " support ,, ops,unknown")
        #expect(try both.look().status == 200)
        #expect(try both.ask("GET", "/v1/campaigns").status == 200)
        #expect(try both.ask("GET", "/v1/users?telephone=138").status == 200)
        var support = Browser(bench, "bob", "support")
        #expect(try support.look("/page/users").status == 200)
        let refused = try support.ask("GET", "/v1/campaigns")
        #expect(refused.status == 403)
        let words = #"which none of the groups of "proxy:bob" gives: "support""#
        #expect(refused.text("detail")?.contains(words) == true, "\(refused.body)")
        // Neither the star nor another spelling is a group.
        for groups in ["*", "OPS", "op", "ops support"] {
            #expect(try Browser(bench, "eve", groups).ask("GET", Self.campaigns).status == 403, "\(groups)")
        }
        rules.change { $0.rights["*"] = [.status] }
        var anybody = Browser(bench, "eve", nil)
        #expect(try anybody.look().status == 200, "a reload counts for the next request")
        let lacking = try anybody.ask("GET", "/v1/users?telephone=138").text("detail")
        #expect(lacking?.contains(#""proxy:eve" lacks: the proxy sent no group"#) == true, "\(lacking ?? "")")
    }

    @Test("changed groups count for the next request, and end the session")
    func changedGroups() throws {
        let bench = try Self.bench(try Rules())
        let campaign = try bench.campaign(required: "2.0.0")
        var ada = Browser(bench, "ada")
        _ = try ada.look()
        let (old, form) = (ada.cookie, ("X-Form-Token", ada.formToken))
        ada.groups = "support"
        #expect(try ada.ask("GET", "/v1/campaigns").status == 401)
        #expect(try bench.server.api.sessions.all().isEmpty, "its streams end, too")
        let act = "/v1/campaigns/\(campaign)/pause"
        #expect(try ada.ask("POST", act, [Self.own, form]).status == 401)
        let sent = try ada.ask("POST", "/page/campaigns/\(campaign)/pause", [Self.own], body: "formToken=\(form.1)")
        #expect(sent.status == 403 && sent.body.contains("load the page again"))
        #expect(try ada.look("/page/users").status == 200)
        #expect(ada.cookie != old)
        #expect(try ada.ask("GET", "/v1/campaigns").status == 403, "by the new rights")
        // All rights are gone.
        ada.groups = "qa"
        #expect(try ada.ask("GET", "/v1/users?telephone=138").status == 403)
        #expect(try bench.server.api.sessions.all().isEmpty)
    }

    @Test("a cookie is one person's, and counts with that person's header alone")
    func cookies() throws {
        let bench = try Self.bench(try Rules())
        var ada = Browser(bench, "ada")
        _ = try ada.look()
        let cookie = ("Cookie", try #require(ada.cookie))
        #expect(try bench.askNetwork("GET", "/v1/campaigns", headers: [cookie]).status == 401, "no header")
        #expect(try Self.page(bench, "GET", "/", [cookie]).status == 401)
        #expect(try bench.ask("GET", "/v1/sessions").count("items") == 1)
        var bob = Browser(bench, "bob")
        bob.cookie = ada.cookie
        #expect(try bob.ask("GET", "/v1/campaigns").status == 401)
        let looked = try bob.look()
        #expect(looked.body.contains("proxy:bob") && !looked.body.contains("proxy:ada"))
        #expect(bob.cookie != ada.cookie)
        #expect(try ada.ask("GET", "/v1/campaigns").status == 200, "hers goes on")
        // Another spelling of a name is another person's.
        var one = Browser(bench, "Jos\u{E9}")
        _ = try one.look()
        var other = Browser(bench, "Jose\u{301}")
        other.cookie = one.cookie
        #expect(try other.ask("GET", "/v1/campaigns").status == 401)
        // A session that began without the proxy.
        let token = try bench.newToken(.status, .devices)
        let begun = try bench.askNetwork("POST", "/v1/session", headers: [("Authorization", "Bearer \(token)")])
        ada.cookie = String(try #require(begun[header: "set-cookie"]).prefix { $0 != ";" })
        #expect(try ada.ask("GET", "/v1/campaigns").status == 401)
        #expect(try ada.look().body.contains("proxy:ada"))
    }

    @Test("an API token has its own rights behind the proxy, and whatever else Authorization holds has none")
    func authorization() throws {
        let bench = try Self.bench(try Rules())
        let token = ("Authorization", "Bearer \(try bench.newToken(.devices))")
        let ada = Browser(bench, "ada")
        #expect(try ada.ask("GET", "/v1/users?telephone=138", [token]).status == 200)
        #expect(try ada.ask("GET", "/v1/campaigns", [token]).status == 403)
        for other in ["Basic YWRhOg==", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"] {
            var browser = Browser(bench, "ada")
            browser.more = [("Authorization", other)]
            #expect(try browser.look().status == 200, "\(other)")
            #expect(try browser.ask("GET", "/v1/campaigns").status == 200, "\(other)")
            #expect(try bench.askNetwork("GET", "/v1/campaigns", headers: [("Authorization", other)]).status == 401)
        }
        // The proxy's name would stand beside another session's acts.
        for path in ["/page/session", "/page/enter/x"] {
            let answer = try ada.ask("POST", path, [Self.own], body: "token=x")
            #expect(answer.status == 409 && answer.body.contains("The proxy signs you in as “ada”"), "\(path)")
        }
    }

    @Test("only a look at a page begins a session")
    func beginnings() throws {
        let bench = try Self.bench(try Rules())
        var ada = Browser(bench, "ada")
        for (method, path) in [
            ("GET", "/v1/campaigns"), ("HEAD", "/v1/campaigns"), ("POST", "/v1/session"), ("DELETE", "/v1/session"),
            ("POST", "/v1/campaigns/latest/pause"),
        ] {
            #expect(try ada.ask(method, path, [Self.own]).status == 401, "\(method) \(path)")
        }
        #expect(try ada.ask("POST", "/page/session/end", [Self.own], body: "formToken=x").status == 403)
        #expect(try ada.ask("HEAD", Self.campaigns).status == 200)
        #expect(try ada.ask("GET", "/page/campaigns/none").status == 404)
        #expect(try bench.server.api.sessions.all().isEmpty)
        _ = try ada.look()
        bench.clock.advance(by: .seconds(3601))
        #expect(try ada.ask("GET", "/v1/campaigns").status == 401, "it was idle")
        #expect(try ada.look()[header: "set-cookie"] != nil)
        #expect(try bench.server.api.sessions.all().count == 1)
    }

    @Test("a person has so many sessions, and the oldest ends; other people's go on")
    func bounded() throws {
        let bench = try Self.bench(try Rules())
        var bob = Browser(bench, "bob")
        _ = try bob.look()
        var first = Browser(bench, "ada")
        _ = try first.look()
        for _ in 0..<Sessions.most {
            bench.clock.advance(by: .seconds(1))
            var next = Browser(bench, "ada")
            _ = try next.look()
        }
        #expect(try bench.server.api.sessions.all().count == Sessions.most + 1)
        #expect(try first.ask("GET", "/v1/campaigns").status == 401)
        #expect(try bob.ask("GET", "/v1/campaigns").status == 200)
    }

    @Test("while another program holds the store, people still get in")
    func heldStore() throws {
        let bench = try Self.bench(try Rules())
        let other = try openStore(bench.directory.appending(path: "relay.db").path)
        try other.administer("BEGIN IMMEDIATE")
        var ada = Browser(bench, "ada")
        #expect(try ada.look().status == 200)
        #expect(try ada.ask("GET", "/v1/campaigns").status == 200)
        #expect(try bench.askNetwork("GET", "/v1/campaigns", headers: [("Cookie", ada.cookie ?? "")]).status == 401)
        try other.administer("ROLLBACK")
        #expect(try ada.ask("GET", "/v1/campaigns").status == 200)
    }

    @Test("log and audit trail have the client's address, as the proxy reports it")
    func addresses() throws {
        let rules = try Rules()
        let bench = try Self.bench(rules)
        let token = try bench.newToken(.versions, .status)
        func address(_ headers: [(String, String)], version: String) throws -> String? {
            let answer = try bench.askNetwork(
                "PUT", "/v1/apps/com.example.app/ios/version", Array(#"{"latest":"\#(version)"}"#.utf8),
                headers: [("Authorization", "Bearer \(token)"), ("X-Request-Id", "v\(version)")] + headers)
            #expect(answer.status == 200, "\(answer.body)")
            let row = try bench.ask("GET", "/v1/audit?action=version.bump&limit=1")
            let from = row.text("items", "0", "address")
            bench.server.api.access.finish()
            let line = try #require(bench.logged.lines(of: "v\(version)").last)
            #expect(line.hasSuffix(" from=\(from ?? "")"), "\(line)")
            return from
        }
        let forged = ("Forwarded", "for=6.6.6.6")
        #expect(try address([], version: "3.1") == "127.0.0.1")
        #expect(try address([("X-Forwarded-For", "6.6.6.6, 192.0.2.7")], version: "3.2") == "192.0.2.7")
        #expect(
            try address([("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "::1")], version: "3.3")
                == "0:0:0:0:0:0:0:1")
        #expect(try address([forged], version: "3.4") == "127.0.0.1", "the other header is the client's own")
        rules.change { $0.address = .forwarded }
        #expect(
            try address([("Forwarded", #"for="[2001:db8::7]:1""#), ("X-Forwarded-For", "6.6.6.6")], version: "3.5")
                == "2001:db8:0:0:0:0:0:7")
        rules.change { $0.from = (try? PeerNetwork("10.0.0.1")).map { [$0] } ?? [] }
        #expect(try address([forged, ("X-Forwarded-For", "6.6.6.6")], version: "3.6") == "127.0.0.1")
        rules.value.withLock { $0 = nil }
        #expect(try address([forged, ("X-Forwarded-For", "6.6.6.6")], version: "3.7") == "127.0.0.1")
        #expect(try Browser(bench, "ada").ask("GET", Self.campaigns).status == 401, "nobody is signed in any more")
    }
}
