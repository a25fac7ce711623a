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
import VersionSources
import WireFormat

@Suite("Version webhooks, live", .ownThread)
struct WebhookLiveTests {
    static func body(_ required: String, extra: String = "") -> String {
        #"{"app":"com.example.app","platform":"ios","required":"\#(required)"\#(extra)}"#
    }

    @Test("a rise is 202 with a campaign; a replay answers byte for byte and changes nothing")
    func riseAndReplay() throws {
        let bench = try Bench()
        let first = try bench.webhook(Self.body("2.0.0", extra: #","latest":"2.1.0""#), id: "msg_a")
        #expect(first.status == 202)
        #expect(first[header: "content-type"] == "application/json")
        #expect(first.text("version", "required") == "2.0.0")
        #expect(first.text("version", "latest") == "2.1.0")
        #expect(first.text("version", "updatedAt") == "2023-11-14T22:13:20.000Z")
        #expect(first.text("campaign", "state") == "running")
        #expect(first.text("campaign", "downloadUrl") == "https://example.com/app")
        #expect(first.number("campaign", "counts", "audience") == "0")
        #expect(first.value("campaign", "finishedAt") == .null)

        // A newer version is required; the replay still gets the first answer.
        #expect(try bench.webhook(Self.body("3.0.0"), id: "msg_b").status == 202)
        let replay = try bench.webhook(Self.body("2.0.0", extra: #","latest":"2.1.0""#), id: "msg_a")
        #expect(replay.status == 202)
        #expect(replay.bytes == first.bytes)
        #expect(try bench.store.version(of: Bench.app)?.required == Version("3.0.0"))
        #expect(try bench.store.campaigns(before: nil, limit: 10).count == 2)
        #expect(try bench.store.history(of: Bench.app, limit: 10).first?.source == "webhook")
    }

    @Test("two apps may give their releases the same id, and one app not two bodies")
    func sameID() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        func body(_ app: String, _ required: String) -> String {
            #"{"app":"\#(app)","platform":"ios","required":"\#(required)"}"#
        }
        for app in ["com.example.app", "com.example.other"] {
            let answer = try bench.webhook(body(app, "2.0.0"), id: "release-2-0-0")
            #expect(answer.status == 202 || answer.status == 200, "\(app): \(answer.body)")
            let replay = try bench.webhook(body(app, "2.0.0"), id: "release-2-0-0")
            #expect(replay.bytes == answer.bytes)
        }
        #expect(try bench.store.version(of: Bench.other)?.required?.text == "2.0.0")
        #expect(try bench.webhook(body("com.example.app", "2.1.0"), id: "release-2-0-0").status == 409)
    }

    @Test("no rise is 200 without a campaign; a fall is 409 and is not remembered")
    func noRiseAndFall() throws {
        let bench = try Bench()
        #expect(try bench.webhook(Self.body("2.0.0"), id: "msg_a").status == 202)
        let same = try bench.webhook(Self.body("2.0"), id: "msg_b")
        #expect(same.status == 200)
        #expect(same.value("campaign") == .null)

        let fall = try bench.webhook(Self.body("1.9"), id: "msg_c")
        #expect(fall.status == 409)
        #expect(fall[header: "content-type"] == "application/problem+json")
        #expect(fall.text("field") == "required")
        #expect(fall.text("current") == "2.0.0" || fall.text("current") == "2.0")
        #expect(fall.text("proposed") == "1.9")
        // The same id may be sent again with a better body: a failure is no receipt.
        #expect(try bench.webhook(Self.body("2.5"), id: "msg_c").status == 202)
    }

    @Test("what is wrong with the signature is 401, whatever the body")
    func unauthorized() throws {
        let bench = try Bench()
        let unsigned = try bench.askNetwork("POST", "/v1/webhooks/version", Array("not JSON".utf8))
        #expect(unsigned.status == 401)
        #expect(unsigned.text("detail")?.contains("webhook-id") == true)
        let old = try bench.webhook(Self.body("2.0.0"), age: 301)
        #expect(old.status == 401)
        #expect(old.text("detail")?.contains("1 seconds older") == true)
        #expect(try bench.webhook(Self.body("2.0.0"), age: 300).status == 202)
        // Operator rights on the control socket do not replace a signature.
        #expect(try bench.ask("POST", "/v1/webhooks/version", Self.body("9")).status == 401)
        #expect(try bench.store.version(of: Bench.app)?.required == Version("2.0.0"))
    }

    @Test("bad bodies are 400 and 422, an unknown app is 422")
    func badBodies() throws {
        let bench = try Bench()
        #expect(try bench.webhook("{").status == 400)
        let bad = try bench.webhook(Self.body("2.x", extra: #","telephones":[13800138000]"#))
        #expect(bad.status == 422)
        #expect(bad.count("errors") == 2)
        #expect(bad.text("errors", "0", "field") == "required")
        #expect(
            bad.text("errors", "1", "reason")
                == "a string is needed, such as \"13800138000\"; got the number 13800138000")
        let unknown = try bench.webhook(#"{"app":"other","platform":"ios","required":"1"}"#)
        #expect(unknown.status == 422)
        #expect(unknown.text("errors", "0", "field") == "app")
        // The store is not asked for a name that no store can keep.
        for (name, reason) in [
            (#"a\u0000b"#, "a text without the character U+0000 is needed; got "),
            (String(repeating: "a", count: 2_000), "has 1 to 255 characters; it had 2000"),
        ] {
            let senseless = try bench.webhook(#"{"app":"\#(name)","platform":"ios","required":"1"}"#)
            #expect(senseless.status == 422)
            #expect(senseless.text("errors", "0", "field") == "app")
            #expect(senseless.text("errors", "0", "reason")?.hasPrefix(reason) == true)
        }
    }

    @Test("64 KiB are taken, a byte more is 413, declared or not")
    func tooLarge() throws {
        let bench = try Bench()
        let start = Self.body("2.0.0", extra: #","message":""#).dropLast()
        let padding = String(repeating: " ", count: 64 * 1024 - start.utf8.count - 3)
        #expect(try bench.webhook("\(start)m\"}\(padding)").status == 202)
        let answer = try bench.webhook("\(start)m\"}\(padding) ", id: "msg_2")
        #expect(answer.status == 413)
        #expect(answer[header: "content-type"] == "application/problem+json")
        let chunked = try RawClient(port: bench.server.port ?? 0)
        try chunked.send(
            "POST /v1/webhooks/version HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<20 { try chunked.send("1000\r\n" + String(repeating: "x", count: 4096) + "\r\n") }
        try chunked.send("0\r\n\r\n")
        #expect(try chunked.receiveHead().hasPrefix("HTTP/1.1 413"))
    }

    @Test("the signature is verified once, whatever the webhook comes to")
    func verifiedOnce() throws {
        let bench = try Bench()
        func send(_ body: String, id: String, path: String = "/v1/webhooks/version", status: Int) throws {
            let before = bench.verifications.count.load(ordering: .relaxed)
            #expect(try bench.webhook(body, id: id, path: path).status == status, "\(id)")
            #expect(bench.verifications.count.load(ordering: .relaxed) - before == 1, "\(id)")
        }
        try send(Self.body("2.0.0"), id: "taken", status: 202)
        try send(Self.body("2.0.0"), id: "taken", status: 202)
        try send(Self.body("1.0.0"), id: "falls", status: 409)
        try send(Self.body("x"), id: "is no version", status: 422)
        try send("{", id: "is no JSON", status: 400)
        try send("{", id: "is no event", path: "/v1/webhooks/gitlab/com.example.app/ios", status: 400)
        try send("{}", id: "of no app", path: "/v1/webhooks/gitlab/com.example.nobody/ios", status: 404)
        try send(Self.body("2.0.1"), id: "", status: 401)
    }

    @Test("a repeated webhook has its answer, though it would be refused by now")
    func repeatedThoughRefused() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        let body = #"{"app":"com.example.other","platform":"ios","required":"2.0.0"}"#
        let first = try bench.webhook(body, id: "msg_a")
        #expect(first.status == 202)
        bench.control.hasOther.withLock { $0 = false }
        #expect(try bench.webhook(body, id: "msg_a").bytes == first.bytes)
        #expect(try bench.webhook(body, id: "msg_b").status == 422, "the app is not configured any more")
        #expect(try bench.webhook("{", id: "msg_a").status == 400, "it says no app, and so is none of that app's")
        let other = #"{"app":"com.example.other","platform":"ios","required":"x"}"#
        #expect(try bench.webhook(other, id: "msg_a").status == 409, "another body under the same id")
    }

    @Test("a full store is 503 with Retry-After, another failure 500 without internals")
    func storeErrors() throws {
        let bench = try Bench()
        bench.control.failure.withLock {
            $0 = StoreError(.full, context: "SQLITE_FULL in bump", hint: "Free some space in /var/lib")
        }
        let full = try bench.webhook(Self.body("2.0.0"))
        #expect(full.status == 503)
        #expect(full[header: "retry-after"] == "30")
        #expect(full.text("detail") == "the store's disk is full. Free some space in /var/lib")
        bench.control.failure.withLock { $0 = StoreError(.failed, context: "SQLITE_CORRUPT in bump") }
        let failed = try bench.webhook(Self.body("2.0.0"))
        #expect(failed.status == 500)
        #expect(!failed.body.contains("SQLITE"))
        // Neither is a receipt.
        #expect(try bench.webhook(Self.body("2.0.0")).status == 202)
    }
}

@Suite("Refused webhooks in the log", .ownThread)
struct WebhookRefusalTests {
    @Test("a refusal is logged with where it came from and why, without the body, and a flood in a few lines")
    func logged() throws {
        let bench = try Bench()
        for number in 0..<60 {
            let answer = try bench.askNetwork(
                "POST", "/v1/webhooks/version?x=1", Array(WebhookLiveTests.body("2.0").utf8),
                headers: [
                    ("webhook-id", "secret-\(number)"), ("webhook-timestamp", "1700000000"),
                    ("webhook-signature", "v1,c2VjcmV0"),
                ])
            #expect(answer.status == 422)
        }
        #expect(bench.logged.all == [])
        for number in 0..<60 {
            let answer = try bench.askNetwork(
                "POST", "/v1/webhooks/version", Array(WebhookLiveTests.body("2.0").utf8),
                headers: [
                    ("webhook-id", "secret-\(number)"), ("webhook-timestamp", "1700000000"),
                    ("webhook-signature", "v1,c2VjcmV0"),
                ])
            #expect(answer.status == 401)
        }
        let lines = bench.logged.all
        #expect((10...12).contains(lines.count))
        #expect(
            lines.first
                == "warning a webhook was refused hook=version from=127.0.0.1 by=unsigned status=401 reason=no signature in webhook-signature "
                + "matches the body as it was received with any configured secret suppressed=0")
        #expect(lines.allSatisfy { !$0.contains("secret-") && !$0.contains("c2Vj") && !$0.contains("com.example") })
    }

    @Test(
        "a signed webhook that is refused is logged with the reason and the secret's name, however many strangers are refused"
    )
    func refusedSigned() throws {
        var named = try WebhookSecret(Bench.secret)
        named.name = "ci-secret"
        let bench = try Bench(secrets: [try WebhookSecret("another"), named])
        for number in 0..<20 {
            #expect(try bench.webhook(WebhookLiveTests.body("2.0"), id: "old-\(number)", age: 999).status == 401)
        }
        #expect(try bench.webhook(WebhookLiveTests.body("2.0"), id: "a").status == 202)
        #expect(try bench.store.history(of: Bench.app, limit: 1).first?.actor == "ci-secret")
        #expect(try bench.webhook(WebhookLiveTests.body("1.0"), id: "b").status == 409)
        #expect(try bench.webhook(WebhookLiveTests.body("x"), id: "c").status == 422)
        let refused = bench.logged.all.filter { $0.contains("by=ci-secret") }
        try #require(refused.count == 2, "\(bench.logged.all)")
        #expect(
            refused[0].hasPrefix(
                "warning a webhook was refused hook=version from=127.0.0.1 by=ci-secret status=409 reason=required would fall"
            ),
            "\(refused[0])")
        #expect(refused[1].contains("status=422 reason=required: "), "\(refused[1])")
    }
}
