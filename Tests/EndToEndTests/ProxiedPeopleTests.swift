// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import TestPeers
import Testing
import WireFormat

/// The real daemon behind a real nginx with the guide's `auth_request`. A second server of nginx plays oauth2-proxy: the cookie
/// `who` stands for its sign-in.
@Suite(.serialized, .ownThread) struct ProxiedPeopleTests {
    private static let guide = "etc/ACCESS.md"
    private static let heading = "## People whom a proxy signs in"

    /// The block of its kind below the heading.
    private static func block(_ kind: String) throws -> String {
        let text = try Guide.text(guide)
        let from = try #require(text.firstRange(of: heading)).upperBound
        let start = try #require(text[from...].firstRange(of: "```\(kind)\n"), "no \(kind) in \(guide)")
        let rest = text[start.upperBound...]
        return String(rest[..<(try #require(rest.firstRange(of: "```")).lowerBound)])
    }

    /// A daemon with the guide's configuration, and the proxy with the guide's locations before it.
    private static func start() throws -> (bench: Workbench, front: ProxyProcess) {
        let bench = try Workbench()
        let shown = try block("json5")
        let page = try #require(shown.firstRange(of: "page: ")).lowerBound
        let end = try #require(shown.range(of: "} } },", options: .backwards)).lowerBound
        try bench.reconfigure("listen: { ", "listen: { \(shown[page..<end])} }, ")
        try bench.start()
        let relay = try #require(bench.relay)
        let locations = try block("nginx").replacing("127.0.0.1:8480", with: relay.address)
            .replacing("127.0.0.1:4180", with: "unix:FOLDER/oauth2.sock")
        // The clients are at a socket of the folder, so a header of the test has their addresses.
        let front = try Nginx.start(
            """
            map $cookie_who $test_groups { ada "operators,qa"; bob support; eve qa; }
            server {
                listen unix:FOLDER/oauth2.sock;
                location = /oauth2/auth {
                    add_header X-Auth-Request-User $cookie_who always;
                    add_header X-Auth-Request-Groups $test_groups always;
                    if ($cookie_who = "") { return 401; }
                    return 202;
                }
                location /oauth2/sign_in { return 200 "sign in, and come back to $arg_rd"; }
            }
            server {
                listen 80;
                set_real_ip_from unix:;
                real_ip_header X-Test-Client;
            \(locations)
            }
            """)
        return (bench, front)
    }

    private struct Browser {
        let front: ProxyProcess
        /// Signed in at the proxy under this name; nil: not yet.
        var who: String?
        var session: String?
        var more: [(String, String)] = []

        func ask(
            _ method: String = "GET", _ path: String, _ headers: [(String, String)] = [], body: String? = nil
        ) throws -> HTTPResponse {
            let cookies = [who.map { "who=\($0)" }, session].compactMap(\.self).joined(separator: "; ")
            return try front.ask(
                method, path, headers: more + headers + (cookies.isEmpty ? [] : [("Cookie", cookies)]), body: body)
        }

        mutating func look(_ path: String = "/") throws -> HTTPResponse {
            let answer = try ask("GET", path)
            if let header = answer["set-cookie"] { session = String(header.prefix { $0 != ";" }) }
            return answer
        }
    }

    private static func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func whoeverSignsInAtTheProxyActsUnderTheirName() throws {
        let (bench, front) = try Self.start()
        let set = try bench.command("version", "set", Workbench.app, "ios", "--required", "2.0.0")
        #expect(set.status == 0, "\(set)")
        var ada = Browser(front: front, who: nil)
        ada.more = [("X-Test-Client", "192.0.2.7")]
        let stranger = try ada.ask("GET", "/page/campaigns?limit=5")
        #expect(stranger.status == 302)
        #expect(stranger["location"]?.hasSuffix("/oauth2/sign_in?rd=/page/campaigns?limit=5") == true, "\(stranger)")
        #expect(Self.text(try ada.ask("GET", "/oauth2/sign_in?rd=/")).contains("come back to /"))

        ada.who = "ada"
        let overview = try ada.look()
        #expect(overview.status == 200 && Self.text(overview).contains("proxy:ada"), "\(Self.text(overview))")
        #expect(Self.text(overview).contains("signed in by the proxy: sign out there"))
        #expect(overview["set-cookie"]?.contains("SameSite=Lax") == true)
        #expect(try ada.ask("GET", "/v1/apps").status == 200)
        // The page's own form has the token that a change carries.
        let form = Self.text(try ada.look("/page/apps/\(Workbench.app)/ios/raise"))
        let token = try #require(form.firstMatch(of: /name="formToken" value="([^"]+)"/), "\(form)").1
        let path = "/v1/apps/\(Workbench.app)/ios/version"
        func raise(_ headers: [(String, String)]) throws -> HTTPResponse {
            try ada.ask("PUT", path, headers, body: #"{"latest":"2.1.0"}"#)
        }
        let (same, carried) = (("Sec-Fetch-Site", "same-origin"), ("X-Form-Token", String(token)))
        for headers in [[], [same], [carried], [("Sec-Fetch-Site", "cross-site"), carried]] {
            #expect(try raise(headers).status == 403, "\(headers)")
        }
        #expect(try raise([same, carried]).status == 200)
        let trail = try bench.command("audit", "--actor", "proxy:ada")
        #expect(trail.output.contains("version.bump") && trail.output.contains("192.0.2.7"), "\(trail)")
        #expect(try bench.command("sessions", "list").output.contains("proxy:ada"))
        let line = "a proxy signed a person in by=proxy:ada from=192.0.2.7"
        #expect(bench.relay?.waitForLine(line, within: .seconds(60)) != nil)
    }

    @Test func groupsGiveTheRightsAndAClientsOwnHeadersGiveNone() throws {
        let (bench, front) = try Self.start()
        var bob = Browser(front: front, who: "bob")
        bob.more = [
            ("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operators"), ("X-Forwarded-For", "6.6.6.6"),
            ("X_Forwarded_User", "ada"),
        ]
        let users = try bob.look("/page/users")
        #expect(users.status == 200 && Self.text(users).contains("proxy:bob"), "\(Self.text(users))")
        let refused = try bob.ask("GET", "/v1/campaigns")
        #expect(refused.status == 403 && Self.text(refused).contains(#"none of the groups of \"proxy:bob\" gives"#))
        // No person is signed in, whatever the client sends itself.
        var mallory = Browser(front: front, who: nil)
        mallory.more = bob.more
        mallory.session = bob.session
        #expect(try mallory.ask("GET", "/page/users").status == 302)
        let eve = try Browser(front: front, who: "eve").ask("GET", "/")
        #expect(eve.status == 403 && Self.text(eve).contains("You have no right here"))
        #expect(Self.text(eve).contains("“qa”"))
        // By the relay's own address the proxy's headers count from the proxy's address alone; a cookie counts nowhere alone.
        let relay = try #require(bench.relay)
        var direct = HTTPRequest("GET", "http://\(relay.address)/page/users")
        direct.headers = [(name: "Cookie", value: bob.session ?? "")]
        #expect(try HTTPClient().send(direct).status == 401)
        // Another proxy from now on: nginx's headers are a stranger's.
        try bench.edit { $0.replacing(#"from: ["127.0.0.1"]"#, with: #"from: ["10.9.9.9"]"#) }
        try bench.reload()
        let moved = try bob.ask("GET", "/page/users")
        #expect(moved.status == 403 && Self.text(moved).contains("listen.page.identity.from"), "\(Self.text(moved))")
        #expect(relay.waitForLine("a request that names a person was refused", within: .seconds(60)) != nil)
    }
}
