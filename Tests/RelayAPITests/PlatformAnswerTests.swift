// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Requirements
import Signing
import Synchronization
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// One release for both platforms: each part by its own gate, one answer with each.
@Suite("One release, both platforms, live", .ownThread)
struct PlatformAnswerTests {
    private static let path = "/v1/apps/com.example.app/version"

    private static func required(_ bench: Bench, _ platform: Platform) throws -> String? {
        try bench.store.version(of: AppKey(app: "com.example.app", platform: platform))?.required?.text
    }

    @Test("both are raised, each with what is its own")
    func both() throws {
        let bench = try Bench()
        let answer = try bench.ask("PUT", Self.path, #"{"required":"2.0","ios":{"minimumOs":"15.0"}}"#)
        #expect(answer.status == 202, "\(answer.body)")
        #expect(
            answer.text("platforms", "0", "platform") == "ios" && answer.text("platforms", "1", "platform") == "android"
        )
        for place in ["0", "1"] {
            #expect(answer.number("platforms", place, "status") == "202")
            #expect(answer.text("platforms", place, "result", "version", "required") == "2.0")
            #expect(answer.text("platforms", place, "result", "campaign", "state") != nil)
        }
        #expect(answer.text("platforms", "0", "result", "version", "minimumOs") == "15.0")
        #expect(answer.value("platforms", "1", "result", "version", "minimumOs") == .null)
        // Sent again, it changes nothing.
        #expect(try bench.ask("PUT", Self.path, #"{"required":"2.0","ios":{"minimumOs":"15.0"}}"#).status == 200)
    }

    @Test("platforms may be listed, and only those are raised")
    func listed() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", Self.path, #"{"required":"2.0","platforms":["android"]}"#).status == 202)
        #expect(try Self.required(bench, .ios) == nil)
        #expect(try Self.required(bench, .android) == "2.0")
    }

    @Test("a fault in one part changes none, and names its platform; one in all parts is named once")
    func faults() throws {
        let bench = try Bench()
        let one = try bench.ask("PUT", Self.path, #"{"required":"2.0","android":{"message":7}}"#)
        #expect(one.status == 422)
        #expect(one.count("errors") == 1 && one.text("errors", "0", "field") == "android.message", "\(one.body)")
        let all = try bench.ask("PUT", Self.path, #"{"required":"two"}"#)
        #expect(all.count("errors") == 1 && all.text("errors", "0", "field") == "required", "\(all.body)")
        #expect(try Self.required(bench, .ios) == nil && Self.required(bench, .android) == nil)
        #expect(try bench.ask("PUT", "/v1/apps/com.example.none/version", #"{"required":"2.0"}"#).status == 404)
    }

    @Test("where one part is refused, the answer has both, and what is done stays")
    func refused() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/android/version", #"{"required":"3.0"}"#).status == 202)
        let answer = try bench.ask("PUT", Self.path, #"{"required":"2.0"}"#)
        #expect(answer.status == 409, "\(answer.body)")
        #expect(answer.text("type") == "urn:upgrade-relay:version-would-fall")
        #expect(
            answer.number("platforms", "0", "status") == "202" && answer.number("platforms", "1", "status") == "409")
        #expect(answer.text("errors", "0", "field") == "android.required")
        let detail = try #require(answer.text("detail"))
        #expect(detail.hasPrefix("ios: done (202)") && detail.contains("android: not done (409): required would fall"))
        #expect(try Self.required(bench, .ios) == "2.0" && Self.required(bench, .android) == "3.0")
    }

    @Test("each part carries what was shown of its own platform")
    func carried() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/android/version", #"{"required":"1.0"}"#).status == 202)
        let body = #"{"required":"2.0","ios":{"ifVersion":null},"android":{"ifVersion":"0.9"}}"#
        let answer = try bench.ask("PUT", Self.path, body)
        #expect(answer.status == 409)
        #expect(answer.text("type") == "urn:upgrade-relay:stale-confirmation")
        #expect(try Self.required(bench, .ios) == "2.0" && Self.required(bench, .android) == "1.0")
    }

    @Test("a webhook for both: once for each id, whatever became of the other part")
    func webhook() throws {
        let bench = try Bench()
        let body = #"{"app":"com.example.app","platforms":["ios","android"],"required":"2.0"}"#
        bench.control.failure.withLock { $0 = StoreError(.busy, context: "locked") }
        let first = try bench.webhook(body, id: "both")
        // The part that failed may pass: the sender sends all again.
        #expect(first.status == 503, "\(first.body)")
        #expect(first.number("platforms", "1", "status") == "202")
        #expect(try Self.required(bench, .ios) == nil && Self.required(bench, .android) == "2.0")
        let second = try bench.webhook(body, id: "both")
        #expect(second.status == 202, "\(second.body)")
        let third = try bench.webhook(body, id: "both")
        #expect(third.status == 202 && third.bytes == second.bytes)
        #expect(try bench.store.history(of: AppKey(app: "com.example.app", platform: .android), limit: 10).count == 1)
        #expect(try bench.webhook(body.replacing("2.0", with: "2.1"), id: "both").status == 409)
    }

    @Test("a webhook's signature comes before what is in it")
    func unsigned() throws {
        let bench = try Bench()
        let body = Array(#"{"app":"com.example.app","platforms":["symbian"],"required":"2.0"}"#.utf8)
        #expect(try bench.askNetwork("POST", "/v1/webhooks/version", body).status == 401)
        #expect(try bench.webhook(String(decoding: body, as: UTF8.self)).status == 422)
    }

    @Test("a secret of another app verifies no part")
    func bound() throws {
        var secret = try WebhookSecret(Bench.secret)
        secret.apps = [Bench.other.app]
        let bench = try Bench(secrets: [secret])
        let body = #"{"app":"com.example.app","platforms":["ios"],"required":"2.0"}"#
        #expect(try bench.webhook(body).status == 401)
        #expect(try Self.required(bench, .ios) == nil)
    }
}
