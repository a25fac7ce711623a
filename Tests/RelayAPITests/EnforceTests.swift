// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayAPI

@Suite("What a proxy's question says")
struct EnforceTests {
    // MARK: User-Agent

    static let agents: [(pattern: String, header: String, version: String?)] = [
        ("ExampleApp/{version} *", "ExampleApp/2.1.0 CFNetwork/1410.0.3 Darwin/22.6.0", "2.1.0"),
        ("ExampleApp/{version} *", "ExampleApp/2.1.0 ", "2.1.0"),
        ("ExampleApp/{version} *", "ExampleApp/2.1.0", nil),
        ("ExampleApp/{version} *", "ExampleApp/2.1.0-beta (iPhone)", nil),
        ("ExampleApp/{version} *", "OtherApp/2.1.0 ExampleApp/2.0 x", nil),
        ("ExampleApp/{version} *", "exampleapp/2.1.0 x", nil),
        ("ExampleApp/{version}*", "ExampleApp/2.1.0-beta (iPhone)", "2.1.0"),
        ("ExampleApp/{version}*", "ExampleApp/2.1.0", "2.1.0"),
        ("ExampleApp/{version}*", "ExampleApp/beta", nil),
        ("ExampleApp/{version}", "ExampleApp/2.1", "2.1"),
        ("ExampleApp/{version}", "ExampleApp/2.1 ", nil),
        ("{version}", "3", "3"),
        ("{version};*", "1.2;x", "1.2"),
        ("* ExampleApp/{version} *", "Mozilla/5.0 (iPhone) ExampleApp/2.1 Mobile", "2.1"),
        // The first place where the whole part matches.
        ("* ExampleApp/{version} *", "a ExampleApp/x ExampleApp/2.2 b ExampleApp/9 c", "2.2"),
        ("*; v{version}", "okhttp/4.9; v1; v1.0.2", "1.0.2"),
        ("*(*) Example {version}/*", "Mozilla/5.0 (iPad) Example 7/x", "7"),
        ("ExampleApp*a{version}b*a", "ExampleApp a1c a2b xa", "2"),
        ("ExampleApp*a{version}b*ba", "ExampleApp a2ba", nil),
        ("ExampleApp/{version} *", "ExampleApp/2.1 \u{7248}\u{672C}", "2.1"),
        // The text as it stands there: it is checked elsewhere whether it is a version.
        ("ExampleApp/{version} *", "ExampleApp/2..1 x", "2..1"),
        ("ExampleApp/{version} *", "", nil),
        ("ExampleApp/{version}*", "ExampleApp/1" + String(repeating: "x", count: 1012), "1"),
        ("ExampleApp/{version}*", "ExampleApp/1" + String(repeating: "x", count: 1013), nil),
    ]

    @Test("a User-Agent by its pattern", arguments: agents)
    func agent(entry: (pattern: String, header: String, version: String?)) throws {
        #expect(try UserAgentPattern(entry.pattern).version(in: entry.header) == entry.version)
    }

    @Test(
        "what is no pattern",
        arguments: [
            ("", UserAgentPatternError.length), (String(repeating: "x", count: 256), .length),
            ("ExampleApp", .versions(0)),
            ("{version}/{version}", .versions(2)), ("{Version}", .versions(0)), ("Ex\u{E4}mple/{version}", .characters),
            ("a\t{version}", .characters), ("App*{version}", .joined), ("App1{version}", .joined),
            ("App.{version}", .joined), ("App/{version}0", .joined), ("App/{version}.x", .joined),
        ])
    func noPattern(text: String, error: UserAgentPatternError) {
        #expect(throws: error) { try UserAgentPattern(text) }
    }

