// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

@Suite struct EnforceConfigurationTests {
    private static func parse(_ enforce: String) throws -> EnforceRules {
        let text = "{ enforce: \(enforce), apps: { a: { ios: { apns: null } } } }"
        return try ConfigurationFile.parse(Array(text.utf8), path: "test").enforce
    }

    @Test func `By default unknown versions pass, and no User-Agent is known`() throws {
        let rules = try Self.parse("{}")
        #expect(rules == EnforceRules())
        #expect(rules.headers.all == ["X-App-Id", "X-App-Platform", "X-App-Version", "X-App-OS"])
        #expect(rules.unknown == .allow && rules.agents.isEmpty)
    }

    @Test func `All of it can be set`() throws {
        let rules = try Self.parse(
            """
            { headers: { app: "App", platform: "Platform", version: "Version", os: "System" }, unknown: "deny",
              userAgents: [{ pattern: "A/{version} *", app: "a", platform: "ios" }] }
            """)
        #expect(rules.headers.all == ["App", "Platform", "Version", "System"])
        #expect(rules.unknown == .deny)
        #expect(rules.agents.map(\.pattern.text) == ["A/{version} *"])
        #expect(rules.agents.map(\.app) == [AppKey(app: "a", platform: .ios)])
    }

    @Test(arguments: [
        (#"{ unknown: "pass" }"#, #"unknown: "pass" is not what becomes of the unknown; "allow" or "deny""#),
        (#"{ headers: { app: "A B" } }"#, #"headers.app: "A B" is not the name of a header"#),
        (#"{ headers: { app: "" } }"#, #"headers.app: "" is not the name of a header"#),
        (
            #"{ headers: { version: "Host" } }"#,
            #"headers.version: "Host" says something else in every request; a name of its own"#
        ),
        (
            #"{ headers: { version: "x-app-ID" } }"#,
            #"headers.version: "x-app-id" is another one's header already; a name for each"#
        ),
        (#"{ headers: { user: "A" } }"#, "headers.user: unknown key; known here: app, os, platform, version"),
        (
            #"{ userAgents: [{ pattern: "A/.*", app: "a", platform: "ios" }] }"#,
            #"userAgents[0].pattern: "A/.*" has 0 places for the version; exactly one is needed, such as "ExampleApp/{version} *""#
        ),
        (
            #"{ userAgents: [{ pattern: "A/{version}", app: "b", platform: "ios" }] }"#,
            #"userAgents[0].app: "b" is not among the apps for ios"#
        ),
        (
            #"{ userAgents: [{ pattern: "A/{version}", app: "a", platform: "android" }] }"#,
            #"userAgents[0].app: "a" is not among the apps for android"#
        ),
        (
            #"{ userAgents: [{ pattern: "A/{version}", app: "a", platform: "windows" }] }"#,
            #"userAgents[0].platform: "windows" is not a platform; "ios" or "android""#
        ),
        (
            #"{ userAgents: [{ app: "a", platform: "ios" }] }"#,
            #"userAgents[0].pattern: missing; how its User-Agent looks, such as "ExampleApp/{version} *""#
        ),
    ]) func `A fault is named with what would be right`(enforce: String, fault: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try Self.parse(enforce) }
        #expect(error.faults.map(\.description) == ["enforce.\(fault)"])
    }
}
