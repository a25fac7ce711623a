// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

@Suite("Webhooks of release tools, live", .ownThread)
struct ReleaseWebhookLiveTests {
    static let gitHub = "/v1/webhooks/github/com.example.app/ios"
    static let gitLab = "/v1/webhooks/gitlab/com.example.app/ios"
    static let apple = "/v1/webhooks/app-store-connect/com.example.app"

    static func release(_ tag: String, action: String = "published", prerelease: Bool = false) -> String {
        #"{"action":"\#(action)","release":{"tag_name":"\#(tag)","draft":false,"prerelease":\#(prerelease)}}"#
    }

    static func created(_ tag: String, action: String = "create") -> String {
        #"{"object_kind":"release","action":"\#(action)","tag":"\#(tag)","released_at":"2020-11-02 12:55:12 UTC"}"#
    }

    static func state(_ value: String, id: String) -> String {
        #"{"data":{"type":"appStoreVersionAppVersionStateUpdated","id":"\#(id)","version":1,"attributes":{"#
            + #""oldValue":"PENDING_APPLE_RELEASE","newValue":"\#(value)","timestamp":"2025-07-09T19:33:19.846Z"}}}"#
    }

    static func code(_ body: String) -> String {
        Hex.encode(HMACSHA256.code(Array(body.utf8), key: Array(Bench.secret.utf8)))
    }

    static func sendGitHub(
        _ bench: Bench, _ body: String, id: String, event: String = "release", path: String = gitHub
    ) throws -> Answer {
        try bench.askNetwork(
            "POST", path, Array(body.utf8),
            headers: [
                ("X-Hub-Signature-256", "sha256=\(code(body))"), ("X-GitHub-Event", event), ("X-GitHub-Delivery", id),
            ])
    }

    static func sendGitLab(
        _ bench: Bench, _ body: String, id: String, token: String = Bench.secret
    ) throws -> Answer {
        try bench.askNetwork(
            "POST", gitLab, Array(body.utf8),
            headers: [("X-Gitlab-Token", token), ("X-Gitlab-Event", "Release Hook"), ("X-Gitlab-Event-UUID", id)])
    }

    static func sendApple(_ bench: Bench, _ body: String) throws -> Answer {
        try bench.askNetwork(
            "POST", apple, Array(body.utf8), headers: [("x-apple-signature", "hmacsha256=\(code(body))")])
    }

    // MARK: GitHub

    @Test("GitHub: a published release raises the latest version; its redelivery answers alike")
    func gitHubRelease() throws {
        let bench = try Bench()
        let first = try Self.sendGitHub(bench, Self.release("v2.1.0"), id: "d-1")
        #expect(first.status == 200)
        #expect(first.text("version", "latest") == "2.1.0")
        #expect(first.value("version", "required") == .null)
        #expect(first.value("campaign") == .null)
        #expect(try bench.store.history(of: Bench.app, limit: 1).first?.source == "github")
        #expect(try Self.sendGitHub(bench, Self.release("v2.2.0"), id: "d-2").status == 200)

        let again = try Self.sendGitHub(bench, Self.release("v2.1.0"), id: "d-1")
        #expect(again.status == 200)
        #expect(again.bytes == first.bytes)
        #expect(try bench.store.version(of: Bench.app)?.latest == Version("2.2.0"))
        // An older line's release under a new id lowers nothing.
        let older = try Self.sendGitHub(bench, Self.release("v1.9.5"), id: "d-3")
        #expect(older.status == 200 && older.text("status") == "ignored")
        #expect(older.text("reason") == "1.9.5 is older than 2.2.0, which is known; versions only rise")
        #expect(try bench.store.history(of: Bench.app, limit: 10).count == 2)
    }

