// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import Testing
import WireFormat

/// The vectors that the vendors publish (PROTOCOLS 3), and signatures that must not verify.
@Suite("Signatures of release tools")
struct ToolSignatureTests {
    static let hello = Array("Hello, World!".utf8)
    static let now = Timestamp(seconds: 1_700_000_000)

    static func verify(
        _ secrets: [String], _ headers: [String: String], takesToken: Bool = false, body: [UInt8] = hello
    ) throws -> WebhookVerdict {
        try WebhookVerifier(secrets: secrets.map { try WebhookSecret($0) })
            .verify(WebhookHeaders(headers), body: body, at: now, takesToken: takesToken)
    }

    static let digest = "sha256:" + Hex.encode(SHA256.digest(hello))

    // MARK: GitHub

    static let hub = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

    @Test("GitHub's published vector")
    func gitHub() throws {
        let headers = ["x-hub-signature-256": "sha256=\(Self.hub)", "x-github-delivery": "72d3162e-cc78-11e3"]
        #expect(
            try Self.verify(["It's a Secret to Everybody"], headers) == .verified(receiptID: Self.digest))
        #expect(
            try Self.verify(["It's a secret to everybody"], headers) == .refused(.noMatch("X-Hub-Signature-256")))
    }

    // MARK: App Store Connect

    static let apple = "7f062172b01cb00b53ca068614674a3d982a34062a0f5d37687d5e3377e54657"

    @Test(
        "Apple's published vector, in either case",
        arguments: ["hmacsha256=\(apple)", "hmacsha256=\(apple.uppercased())", "HMACSHA256=\(apple)"])
    func appStoreConnect(signature: String) throws {
        let headers = ["x-apple-signature": signature]
        #expect(
            try Self.verify(["old secret", "This is my secret"], headers) == .verified(receiptID: Self.digest))
        #expect(
            try Self.verify(["This is not my secret"], headers) == .refused(.noMatch("x-apple-signature")))
        #expect(
            try Self.verify(["This is my secret"], headers, body: Self.hello + [0x0A])
                == .refused(.noMatch("x-apple-signature")))
    }

    @Test(
        "what is no signature of Apple's",
        arguments: [
            "", apple, "hmacsha256=", "hmacsha256=\(apple.dropLast())", "hmacsha256=\(apple)0", "sha256=\(apple)",
        ])
    func badAppleSignature(signature: String) throws {
        guard
            case .refused(.malformedHeader("x-apple-signature", _)) = try Self.verify(
                ["This is my secret"], ["x-apple-signature": signature])
        else {
            Issue.record("\(signature) was looked at")
            return
        }
    }

    // MARK: GitLab

    @Test("GitLab's token is taken where it is welcome and nowhere else")
    func gitLab() throws {
        var headers = ["x-gitlab-token": "a secret", "x-gitlab-event-uuid": "event"]
        #expect(try Self.verify(["other", "a secret"], headers, takesToken: true) == .verified(receiptID: "event"))
        #expect(try Self.verify(["a secret"], headers) == .refused(.noSignature))
        for wrong in ["a secre", "a secret ", "A secret", ""] {
            headers["x-gitlab-token"] = wrong
            #expect(try Self.verify(["a secret"], headers, takesToken: true) == .refused(.wrongToken))
        }
        #expect(try Self.verify([], headers, takesToken: true) == .refused(.noSecrets))
    }

    @Test("GitLab's ids: the idempotency key, else the event's, else the body's digest")
    func gitLabIDs() throws {
        var headers = ["x-gitlab-token": "s", "x-gitlab-event-uuid": "event", "idempotency-key": "key"]
        #expect(try Self.verify(["s"], headers, takesToken: true) == .verified(receiptID: "key"))
        headers["idempotency-key"] = ""
        guard case .refused(.malformedHeader("idempotency-key", _)) = try Self.verify(["s"], headers, takesToken: true)
        else {
            Issue.record("an empty key was taken")
            return
        }
        #expect(
            try Self.verify(["s"], ["x-gitlab-token": "s"], takesToken: true) == .verified(receiptID: Self.digest))
    }

    @Test("a signature counts before a token: a wrong one is not made good by it")
    func order() throws {
        let headers = [
            "x-gitlab-token": "a secret", "webhook-id": "msg", "webhook-timestamp": String(Self.now.seconds),
            "webhook-signature": "v1,\(Base64.encode([UInt8](repeating: 0, count: 32)))",
        ]
        #expect(
            try Self.verify(["a secret"], headers, takesToken: true) == .refused(.noMatch("webhook-signature")))
    }
}