    /// No digit is read more than once for one part of the pattern.
    @Test("a header that is made to be slow is not")
    func hostileHeader() throws {
        let pattern = try UserAgentPattern(String(repeating: "*a", count: 100) + "*a{version}b*")
        let header = String(repeating: "a1", count: 256) + String(repeating: "1", count: 512)
        for _ in 0..<20 { #expect(pattern.version(in: header) == nil) }
    }

    // MARK: The subject

    static var rules: EnforceRules {
        get throws {
            var rules = EnforceRules()
            rules.headers = rules.headers.lowercased
            for (pattern, app, platform) in [
                ("Example/{version} *", "a", Platform.ios), ("Example/{version} Android*", "a", .android),
                ("Other/{version}", "b", .ios),
            ] {
                rules.agents.append(
                    .init(pattern: try UserAgentPattern(pattern), app: AppKey(app: app, platform: platform)))
            }
            return rules
        }
    }

    typealias Said = (app: String?, platform: String?, version: String?)

    static let subjects: [(query: Said, headers: [String: String], found: Said)] = [
        (("a", "ios", "1"), [:], ("a", "ios", "1")),
        ((nil, nil, nil), [:], (nil, nil, nil)),
        ((nil, nil, nil), ["x-app-id": "a", "x-app-platform": "ios", "x-app-version": "1"], ("a", "ios", "1")),
        // The query goes before the headers, and they before the User-Agent; each field by itself.
        (("a", "ios", nil), ["x-app-id": "b", "x-app-version": "2"], ("a", "ios", "2")),
        (("a", "ios", "1"), ["x-app-version": "2", "user-agent": "Example/3 x"], ("a", "ios", "1")),
        (("a", "ios", nil), ["x-app-version": "2", "user-agent": "Example/3 x"], ("a", "ios", "2")),
        (("a", "ios", nil), ["user-agent": "Example/3 x"], ("a", "ios", "3")),
        ((nil, nil, nil), ["user-agent": "Example/3 x"], ("a", "ios", "3")),
        ((nil, nil, nil), ["user-agent": "Other/4"], ("b", "ios", "4")),
        ((nil, nil, nil), ["user-agent": "curl/8"], (nil, nil, nil)),
        // Empty values, as a proxy copies them from headers that are not there.
        (("a", "ios", ""), ["x-app-version": "", "user-agent": "Example/3 x"], ("a", "ios", "3")),
        // A named app is not contradicted: another app's User-Agent is ignored.
        (("b", "ios", nil), ["user-agent": "Example/3 x"], ("b", "ios", nil)),
        (("a", "android", nil), ["user-agent": "Example/3 Android"], ("a", "android", "3")),
        (("a", nil, nil), ["user-agent": "Other/4"], ("a", nil, nil)),
        // A value that cannot be read is not replaced by one that can.
        (("a", "ios", "beta"), ["user-agent": "Example/3 x"], ("a", "ios", "beta")),
    ]

    @Test("query, headers, User-Agent", arguments: subjects.indices)
    func subject(index: Int) throws {
        let (query, headers, found) = Self.subjects[index]
        let subject = try Self.rules.complete(
            EnforceSubject(app: query.app, platform: query.platform, version: query.version)
        ) { headers[$0] }
        #expect(subject == EnforceSubject(app: found.app, platform: found.platform, version: found.version))
    }

    // MARK: The verdict

    typealias Case = (
        required: String?, inForce: String?, latest: String?, canary: String?, url: String?, version: String?,
        is: String
    )

    static let url = "https://example.com/app"

    static let verdicts: [Case] = [
        (nil, nil, nil, nil, url, "1.0", "passes"),
        ("2.0", "2.0", "2.0", nil, url, "1.9", "denied"),
        ("2.0", "2.0", "2.0", nil, url, "2.0.0", "passes"),
        ("2.0", "2.0", "2.0", nil, url, "10", "passes"),
        // A requirement that waits for the store denies no user; the one that was in force before still does.
        ("2.0", nil, nil, nil, url, "1.9", "passes"),
        ("3.0", "2.0", "2.0", nil, url, "2.5", "passes"),
        ("3.0", "2.0", "2.0", nil, url, "1.9", "denied"),
        // A user who is only reminded passes.
        ("2.0", "2.0", "3.0", nil, url, "2.5", "passes"),
        (nil, nil, "3.0", nil, url, "1.0", "passes"),
        // A prompt that leads nowhere is never shown.
        ("2.0", "2.0", "2.0", nil, nil, "1.0", "passes"),
        ("2.0", "2.0", "2.0", nil, "", "1.0", "passes"),
        // A canary's does not count: no telephone is known here.
        ("2.0", nil, nil, "2.0", url, "1.0", "passes"),
        ("3.0", "2.0", "2.0", "3.0", url, "2.5", "passes"),
        ("3.0", "2.0", "2.0", "3.0", url, "1.9", "denied"),
        ("2.0", "2.0", "2.0", nil, url, nil, "unknown"),
    ]

    @Test("a version that a proxy asks about", arguments: verdicts.indices)
    func verdict(index: Int) throws {
        let entry = Self.verdicts[index]
        func row(
            _ id: Int64, _ kind: Requirement.Kind, _ version: String?, _ state: Requirement.State,
            reach: Int = Requirement.everybody
        ) throws -> Requirement? {
            try version.map {
                Requirement(
                    id: id, kind: kind, version: try Version($0), state: state, reach: reach, isGated: true,
                    changed: .relay(at: Bench.now))
            }
        }
        let waits = entry.required == entry.inForce || entry.required == entry.canary ? nil : entry.required
        var canary = try row(3, .required, entry.canary, .inForce, reach: 0)
        canary?.canary = ["138"]
        let rows = try [
            row(1, .required, waits, .waiting), row(2, .required, entry.inForce, .inForce), canary,
            row(4, .latest, entry.latest, .announced),
        ]
        let answers = CheckAnswers(
            Requirements(rows.compactMap(\.self)), AppProfile(downloadURL: entry.url, alert: "Upgrade"))
        let name =
            switch answers.enforce(try entry.version.map { try Version($0) }) {
            case .passes: "passes"
            case .denied: "denied"
            case .unknown: "unknown"
            }
        #expect(name == entry.is)
    }

    @Test("Envoy's target")
    func below() {
        for target in ["/v1/enforce/", "/v1/enforce/a?version=x", "/v1/enforce//v1/apps"] {
            #expect(API.isBelowEnforce(target), "\(target)")
        }
        for target in ["/v1/enforce", "/v1/enforce?x=/", "/v1/enforced/a", "/v1/check", "/v1/", "*", ""] {
            #expect(!API.isBelowEnforce(target), "\(target)")
        }
    }
}
