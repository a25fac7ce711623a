// SPDX-License-Identifier: Apache-2.0
import Signing
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@Suite("Events of release tools")
struct ReleaseEventTests {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: Tags

    @Test(
        "tags that hold a version",
        arguments: [
            ("2.1.0", TagPattern.standard.text, "2.1.0"), ("v2.1.0", TagPattern.standard.text, "2.1.0"),
            ("7", TagPattern.standard.text, "7"), ("ios-3.4", #"^ios-(\d+\.\d+)$"#, "3.4"),
            ("release/2.0 (14)", #"release/(\d+(?:\.\d+)+)"#, "2.0"), ("app@1.2", "@(.+)$", "1.2"),
        ])
    func goodTags(tag: String, pattern: String, version: String) throws {
        #expect(try TagPattern(pattern).read(tag) == .version(Version(version)))
    }

    @Test(
        "tags that do not",
        arguments: [
            ("2.1.0-beta.1", TagPattern.standard.text), ("nightly", TagPattern.standard.text),
            ("v2.1.0\n", TagPattern.standard.text), ("", TagPattern.standard.text),
            ("٢.١", TagPattern.standard.text), ("ios-beta", "^ios-(.+)$"), ("ios-", "^ios-(.+)?$"),
            (String(repeating: "1", count: 256), TagPattern.standard.text),
        ])
    func badTags(tag: String, pattern: String) throws {
        guard case .none(let reason) = try TagPattern(pattern).read(tag) else {
            Issue.record("\(tag) was taken")
            return
        }
        #expect(reason.contains("the tag"))
    }

    @Test(
        "patterns that are none",
        arguments: [
            ("", TagPatternError.length), (String(repeating: "a", count: 256), .length),
            ("(", .invalid("expected ')'")), ("(\\d+", .invalid("expected ')'")),
            ("a)|(b", .invalid("closing ')' does not balance any groups openings")), ("\\d+", .groups(0)),
            ("(\\d+)\\.(\\d+)", .groups(2)),
            ("((\\d+))", .groups(2)), ("(?:\\d+)", .groups(0)),
        ])
    func patterns(text: String, error: TagPatternError) {
        #expect(throws: error) { try TagPattern(text) }
    }

    @Test("named and alternative groups count as groups; an alternative before them hides none")
    func goodPatterns() throws {
        #expect(try TagPattern("(?<version>\\d+)").read("v12") == .version(Version("12")))
        #expect(throws: TagPatternError.groups(2)) { try TagPattern("a(\\d)|b(\\d)") }
        #expect(throws: TagPatternError.groups(0)) { try TagPattern("|a") }
    }

    // MARK: GitHub

    static func gitHub(
        action: String = "published", tag: String = "v2.1.0", draft: Bool = false, prerelease: Bool = false
    ) -> [UInt8] {
        bytes(
            #"{"action":"\#(action)","release":{"id":1,"tag_name":"\#(tag)","draft":\#(draft),"#
                + #""prerelease":\#(prerelease),"body":"notes","assets":[]},"repository":{"full_name":"a/b"}}"#)
    }

    static func readGitHub(
        _ body: [UInt8], name: String? = "release", _ change: (inout ReleaseRules) -> Void = { _ in }
    ) throws -> ReleaseVerdict {
        var rules = ReleaseRules()
        change(&rules)
        return try GitHubEvent.read(body, name: name, rules: rules)
    }

    @Test("GitHub: what was published counts, drafts do not, prereleases by choice")
    func gitHubReleases() throws {
        #expect(try Self.readGitHub(Self.gitHub()) == .version(Version("2.1.0")))
        #expect(try Self.readGitHub(Self.gitHub(draft: true)) == .ignored("the release is a draft"))
        #expect(
            try Self.readGitHub(Self.gitHub(prerelease: true))
                == .ignored(
                    "the release is a prerelease; webhooks.prereleases of the app's configuration takes them"))
        #expect(
            try Self.readGitHub(Self.gitHub(prerelease: true)) { $0.prereleases = true } == .version(Version("2.1.0")))
        #expect(
            try Self.readGitHub(Self.gitHub(tag: "nightly"))
                == .ignored(#"the tag "nightly" does not match the pattern ^v?(\d+(?:\.\d+)*)$"#))
    }

    @Test(
        "GitHub: the other actions of a release",
        arguments: ["created", "deleted", "unpublished"])
    func gitHubActions(action: String) throws {
        #expect(
            try Self.readGitHub(Self.gitHub(action: action))
                == .ignored(
                    "the action is \"\(action)\"; only \"published\", \"released\", \"prereleased\", \"edited\" announce a version"
                ))
    }

    @Test("GitHub: what comes true after it was published announces, and the words of a release do not")
    func gitHubLater() throws {
        let later = ReleaseVerdict.outByNow(try Version("2.1.0"))
        for action in ["released", "edited"] {
            #expect(try Self.readGitHub(Self.gitHub(action: action)) == later)
            #expect(try Self.readGitHub(Self.gitHub(action: action, draft: true)) == .ignored("the release is a draft"))
            guard case .ignored? = try? Self.readGitHub(Self.gitHub(action: action, prerelease: true)) else {
                Issue.record("a prerelease was announced")
                return
            }
        }
        #expect(
            try Self.readGitHub(Self.gitHub(action: "prereleased", prerelease: true)) { $0.prereleases = true } == later
        )
        func edited(_ changes: String) throws -> ReleaseVerdict {
            try Self.readGitHub(
                Self.bytes(
                    String(decoding: Self.gitHub(action: "edited"), as: UTF8.self)
                        .replacing("\"action\"", with: "\"changes\":\(changes),\"action\"")))
        }
        for words in [
            #"{"body":{"from":"a"}}"#, #"{"name":{"from":"a"},"body":{"from":""}}"#, #"{"make_latest":{"to":true}}"#,
        ] {
            #expect(try edited(words) == .ignored("only the words of the release were edited"))
        }
        for change in ["{}", "null", #"{"tag_name":{"from":"v2.0"}}"#, #"{"prerelease":{"from":true}}"#] {
            #expect(try edited(change) == later, "\(change)")
        }
    }

