// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Testing
import UpgradeRules

@testable import RelayAPI

@Suite("The question of a reverse proxy, live", .ownThread)
struct EnforceLiveTests {
    static let mine = "/v1/enforce?app=com.example.app&platform=ios"

    static func bench(_ change: (inout EnforceRules) throws -> Void = { _ in }) throws -> Bench {
        var rules = EnforceRules()
        try change(&rules)
        let bench = try Bench(enforce: rules)
        _ = try bench.ask(
            "PUT", ResourceLiveTests.version, #"{"required":"2.0","latest":"2.1","message":"Bitte, 请"}"#)
        return bench
    }

    static let anyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    @Test("a version that may go on gets 204, whatever the method and the body", arguments: anyMethod)
    func passes(method: String) throws {
        let bench = try Self.bench()
        let body = ["POST", "PUT", "PATCH"].contains(method) ? Array("{not JSON".utf8) : nil
        let answer = try bench.askNetwork(method, "\(Self.mine)&version=2.0", body)
        #expect(answer.status == 204)
        #expect(answer[header: "cache-control"] == "no-store")
        #expect(try bench.askNetwork(method, "\(Self.mine)&version=1.9", body).status == 426)
    }

    @Test("one that may not gets a problem with all that an app needs")
    func denied() throws {
        let bench = try Self.bench()
        for (more, status) in [("", 426), ("&deny=426", 426), ("&deny=403", 403)] {
            let answer = try bench.askNetwork("GET", "\(Self.mine)&version=1.9.9\(more)")
            #expect(answer.status == status)
            #expect(answer[header: "content-type"] == "application/problem+json")
            #expect(answer[header: "cache-control"] == "no-store")
            #expect(answer[header: "upgrade"] == nil)
            #expect(answer.text("type") == "urn:upgrade-relay:upgrade-required")
            #expect(answer.text("title") == "Upgrade Required")
            #expect(answer.number("status") == String(status))
            #expect(answer.text("downloadUrl") == "https://example.com/app")
            #expect(answer.text("required") == "2.0")
            #expect(answer.text("message") == "Bitte, 请")
        }
        let head = try bench.askNetwork("HEAD", "\(Self.mine)&version=1.9.9")
        #expect(head.status == 426 && head.bytes.isEmpty)
    }

    @Test("a rise is answered at once, and a withdrawn message too")
    func rise() throws {
        let bench = try Self.bench()
        #expect(try bench.askNetwork("GET", "\(Self.mine)&version=2.0").status == 204)
        let rise = #"{"required":"2.0.1","downloadUrl":"https://example.com/2"}"#
        _ = try bench.ask("PUT", ResourceLiveTests.version, rise)
        let answer = try bench.askNetwork("GET", "\(Self.mine)&version=2.0")
        #expect(answer.status == 426)
        #expect(answer.text("downloadUrl") == "https://example.com/2")
        #expect(answer.text("required") == "2.0.1")
    }

    @Test("headers, with names of one's own, and the User-Agent")
    func headers() throws {
        let bench = try Self.bench { rules in
            rules.headers.app = "App-Name"
            rules.headers.version = "X-Version"
            rules.agents = [.init(pattern: try UserAgentPattern("Example/{version} *"), app: Bench.app)]
        }
        func status(_ headers: (String, String)..., query: String = "") throws -> Int {
            try bench.askNetwork("GET", "/v1/enforce\(query)", headers: headers).status
        }
        let app = [("app-name", "com.example.app"), ("X-App-Platform", "ios")]
        #expect(try status(app[0], app[1], ("X-Version", "1.9")) == 426)
        #expect(try status(app[0], app[1], ("x-version", "2.0")) == 204)
        #expect(try status(("x-version", "1.9"), query: "?app=com.example.app&platform=ios") == 426)
        #expect(try status(("User-Agent", "Example/1.9 (iPhone)")) == 426)
        #expect(try status(("User-Agent", "Example/2.0 (iPhone)")) == 204)
        // The default names are no longer read.
        #expect(try status(app[0], app[1], ("X-App-Version", "1.9")) == 204)
        // Twice: no version.
        #expect(try status(app[0], app[1], ("X-Version", "1.9"), ("X-Version", "1.8")) == 204)
    }

    static let unknownQueries = [
        "", "?app=com.example.app&platform=ios", "?app=com.example.app&platform=ios&version=", "?version=1.0",
        "?app=com.example.app&platform=ios&version=1.x", "?app=other&platform=ios&version=1",
        "?app=com.example.app&platform=windows&version=1",
    ]

    @Test("what is not known passes, or is denied where the owner says so", arguments: unknownQueries)
    func unknown(query: String) throws {
        #expect(try Self.bench().askNetwork("GET", "/v1/enforce\(query)").status == 204)
        let strict = try Self.bench { $0.unknown = .deny }
        let answer = try strict.askNetwork("GET", "/v1/enforce\(query)")
        #expect(answer.status == 426)
        #expect(answer.text("type") == "urn:upgrade-relay:version-unknown")
        let isMine = query.contains("com.example.app&platform=ios")
        #expect(answer.text("downloadUrl") == (isMine ? "https://example.com/app" : nil))
        #expect(answer.text("required") == (isMine ? "2.0" : nil))
        #expect(try strict.askNetwork("GET", "\(Self.mine)&version=2.0").status == 204)
    }

    @Test("a requirement for named users denies nobody, and is told to nobody")
    func canary() throws {
        var rules = EnforceRules()
        rules.unknown = .deny
        let bench = try Bench(enforce: rules)
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","telephones":["138"]}"#)
        #expect(try bench.askNetwork("GET", "\(Self.mine)&version=1.9").status == 204)
        #expect(try bench.askNetwork("GET", Self.mine).text("required") == nil)
    }

    @Test("a parameter that is wrong is a fault of the proxy's configuration")
    func faults() throws {
        let bench = try Self.bench()
        for (query, field) in [
            ("&version=1.9&deny=foo", "deny"), ("&version=1.9&deny=0403", "deny"), ("&version=1.9&deny=", "deny"),
            ("&version=1.9&deny=401", "deny"), ("&version=1&version=3", "version"), ("&token=x", "token"),
        ] {
            let answer = try bench.askNetwork("GET", Self.mine + query)
            #expect(answer.status == 422, "\(query)")
            #expect(answer.text("errors", "0", "field") == field)
        }
    }

    @Test("below its path, as Envoy asks, it is 200 or 426, and the client's own path and query mean nothing")
    func envoy() throws {
        let bench = try Self.bench()
        let app = [("x-app-id", "com.example.app"), ("x-app-platform", "ios")]
        for target in ["/", "/v1/apps?version=1.0&x=y", "/caf%E9/%zz?%FF", "//..", "/v1/check?app=x"] {
            for (version, status) in [("2.0", 200), ("1.9", 426)] {
                let answer = try bench.askNetwork(
                    "POST", "/v1/enforce\(target)", [], headers: app + [("x-app-version", version)])
                #expect(answer.status == status, "\(target)")
                #expect(answer.bytes.isEmpty == (status == 200))
            }
        }
    }

    @Test("a client's own Authorization is none of the relay's")
    func authorization() throws {
        let bench = try Self.bench()
        for value in ["Bearer its-own", "Basic eDp5", "nonsense"] {
            let headers = [("Authorization", value)]
            #expect(try bench.askNetwork("GET", "\(Self.mine)&version=2.0", headers: headers).status == 204)
            #expect(try bench.askNetwork("GET", "\(Self.mine)&version=1.9", headers: headers).status == 426)
        }
    }

    @Test("it is counted by app and outcome, and only for apps that are configured")
    func metrics() throws {
        let bench = try Self.bench()
        for version in ["1.9", "2.0", "3.0", "x"] {
            _ = try bench.askNetwork("GET", "\(Self.mine)&version=\(version)")
        }
        for app in ["evil-1", "evil-2", "evil-3"] {
            _ = try bench.askNetwork("GET", "/v1/enforce?app=\(app)&platform=ios&version=1")
        }
        let text = try bench.askNetwork("GET", "/metrics").body
        let series = text.split(separator: "\n").filter { $0.hasPrefix("upgrade_relay_enforce_answers_total{") }
        func line(_ app: String, _ platform: String, _ outcome: String, _ count: Int) -> String {
            "upgrade_relay_enforce_answers_total{app=\"\(app)\",platform=\"\(platform)\",outcome=\"\(outcome)\"} \(count)"
        }
        #expect(
            series.map(String.init) == [
                line("com.example.app", "ios", "passed", 2), line("com.example.app", "ios", "denied", 1),
                line("com.example.app", "ios", "unknown", 1), line("none", "none", "passed", 0),
                line("none", "none", "denied", 0), line("none", "none", "unknown", 3),
            ])
    }
}
