// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import Configuration

@Suite struct ReleaseRulesConfigurationTests {
    private static func parse(_ webhooks: String) throws -> RelayConfiguration {
        let text = "{ apps: { a: { android: { webhooks: \(webhooks) } } } }"
        return try ConfigurationFile.parse(Array(text.utf8), path: "test")
    }

    private static func rules(_ webhooks: String) throws -> ReleaseRules? {
        try parse(webhooks).apps.first?.webhooks
    }

    @Test func `Releases raise the latest version by default`() throws {
        let rules = try #require(try Self.rules("{}"))
        #expect(rules == ReleaseRules())
        #expect(rules.tagPattern.text == #"^v?(\d+(?:\.\d+)*)$"#)
        #expect(!rules.prereleases)
        #expect(rules.sets == .latest)
    }

    @Test func `All of it can be set`() throws {
        let rules = try Self.rules(
            #"{ tagPattern: "^ios-(.+)$", prereleases: true, sets: "required", canary: ["13800138000", "+1"] }"#)
        #expect(rules?.tagPattern.text == "^ios-(.+)$")
        #expect(rules?.prereleases == true)
        #expect(rules?.sets == .required)
        #expect(rules?.canary == ["13800138000", "+1"])
    }

    @Test(arguments: [
        (
            #"{ tagPattern: "(" }"#, #"tagPattern: "(" is no regular expression: expected ')'"#
        ),
        (
            #"{ tagPattern: "\\d+" }"#,
            #"tagPattern: "\d+" has 0 capture groups; exactly one is needed, around the version, and (?:…) around all others"#
        ),
        (
            #"{ tagPattern: "(a)(b)" }"#,
            #"tagPattern: "(a)(b)" has 2 capture groups; exactly one is needed, around the version, and (?:…) around all others"#
        ),
        (#"{ tagPattern: "" }"#, #"tagPattern: "" is empty or has more than 255 characters"#),
        (#"{ prereleases: "yes" }"#, #"prereleases: "yes" is not true or false"#),
        (#"{ sets: "all" }"#, #"sets: "all" is not what a release raises; "latest" or "required""#),
        (#"{ tags: "x" }"#, "tags: unknown key; known here: canary, prereleases, repository, sets, tagPattern"),
        (
            #"{ repository: "app" }"#,
            #"repository: "app" is not a repository; as GitHub or GitLab names it, such as "owner/name""#
        ),
        (#"{ canary: [] }"#, "canary: is empty; leave it out for everybody at once"),
        (
            #"{ canary: [13800138000] }"#,
            #"canary[0]: 13800138000 is no telephone as devices send it, such as "13800138000""#
        ),
        (
            #"{ canary: ["138\u202E"] }"#,
            #"canary[0]: "138\#u{FFFD}" is no telephone as devices send it, such as "13800138000""#
        ),
    ])
    func `A fault names its field`(webhooks: String, fault: String) {
        do {
            _ = try Self.parse(webhooks)
            Issue.record("taken")
        } catch {
            #expect(
                (error as? ConfigurationError)?.faults.map(\.description) == [#"apps["a"].android.webhooks."# + fault])
        }
    }
}