    @Test("GitHub: where releases set the required version, one starts a campaign")
    func gitHubRequired() throws {
        let bench = try Bench()
        bench.control.rules.withLock { $0.sets = .required }
        let answer = try Self.sendGitHub(bench, Self.release("3.0"), id: "d-1")
        #expect(answer.status == 202)
        #expect(answer.text("version", "required") == "3.0")
        #expect(answer.text("campaign", "state") == "running")
        // The same delivery to another app's hook is another event.
        let android = "/v1/webhooks/github/com.example.app/android"
        #expect(
            try Self.sendGitHub(bench, Self.release("3.0"), id: "d-1", path: android).text("version", "platform")
                == "android")
    }

    @Test("GitHub: a prerelease that becomes a release announces; the pair of every release does so once")
    func gitHubLater() throws {
        let bench = try Bench()
        bench.control.rules.withLock { $0.sets = .required }
        let ahead = try Self.sendGitHub(bench, Self.release("2.0", prerelease: true), id: "d-1")
        #expect(ahead.text("status") == "ignored")
        #expect(try Self.sendGitHub(bench, Self.release("2.0", action: "released"), id: "d-2").status == 202)
        #expect(try bench.store.version(of: Bench.app)?.required == Version("2.0"))
        // Published and released at once.
        #expect(try Self.sendGitHub(bench, Self.release("2.1"), id: "d-3").status == 202)
        let second = try Self.sendGitHub(bench, Self.release("2.1", action: "released"), id: "d-4")
        #expect(second.status == 200 && second.value("campaign") == .null)
        #expect(try Self.sendGitHub(bench, Self.release("2.1", action: "edited"), id: "d-5").status == 200)
        #expect(try bench.store.history(of: Bench.app, limit: 10).count == 2)
        // An older line, by any of its events.
        for (index, action) in ["published", "released", "edited"].enumerated() {
            let older = try Self.sendGitHub(bench, Self.release("1.9.5", action: action), id: "d-6-\(index)")
            #expect(older.status == 200 && older.text("status") == "ignored", "\(action)")
        }
    }

    @Test("GitLab: a release that was dated ahead announces with its update, and not before its date")
    func gitLabLater() throws {
        let bench = try Bench()
        let ahead = Self.created("v2.0").replacing("2020-11-02 12:55:12 UTC", with: "2096-01-01 00:00:00 UTC")
        #expect(try Self.sendGitLab(bench, ahead, id: "e-1").text("status") == "ignored")
        #expect(
            try Self.sendGitLab(bench, ahead.replacing("create", with: "update"), id: "e-2").text("status") == "ignored"
        )
        #expect(
            try Self.sendGitLab(bench, Self.created("v2.0", action: "update"), id: "e-3").text("version", "latest")
                == "2.0")
        #expect(try Self.sendGitLab(bench, Self.created("v1.9"), id: "e-4").text("status") == "ignored")
        // The same event, sent again after its date, is processed again: no receipt was kept.
        #expect(try Self.sendGitLab(bench, Self.created("v2.1"), id: "e-1").text("version", "latest") == "2.1")
    }

    @Test("An event of another repository is none of the app's")
    func repositories() throws {
        let bench = try Bench()
        bench.control.rules.withLock { $0.repository = "owner/app" }
        func from(_ name: String, _ tag: String) -> String {
            Self.release(tag).replacing("{\"action\"", with: "{\"repository\":{\"full_name\":\"\(name)\"},\"action\"")
        }
        let other = try Self.sendGitHub(bench, from("owner/tool", "9.0"), id: "d-1")
        #expect(other.status == 200 && other.text("status") == "ignored")
        #expect(other.text("reason")?.contains("owner/tool") == true)
        #expect(try Self.sendGitHub(bench, Self.release("9.1"), id: "d-2").text("status") == "ignored")
        #expect(try Self.sendGitHub(bench, from("Owner/App", "2.0"), id: "d-3").text("version", "latest") == "2.0")
    }

    @Test("GitHub: what is ignored is answered with the reason, and looked at again where the rules have changed")
    func gitHubIgnored() throws {
        let bench = try Bench()
        let ignored = try Self.sendGitHub(bench, Self.release("2.0", prerelease: true), id: "d-1")
        #expect(ignored.status == 200)
        #expect(ignored.text("status") == "ignored")
        #expect(ignored.text("reason")?.contains("prerelease") == true)
        #expect(try Self.sendGitHub(bench, Self.release("2.0", prerelease: true), id: "d-1").bytes == ignored.bytes)
        #expect(try bench.store.version(of: Bench.app) == nil)
        bench.control.rules.withLock { $0.prereleases = true }
        #expect(
            try Self.sendGitHub(bench, Self.release("2.0", prerelease: true), id: "d-1").text("version", "latest")
                == "2.0")

        #expect(try Self.sendGitHub(bench, "{}", id: "d-3", event: "push").text("status") == "ignored")
        #expect(try Self.sendGitHub(bench, #"{"zen":"z"}"#, id: "d-4", event: "ping").text("status") == "pong")
        #expect(try Self.sendGitHub(bench, Self.release("x"), id: "d-5").text("reason")?.contains("\"x\"") == true)
    }

    @Test("GitHub: a captured body is the same event under any delivery id, also when what it raised was withdrawn")
    func gitHubCaptured() throws {
        let bench = try Bench()
        bench.control.rules.withLock { $0.sets = .required }
        let first = try Self.sendGitHub(bench, Self.release("3.0"), id: "d-1")
        #expect(first.status == 202)
        _ = try bench.store.withdraw(Version("3.0"), of: Bench.app, by: .operator("test"), reason: nil, at: Bench.now)
        try bench.store.forgetWebhooks(before: Timestamp(seconds: 9_000_000_000))
        let captured = try Self.sendGitHub(bench, Self.release("3.0"), id: "another")
        #expect(captured.bytes == first.bytes)
        #expect(try bench.store.version(of: Bench.app)?.required == nil)
    }

    @Test("GitHub: signature first, then app and body")
    func gitHubFaults() throws {
        let bench = try Bench()
        let body = Array(Self.release("2.0").utf8)
        #expect(try bench.askNetwork("POST", Self.gitHub, body).status == 401)
        let wrong = [
            ("X-Hub-Signature-256", "sha256=" + String(repeating: "0", count: 64)), ("X-GitHub-Event", "ping"),
        ]
        #expect(try bench.askNetwork("POST", Self.gitHub, body, headers: wrong).status == 401)
        // Only GitLab sends a secret in clear.
        #expect(
            try bench.askNetwork("POST", Self.gitHub, body, headers: [("X-Gitlab-Token", Bench.secret)]).status == 401)
        let unknown = "/v1/webhooks/github/unknown/ios"
        #expect(try bench.askNetwork("POST", unknown, body).status == 401)
        #expect(try Self.sendGitHub(bench, Self.release("2.0"), id: "d-1", path: unknown).status == 404)
        #expect(try Self.sendGitHub(bench, "{", id: "d-1").status == 400)
        #expect(
            try Self.sendGitHub(bench, #"{"action":"published"}"#, id: "d-1").text("errors", "0", "field")
                == "release.draft")
        #expect(
            try Self.sendGitHub(bench, String(repeating: " ", count: 64 * 1024 + 1), id: "d-1").status == 413)
        // A failure is no receipt.
        #expect(try Self.sendGitHub(bench, Self.release("2.0"), id: "d-1").text("version", "latest") == "2.0")
    }

    // MARK: GitLab

    @Test("GitLab: with its token, and with Standard Webhooks")
    func gitLabRelease() throws {
        let bench = try Bench()
        let first = try Self.sendGitLab(bench, Self.created("v1.1"), id: "e-1")
        #expect(first.text("version", "latest") == "1.1")
        #expect(try bench.store.history(of: Bench.app, limit: 1).first?.source == "gitlab")
        #expect(try Self.sendGitLab(bench, Self.created("v1.1"), id: "e-1").bytes == first.bytes)
        #expect(try Self.sendGitLab(bench, Self.created("v1.2"), id: "e-1").status == 409)
        #expect(
            try Self.sendGitLab(bench, Self.created("v1.2", action: "delete"), id: "e-2").text("status") == "ignored")
        #expect(try Self.sendGitLab(bench, Self.created("v1.2"), id: "e-3", token: "guess").status == 401)
        #expect(try bench.store.version(of: Bench.app)?.latest == Version("1.1"))

        let signed = try bench.webhook(Self.created("v1.3"), id: "m-1", path: Self.gitLab)
        #expect(signed.text("version", "latest") == "1.3")
        #expect(try bench.webhook(Self.created("v1.3"), id: "m-1", path: Self.gitLab).bytes == signed.bytes)
        #expect(try bench.webhook(Self.created("v1.4"), id: "m-1", path: Self.gitLab).status == 409)
        #expect(try bench.webhook(Self.created("v1.4"), id: "m-2", age: 301, path: Self.gitLab).status == 401)
    }

    // MARK: App Store Connect

    @Test("App Store Connect: the version comes from the store, once for each event")
    func appStoreConnect() throws {
        let bench = try Bench()
        let store = LookupDouble()
        bench.control.lookup.withLock { $0 = store }
        store.answer.withLock { $0 = .success(StoreListing(version: try? Version("4.2"))) }
        let first = try Self.sendApple(bench, Self.state("READY_FOR_DISTRIBUTION", id: "e-1"))
        #expect(first.status == 200)
        #expect(first.text("version", "latest") == "4.2")
        #expect(try bench.store.history(of: Bench.app, limit: 1).first?.source == "app-store-connect")
        store.answer.withLock { $0 = .success(StoreListing(version: try? Version("4.3"))) }
        #expect(try Self.sendApple(bench, Self.state("READY_FOR_DISTRIBUTION", id: "e-1")).bytes == first.bytes)
        #expect(store.asked.withLock { $0 } == 1)
        #expect(
            try Self.sendApple(bench, Self.state("READY_FOR_SALE", id: "e-2")).text("version", "latest") == "4.3")
        #expect(try Self.sendApple(bench, Self.state("IN_REVIEW", id: "e-3")).text("status") == "ignored")
        let pings = [
            #"{"data":{"type":"webhookPingCreated","id":"p-1","version":1,"attributes":{}}}"#,
            #"{"data":{"type":"webhookPings","id":"p-2","version":1,"attributes":{"ping":true}}}"#,
        ]
        for ping in pings { #expect(try Self.sendApple(bench, ping).text("status") == "pong") }
        #expect(store.asked.withLock { $0 } == 2)
    }

    @Test("App Store Connect: without a lookup 422 says what to configure; a store that fails is 503 and no receipt")
    func appStoreConnectFaults() throws {
        let bench = try Bench()
        let body = Self.state("READY_FOR_DISTRIBUTION", id: "e-1")
        let without = try Self.sendApple(bench, body)
        #expect(without.status == 422)
        #expect(without.text("detail")?.contains("[{ appStoreConnect: { … } }] or [{ appStore: { … } }]") == true)
        let store = LookupDouble()
        bench.control.lookup.withLock { $0 = store }
        for answer: Result<StoreListing?, LookupDouble.Failure> in [.success(nil), .failure(LookupDouble.Failure())] {
            store.answer.withLock { $0 = answer }
            let failed = try Self.sendApple(bench, body)
            #expect(failed.status == 503)
            #expect(failed[header: "retry-after"] == "900")
        }
        store.answer.withLock { $0 = .success(StoreListing(version: try? Version("4.2"))) }
        #expect(try Self.sendApple(bench, body).text("version", "latest") == "4.2")
        #expect(try bench.askNetwork("POST", Self.apple, Array(body.utf8)).status == 401)
        #expect(
            try Self.sendApple(bench, #"{"data":{"type":"webhookPingCreated"}}"#).text("errors", "0", "field")
                == "data.id")
    }
}

/// An App Store whose answers the test sets.
final class LookupDouble: VersionLookup {
    struct Failure: Error, CustomStringConvertible {
        var description: String { "403 Forbidden" }
    }

    let answer = Mutex<Result<StoreListing?, Failure>>(.success(nil))
    let asked = Mutex(0)

    func current(of app: AppKey) throws -> StoreListing? {
        asked.withLock { $0 += 1 }
        return try answer.withLock { $0 }.get()
    }
}

extension StoreListing {
    /// nil if `version` is nil.
    init?(version: Version?) {
        guard let version else { return nil }
        self.init(version: version)
    }
}