    @Test("GitHub: other events, the ping, and bodies at fault")
    func gitHubOthers() throws {
        #expect(try Self.readGitHub(Self.bytes(#"{"zen":"Keep it","hook_id":1,"hook":{}}"#), name: "ping") == .ping)
        #expect(
            try Self.readGitHub(Self.bytes("{}"), name: "push")
                == .ignored(#"the event is "push"; only "release" announces a version"#))
        func fault(_ text: String, name: String? = "release") -> String? {
            do {
                _ = try Self.readGitHub(Self.bytes(text), name: name)
                return nil
            } catch {
                return (error as? BodyError)?.description
            }
        }
        #expect(fault("{}") == "action: is missing; a string is needed")
        #expect(fault(#"{"action":7}"#) == "action: a string is needed; got the number 7")
        #expect(fault(#"{"action":"published","release":{}}"#) == "release.draft: is missing; true or false is needed")
        #expect(fault("{}", name: nil) == "X-GitHub-Event: the header is missing; \"release\" is needed")
        #expect(
            fault("payload=%7B%7D") == "body: JSON is needed; set the webhook's content type to application/json")
        #expect(fault("[]") == "body: an object is needed; got an array")
    }

    // MARK: GitLab

    @Test("GitLab: what was created counts, what is dated in the future does not")
    func gitLab() throws {
        func read(_ action: String, _ date: String, kind: String = "release") throws -> ReleaseVerdict {
            try GitLabEvent.read(
                Self.bytes(
                    #"{"object_kind":"\#(kind)","action":"\#(action)","tag":"v1.1","name":"v1.1","#
                        + #""released_at":"\#(date)","url":"https://gitlab.example.com/a/b/-/releases/v1.1"}"#),
                rules: ReleaseRules(), now: "2023-11-14T22:13:20.000Z")
        }
        let version = ReleaseVerdict.version(try Version("1.1"))
        #expect(try read("create", "2020-11-02 12:55:12 UTC") == version)
        #expect(try read("create", "2023-11-14T22:13:20.999Z") == version)
        #expect(try read("create", "some day") == version)
        #expect(
            try read("create", "2023-11-14 22:13:21 UTC")
                == .ignored("the release is an upcoming one, dated 2023-11-14 22:13:21 UTC"))
        #expect(try read("update", "2020-11-02 12:55:12 UTC") == .outByNow(Version("1.1")))
        #expect(try read("create", "2023-11-14 22:13:21 +0200") == version)
        guard case .ignored? = try? read("create", "2023-11-14 22:13:21 -0100") else {
            Issue.record("a release of the future was announced")
            return
        }
        #expect(
            try read("update", "2023-11-14 22:13:21 UTC")
                == .ignored("the release is an upcoming one, dated 2023-11-14 22:13:21 UTC"))
        #expect(
            try read("delete", "2020-11-02 12:55:12 UTC")
                == .ignored(#"the action is "delete"; only "create" and "update" announce a version"#))
        #expect(
            try read("create", "", kind: "push")
                == .ignored(#"the event is "push"; only "release" announces a version"#))
    }

    // MARK: App Store Connect

    static func state(_ value: String, type: String = "appStoreVersionAppVersionStateUpdated") -> [UInt8] {
        bytes(
            #"{"data":{"type":"\#(type)","id":"e-1","version":1,"attributes":{"oldValue":"IN_REVIEW","#
                + #""newValue":"\#(value)","timestamp":"2025-07-09T19:33:19.846Z"},"relationships":{"instance":"#
                + #"{"data":{"type":"appStoreVersions","id":"v-1"}}}}}"#)
    }

    @Test("App Store Connect: a version that is out makes the store be asked")
    func appStoreConnect() throws {
        for value in ["READY_FOR_DISTRIBUTION", "READY_FOR_SALE"] {
            let (id, news) = try AppStoreConnectEvent.read(Self.state(value))
            #expect(id == "e-1")
            #expect(news == .askTheStore)
        }
        let spelled = Self.state("READY_FOR_SALE", type: "APP_STORE_VERSION_APP_VERSION_STATE_UPDATED")
        #expect(try AppStoreConnectEvent.read(spelled).news == .askTheStore)
        #expect(
            try AppStoreConnectEvent.read(Self.state("SOMETHING_NEW")).news
                == .ignored("the version's state is \"SOMETHING_NEW\"; only \"READY_FOR_DISTRIBUTION\" means out"))
        guard case .ignored = try AppStoreConnectEvent.read(Self.state("VALID", type: "buildUploadStateUpdated")).news
        else {
            Issue.record("an event of builds was taken")
            return
        }
    }

    @Test(
        "App Store Connect: pings of both shapes",
        arguments: [
            #"{"data":{"type":"webhookPingCreated","id":"p","version":1,"attributes":{"timestamp":"2025"}}}"#,
            #"{"data":{"type":"webhookPings","id":"p","version":1,"attributes":{"ping":true}}}"#,
        ])
    func pings(text: String) throws {
        let (id, news) = try AppStoreConnectEvent.read(Self.bytes(text))
        #expect(id == "p")
        #expect(news == .ping)
    }

    @Test("App Store Connect: an event without an id is refused")
    func noID() {
        #expect(
            throws: BodyError.fields([FieldFault("data.id", "is missing; a string is needed")])
        ) { try AppStoreConnectEvent.read(Self.bytes(#"{"data":{"type":"webhookPingCreated"}}"#)) }
        let error = #expect(throws: BodyError.self) {
            try AppStoreConnectEvent.read(Self.bytes(#"{"data":{"type":"webhookPingCreated","id":"a\u0000"}}"#))
        }
        #expect(error.map { "\($0)" }?.contains("a string without the character U+0000 is needed") == true)
    }
}
