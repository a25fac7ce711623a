// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Requirements
import Signing
import StorePeers
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

/// Each field that identifies the subject of an answer is compared with the question: the guide's table is the code's, and each
/// field is tried with right values and with wrong ones.
@Suite struct AnswerFieldTests {
    @Test func `The guide has a row for each field, with its check`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "etc/SOURCES.md"), encoding: .utf8)
        let part = text.split(separator: "## Which answers are believed").last ?? ""
        let rows = part.split(separator: "\n").drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }
        let right = AnswerField.allCases.map { "| \($0.answer) | `\($0.field)` | \($0.check) |" }
        // Behind them are the fields of push services (`GuideTests`).
        #expect(rows.prefix(right.count).map(String.init) == right, "\(right.joined(separator: "\n"))")
    }

    /// The values of a field that must be believed, and those that must not.
    private struct Trial {
        var right: [String]
        var wrong: [String]
        /// Whether an answer that has this at the field is believed.
        var isBelieved: (String) throws -> Bool
    }

    // MARK: Answers in which one field is exchanged

    private static let lookup = AppStoreSource(trackID: 7, bundleID: "com.example.app", country: "cn")

    static func result(_ changes: [String: String], version: String = "2.0") -> String {
        var fields = [
            "wrapperType": #""software""#, "kind": #""software""#, "trackId": "7", "bundleId": #""com.example.app""#,
            "version": "\"\(version)\"", "trackViewUrl": #""https://apps.apple.com/cn/app/x/id7?uo=4""#,
        ]
        for (name, value) in changes { fields[name] = value.isEmpty ? nil : value }
        return "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func results(_ results: String...) -> [UInt8] {
        Array("{\"resultCount\":\(results.count),\"results\":[\(results.joined(separator: ","))]}".utf8)
    }

    private static func looksUp(_ field: String, _ value: String, by key: LookupKey = .trackID(7)) -> Bool {
        (try? AppStoreAnswer.read(results(result([field: value])), of: lookup, by: key)) != nil
    }

    private static func connect(
        _ attributes: String = "", app: String? = nil, type: String = "appStoreVersions", link: String? = "LIST",
        next: String? = nil,
        phase: String = "null", included: String = ""
    ) throws -> AppStoreConnectPage {
        let list = ConnectSample.source().list
        let related = app.map { #","app":{"data":{"type":"apps","id":"\#($0)"}}"# } ?? ""
        let links = [
            link.map { #""self":"\#($0.replacing("LIST", with: list))""# },
            next.map { #""next":"\#($0.replacing("LIST", with: list))""# },
        ].compactMap(\.self).joined(separator: ",")
        let platform = attributes.contains("platform") ? "" : #","platform":"IOS""#
        let state = attributes.contains("appVersionState") ? "" : #","appVersionState":"READY_FOR_DISTRIBUTION""#
        return try ConnectSample.read(
            #"""
            {"data":[{"type":"\#(type)","id":"a","attributes":{"versionString":"2.0"\#(platform)\#(state)\#(attributes)},
              "relationships":{"appStoreVersionPhasedRelease":{"data":\#(phase)}\#(related)}}],
             "included":[\#(included)],"links":{\#(links)}}
            """#)
    }

    private static func isOut(_ page: AppStoreConnectPage) -> Bool { page.entries.first?.release.isLive == true }

    private static func play(_ track: String, _ state: String = "RELEASE_LIFECYCLE_STATE_PUBLISHED") throws -> Bool {
        let named = track.isEmpty ? "" : #""track":"\#(track)","#
        let body =
            #"{"releases":[{\#(named)"activeArtifacts":[{"versionCode":1}],"releaseLifecycleState":"\#(state)"}]}"#
        return try GooglePlayAnswer.releases(Array(body.utf8), track: "production").contains(where: \.isPublished)
    }

    private static func edit(_ track: String, _ status: String = "completed") throws -> Bool {
        let named = track.isEmpty ? "" : #""track":"\#(track)","#
        let body = #"{\#(named)"releases":[{"versionCodes":["1"],"status":"\#(status)","userFraction":0.5}]}"#
        return try GooglePlayAnswer.track(Array(body.utf8), track: "production").contains {
            [.completed, .inProgress].contains($0.status)
        }
    }

    private static func token(_ member: String) -> Bool {
        let answer = GoogleTokenAnswer(
            status: 200, body: Array("{\"access_token\":\"a\"\(member.isEmpty ? "" : ",\(member)")}".utf8),
            scope: GoogleAccount.Scope.androidPublisher)
        if case .granted = answer { return true }
        return false
    }

    private static func gitHub(
        _ name: String = "release", action: String = "published", repository: String = "Owner/App",
        draft: String = "false",
        prerelease: String = "false", tag: String = "v2.0", more: String = "", rules: ReleaseRules? = nil
    ) throws -> Bool {
        var own = ReleaseRules()
        own.repository = "owner/app"
        let body =
            #"{"action":"\#(action)","repository":{"full_name":"\#(repository)"}\#(more),"release":{"draft":\#(draft),"#
            + #""prerelease":\#(prerelease),"tag_name":"\#(tag)"}}"#
        return isNews(try GitHubEvent.read(Array(body.utf8), name: name, rules: rules ?? own))
    }

    private static func gitLab(
        kind: String = "release", action: String = "create", project: String = "group/app",
        date: String = "2020-01-01 00:00:00 UTC",
        tag: String = "2.0"
    ) throws -> Bool {
        var rules = ReleaseRules()
        rules.repository = "group/app"
        let body =
            #"{"object_kind":"\#(kind)","action":"\#(action)","project":{"path_with_namespace":"\#(project)"},"#
            + #""released_at":"\#(date)","tag":"\#(tag)"}"#
        return isNews(try GitLabEvent.read(Array(body.utf8), rules: rules, now: "2026-01-01T00:00:00.000Z"))
    }

    private static func apple(
        type: String = "appStoreVersionAppVersionStateUpdated", state: String = "READY_FOR_DISTRIBUTION",
        instance: String = "appStoreVersions"
    ) throws -> Bool {
        let body =
            #"{"data":{"id":"1","type":"\#(type)","attributes":{"newValue":"\#(state)"},"relationships":{"instance":"#
            + #"{"data":{"type":"\#(instance)","id":"x"}}}}}"#
        return isNews(try AppStoreConnectEvent.read(Array(body.utf8)).news)
    }

    private static func isNews(_ news: ReleaseVerdict) -> Bool {
        switch news {
        case .version, .outByNow, .askTheStore: true
        case .ignored, .ping: false
        }
    }

    // MARK: The fields

    private static func trial(_ field: AnswerField) -> Trial {
        let later = "RELEASE_LIFECYCLE_STATE_IN_REVIEW"
        return switch field {
        case .lookupWrapper:
            Trial(right: [#""software""#, ""], wrong: [#""audiobook""#, "1"]) { looksUp("wrapperType", $0) }
        case .lookupKind:
            Trial(right: [#""software""#, ""], wrong: [#""mac-software""#, #""ebook""#]) { looksUp("kind", $0) }
        case .lookupTrack:
            Trial(right: ["7", #""7""#], wrong: ["8", "", "null", #""com.example.app""#]) { looksUp("trackId", $0) }
        case .lookupBundle:
            Trial(right: [#""com.example.app""#], wrong: [#""com.example.other""#, "", "null", "7"]) {
                looksUp("bundleId", $0, by: .bundleID("com.example.app"))
            }
        case .lookupStorefront:
            Trial(
                right: [#""https://apps.apple.com/cn/app/x/id7""#, "", #""https://example.com/us/app/x""#],
                wrong: [#""https://apps.apple.com/us/app/x/id7?uo=4""#, #""https://itunes.apple.com/de/app/x/id7""#]
            ) { looksUp("trackViewUrl", $0) }
        case .connectList:
            Trial(
                right: ["LIST", "LIST?limit=200"],
                wrong: ["", "https://evil.example/v1/apps/6446998023/appStoreVersions"]
            ) {
                isOut(try connect(link: $0.isEmpty ? nil : $0))
            }
        case .connectNext:
            Trial(right: ["LIST?cursor=A"], wrong: ["LIST2?cursor=A", "https://evil.example/"]) {
                try connect(next: $0).next != nil
            }
        case .connectType:
            Trial(right: ["appStoreVersions"], wrong: ["apps", "builds"]) { isOut(try connect(type: $0)) }
        case .connectApp:
            Trial(right: ["6446998023"], wrong: ["7"]) { isOut(try connect(app: $0)) }
        case .connectPlatform:
            Trial(right: ["IOS"], wrong: ["MAC_OS", "TV_OS", "VISION_OS"]) {
                isOut(try connect(#","platform":"\#($0)""#))
            }
        case .connectState:
            Trial(
                right: ["READY_FOR_DISTRIBUTION", "READY_FOR_SALE"], wrong: ["IN_REVIEW", "REPLACED_WITH_NEW_VERSION"]
            ) {
                isOut(try connect(#","appVersionState":"\#($0)""#))
            }
        case .connectOlderState:
            Trial(right: ["READY_FOR_SALE"], wrong: ["PREORDER_READY_FOR_SALE", "REMOVED_FROM_SALE", "IN_REVIEW"]) {
                isOut(try connect(#","appStoreState":"\#($0)""#))
            }
        case .connectPhase:
            Trial(right: ["p"], wrong: ["q"]) { id in
                let page = try connect(
                    phase: #"{"type":"appStoreVersionPhasedReleases","id":"\#(id)"}"#,
                    included:
                        #"{"type":"appStoreVersionPhasedReleases","id":"p","attributes":{"phasedReleaseState":"ACTIVE"}}"#
                )
                return page.entries.first?.isPhaseKnown == true
            }
        case .connectPhaseType:
            Trial(right: ["appStoreVersionPhasedReleases"], wrong: ["appStoreVersions", "apps"]) { type in
                try AppStoreConnectAnswer.phase(
                    Array(#"{"data":{"type":"\#(type)","id":"p","attributes":{"phasedReleaseState":"ACTIVE"}}}"#.utf8),
                    of: "a")
                    == .active
            }
        case .connectPhaseLink:
            Trial(right: ["a"], wrong: ["b"]) { id in
                let link =
                    "https://api.appstoreconnect.apple.com/v1/appStoreVersions/\(id)/appStoreVersionPhasedRelease"
                let body =
                    #"{"data":{"type":"appStoreVersionPhasedReleases","id":"p","attributes":{"phasedReleaseState":"ACTIVE"}},"#
                    + #""links":{"self":"\#(link)"}}"#
                return try AppStoreConnectAnswer.phase(Array(body.utf8), of: "a") == .active
            }
        case .playReleaseTrack: Trial(right: ["production", ""], wrong: ["beta", "wear:production"]) { try play($0) }
        case .playLifecycle:
            Trial(right: ["RELEASE_LIFECYCLE_STATE_PUBLISHED"], wrong: [later, "RELEASE_LIFECYCLE_STATE_DRAFT", ""]) {
                try play("production", $0)
            }
        case .playTrack: Trial(right: ["production", ""], wrong: ["beta", "internal"]) { try edit($0) }
        case .playStatus:
            Trial(right: ["completed", "inProgress"], wrong: ["halted", "draft", "gone"]) { try edit("production", $0) }
        case .playEdit:
            Trial(right: ["1"], wrong: ["", "..", "a b"]) {
                try GooglePlayAnswer.edit(Array(#"{"id":"\#($0)"}"#.utf8)) == $0
            }
        case .launchGateSystem:
            Trial(right: ["ios"], wrong: ["android", "IOS"]) {
                let body = #"{"\#($0)":{"optionalUpdate":{"optionalVersion":"2.0","message":"m"}}}"#
                return try LaunchGateReading(Array(body.utf8)).latest != nil
            }
        case .tokenType:
            Trial(
                right: [#""token_type":"Bearer""#, #""token_type":"bearer""#, ""],
                wrong: [#""token_type":"mac""#, #""token_type":1"#]
            ) {
                token($0)
            }
        case .tokenScope:
            Trial(
                right: ["", #""scope":"openid https://www.googleapis.com/auth/androidpublisher""#],
                wrong: [#""scope":"https://www.googleapis.com/auth/firebase.messaging""#, #""scope":"""#]
            ) { token($0) }
        case .tokenLifetime:
            Trial(
                right: [#""expires_in":3599"#, #""expires_in":"3599""#, ""],
                wrong: [#""expires_in":0"#, #""expires_in":-1"#]
            ) {
                token($0)
            }
        case .gitHubEvent: Trial(right: ["release"], wrong: ["push", "ping"]) { try gitHub($0) }
        case .gitHubAction:
            Trial(right: ["published", "released", "edited"], wrong: ["created", "deleted", "unpublished"]) {
                try gitHub(action: $0)
            }
        case .gitHubRepository: Trial(right: ["Owner/App"], wrong: ["owner/other", ""]) { try gitHub(repository: $0) }
        case .gitHubDraft: Trial(right: ["false"], wrong: ["true"]) { try gitHub(draft: $0) }
        case .gitHubPrerelease: Trial(right: ["false"], wrong: ["true"]) { try gitHub(prerelease: $0) }
        case .gitHubTag: Trial(right: ["v2.0"], wrong: ["nightly", "android-2.0"]) { try gitHub(tag: $0) }
        case .gitLabKind: Trial(right: ["release"], wrong: ["tag_push"]) { try gitLab(kind: $0) }
        case .gitLabAction: Trial(right: ["create", "update"], wrong: ["delete"]) { try gitLab(action: $0) }
        case .gitLabProject:
            Trial(right: ["group/app", "Group/App"], wrong: ["group/other"]) { try gitLab(project: $0) }
        case .gitLabDate:
            Trial(
                right: ["2025-12-31 23:59:59 UTC", "2026-01-01 01:00:00 +0200", "2026-01-01T00:00:00.000Z"],
                wrong: ["2026-01-01 00:00:01 UTC", "2025-12-31 23:00:00 -0200", "2026-06-01T00:00:00.000+08:00"]
            ) { try gitLab(date: $0) }
        case .gitLabTag: Trial(right: ["2.0"], wrong: ["nightly"]) { try gitLab(tag: $0) }
        case .appleType:
            Trial(right: ["APP_STORE_VERSION_APP_VERSION_STATE_UPDATED"], wrong: ["buildUploadStateUpdated"]) {
                try apple(type: $0)
            }
        case .appleState:
            Trial(right: ["READY_FOR_SALE"], wrong: ["IN_REVIEW", "PENDING_APPLE_RELEASE"]) { try apple(state: $0) }
        case .appleInstance: Trial(right: ["appStoreVersions"], wrong: ["builds", "apps"]) { try apple(instance: $0) }
        }
    }

    @Test(arguments: AnswerField.allCases)
    func `What is about the thing that was asked for is believed, and nothing else`(field: AnswerField) throws {
        let trial = Self.trial(field)
        for value in trial.right { #expect(try trial.isBelieved(value), "\(field): \(value)") }
        for value in trial.wrong {
            let isBelieved = (try? trial.isBelieved(value)) ?? false
            #expect(!isBelieved, "\(field): \(value) was believed")
        }
    }

    // MARK: Lists

    @Test func `Only the right entry counts, wherever it stands`() throws {
        let others = [
            Self.result(["bundleId": #""com.example.other""#], version: "9.0"),
            Self.result(["kind": #""mac-software""#], version: "9.1"),
        ]
        let right = Self.result([:])
        for body in [
            Self.results(right, others[0], others[1]), Self.results(others[0], right, others[1]),
            Self.results(others[0], others[1], right),
        ] {
            let entry = try AppStoreAnswer.read(body, of: Self.lookup, by: .trackID(7))
            #expect(entry?.listing.version.text == "2.0")
        }
        let fault = #expect(throws: SourceFault.self) {
            try AppStoreAnswer.read(Self.results(others[0], others[1]), of: Self.lookup, by: .trackID(7))
        }
        #expect(
            fault?.reason == #"results[0].bundleId is "com.example.other", not "com.example.app", which was asked for"#)
        let list = ConnectSample.source().list
        let page = try ConnectSample.read(
            #"""
            {"data":[{"type":"appStoreVersions","id":"m","attributes":{"versionString":"9.0","platform":"MAC_OS",
              "appVersionState":"READY_FOR_DISTRIBUTION"}},
             {"type":"appStoreVersions","id":"a","attributes":{"versionString":"2.0","platform":"IOS",
              "appVersionState":"READY_FOR_DISTRIBUTION"}}],"links":{"self":"\#(list)"}}
            """#)
        #expect(page.entries.map(\.release.version.text) == ["2.0"])
        let releases = try GooglePlayAnswer.releases(
            Array(
                PlaySample.list(
                    PlaySample.summary("9.0", [900]).replacing("production", with: "beta"),
                    PlaySample.summary("2.0", [200])
                ).utf8), track: "production")
        #expect(releases.map(\.name) == ["2.0"])
    }

    // MARK: After a wrong answer

    private static func http(_ body: [UInt8]) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
            + String(decoding: body, as: UTF8.self)
    }

    @Test func `A wrong answer leaves nothing behind, and the right one is believed after it`() throws {
        let bench = try SourceBench()
        defer { bench.stop() }
        let asked = Counter()
        let server = try LocalServer { _ in
            Self.http(
                asked.next() < 1
                    ? Self.results(Self.result(["bundleId": #""com.example.other""#], version: "9.9.9"))
                    : Self.results(Self.result(["trackViewUrl": ""])))
        }
        defer { server.stop() }
        try bench.start([
            .appStore(
                AppStoreSource(trackID: 7, bundleID: nil, every: .seconds(1), server: server.address).with(
                    bundleID: "com.example.app"))
        ])
        bench.wait("the right version is offered") { $0.bumps.contains { $0.latest?.text == "2.0" } }
        #expect(bench.seen.now.bumps.allSatisfy { $0.latest?.text != "9.9.9" })
        #expect(bench.runner.offered(of: SourceBench.app)?.text == "2.0")
    }

    @Test func `What a relay before these checks believed is asked anew`() throws {
        let bench = try SourceBench()
        defer { bench.stop() }
        let server = try LocalServer { _ in Self.http(Self.results(Self.result(["trackViewUrl": ""]))) }
        defer { server.stop() }
        let source = AppStoreSource(trackID: 7, bundleID: "com.example.app", every: .seconds(1), server: server.address)
        let before = source.query.replacing(" \(AnswerField.edition)", with: "")
        #expect(before != source.query)
        try bench.store.keepEvidence(
            SourceEvidence(
                key: .init(app: SourceBench.app, kind: .appStore), query: before, askedAt: SourceBench.now(),
                said: #"{"version":"9.9.9","firstShownAt":1}"#))
        try bench.start([.appStore(source)])
        bench.wait("the right version is offered") { $0.bumps.contains { $0.latest?.text == "2.0" } }
        #expect(bench.runner.offered(of: SourceBench.app)?.text == "2.0")
        #expect(bench.runner.faults().isEmpty)
    }
}

extension AppStoreSource {
    fileprivate func with(bundleID: String) -> AppStoreSource {
        var source = self
        source.bundleID = bundleID
        return source
    }
}

/// Counts from 0.
private final class Counter: Sendable {
    private let count = NSLock()
    nonisolated(unsafe) private var value = -1

    func next() -> Int {
        count.withLock {
            value += 1
            return value
        }
    }
}
