// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import Testing
import WireFormat

@Suite("Webhook signatures")
struct WebhookVerifierTests {
    /// The example of the Standard Webhooks reference libraries (standard-webhooks/standard-webhooks, libraries' tests).
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    static let time: Int64 = 1_614_265_330
    static let body = Array("{\"test\": 2432232314}".utf8)
    static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    static func headers(
        id: String? = id, timestamp: String? = String(time), signature: String? = signature
    ) -> WebhookHeaders {
        var values: [String: String] = [:]
        values["webhook-id"] = id
        values["webhook-timestamp"] = timestamp
        values["webhook-signature"] = signature
        return WebhookHeaders(values)
    }

    static func verify(
        _ headers: WebhookHeaders, secrets: [String] = [secret], body: [UInt8] = body, seconds: Int64 = time
    ) throws -> WebhookVerdict {
        let verifier = WebhookVerifier(secrets: try secrets.map { try WebhookSecret($0) })
        return verifier.verify(headers, body: body, at: Timestamp(seconds: seconds))
    }

    @Test("the published vector verifies")
    func publishedVector() throws {
        #expect(try Self.verify(Self.headers()) == .verified(receiptID: Self.id))
    }

    @Test("any entry and any secret may match; unknown versions are ignored")
    func rotation() throws {
        let wrong = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let list = "v1a,Zm9v \(wrong) v2,\(Self.signature.dropFirst(3)) \(Self.signature)"
        #expect(try Self.verify(Self.headers(signature: list)) == .verified(receiptID: Self.id))
        #expect(
            try Self.verify(Self.headers(), secrets: ["another secret", Self.secret]) == .verified(receiptID: Self.id))
        #expect(
            try Self.verify(Self.headers(signature: "v2,\(Self.signature.dropFirst(3))"))
                == .refused(
                    .malformedHeader(
                        "webhook-signature",
                        need: "an entry \"v1,\" followed by the base64 of an HMAC-SHA256 is needed")))
    }

    @Test("a secret that is not whsec_ is used byte for byte")
    func rawSecret() throws {
        let code = HMACSHA256.code(
            Array("\(Self.id).\(Self.time).".utf8) + Self.body, key: Array("plain secret".utf8))
        let headers = Self.headers(signature: "v1," + Base64.encode(code))
        #expect(try Self.verify(headers, secrets: ["plain secret"]) == .verified(receiptID: Self.id))
        #expect(try Self.verify(headers, secrets: ["plain secret\n"]) == .verified(receiptID: Self.id))
    }

    @Test(
        "five minutes both ways, and not a second more",
        arguments: [
            (Int64(300), WebhookVerdict.verified(receiptID: id)), (-300, .verified(receiptID: id)),
            (301, .refused(.tooOld(by: .seconds(1)))), (-301, .refused(.tooNew(by: .seconds(1)))),
            (86_400, .refused(.tooOld(by: .seconds(86_100)))),
        ])
    func tolerance(age: Int64, verdict: WebhookVerdict) throws {
        #expect(try Self.verify(Self.headers(), seconds: Self.time + age) == verdict)
    }

    @Test("each missing header is named")
    func missing() throws {
        #expect(try Self.verify(Self.headers(id: nil)) == .refused(.missingHeader("webhook-id")))
        #expect(try Self.verify(Self.headers(timestamp: nil)) == .refused(.missingHeader("webhook-timestamp")))
        #expect(try Self.verify(Self.headers(signature: nil)) == .refused(.missingHeader("webhook-signature")))
        #expect(try Self.verify(WebhookHeaders([:])) == .refused(.noSignature))
        #expect(try Self.verify(Self.headers(), secrets: []) == .refused(.noSecrets))
    }

    @Test("whatever is changed, no signature matches")
    func changed() throws {
        let noMatch = WebhookVerdict.refused(.noMatch("webhook-signature"))
        #expect(try Self.verify(Self.headers(), body: Self.body + [0x20]) == noMatch)
        #expect(try Self.verify(Self.headers(id: "msg_other")) == noMatch)
        #expect(try Self.verify(Self.headers(timestamp: String(Self.time + 1))) == noMatch)
        #expect(try Self.verify(Self.headers(), secrets: ["whsec_AAAA"]) == noMatch)
    }

    @Test("malformed headers", arguments: ["", "1614265330.5", "-1", "now", "+1614265330", "99999999999999999999"])
    func malformedTimestamp(text: String) throws {
        guard case .refused(.malformedHeader("webhook-timestamp", _)) = try Self.verify(Self.headers(timestamp: text))
        else {
            Issue.record("\(text) was taken")
            return
        }
    }

    @Test("an id with a dot could be cut in two ways")
    func dottedID() throws {
        guard case .refused(.malformedHeader("webhook-id", _)) = try Self.verify(Self.headers(id: "a.b")) else {
            Issue.record("taken")
            return
        }
    }

    // MARK: GitHub

    /// GitHub docs, "Testing the webhook payload validation".
    static let hubSecret = "It's a Secret to Everybody"
    static let hubSignature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    static let hubBody = Array("Hello, World!".utf8)

    @Test("GitHub's published vector verifies; its id is the body's digest, whatever the unsigned header says")
    func hub() throws {
        let signed = ["x-hub-signature-256": Self.hubSignature]
        let digest = "sha256:" + Hex.encode(SHA256.digest(Self.hubBody))
        #expect(
            try Self.verify(WebhookHeaders(signed), secrets: [Self.hubSecret], body: Self.hubBody)
                == .verified(receiptID: digest))
        let delivered = signed.merging(["x-github-delivery": "72d3162e"]) { $1 }
        #expect(
            try Self.verify(WebhookHeaders(delivered), secrets: ["other", Self.hubSecret], body: Self.hubBody)
                == .verified(receiptID: digest))
        #expect(
            try Self.verify(WebhookHeaders(signed), secrets: [Self.hubSecret], body: Self.body)
                == .refused(.noMatch("X-Hub-Signature-256")))
    }

    @Test("GitHub's malformed signatures", arguments: ["", "sha256=", "sha1=7571", "sha256=75710", "sha256=zz"])
    func malformedHub(text: String) throws {
        let verdict = try Self.verify(
            WebhookHeaders(["x-hub-signature-256": text]), secrets: [Self.hubSecret], body: Self.hubBody)
        guard case .refused(.malformedHeader("X-Hub-Signature-256", _)) = verdict else {
            Issue.record("\(text): \(verdict)")
            return
        }
    }

    @Test("a secret that is no text is used byte for byte, both ways")
    func bytes() throws {
        // As "head -c 32 /dev/urandom" makes it: not UTF-8, and with a zero.
        let key = [0xFF, 0x00, 0xC3, 0x28] + Array(UInt8(0x80)...0x9B)
        let secret = try WebhookSecret(key + [0x0A])
        let verifier = WebhookVerifier(secrets: [secret])
        let hub = WebhookHeaders(["x-hub-signature-256": "sha256=\(Hex.encode(HMACSHA256.code(Self.body, key: key)))"])
        #expect(
            verifier.verify(hub, body: Self.body, at: Timestamp(seconds: Self.time))
                == .verified(receiptID: "sha256:" + Hex.encode(SHA256.digest(Self.body))))
        let code = HMACSHA256.code(Array("\(Self.id).\(Self.time).".utf8) + Self.body, key: key)
        let standard = Self.headers(signature: "v1,\(Base64.encode(code))")
        #expect(
            verifier.verify(standard, body: Self.body, at: Timestamp(seconds: Self.time))
                == .verified(receiptID: Self.id))
        let sent = secret.headers(id: Self.id, at: Timestamp(seconds: Self.time), body: Self.body)
        #expect(sent.first { $0.name == "webhook-signature" }?.value == "v1,\(Base64.encode(code))")
    }

    @Test("secrets that cannot be used are refused, and none is printed")
    func secrets() throws {
        func fault(_ text: String) -> String? {
            #expect(throws: SigningError.self) { try WebhookSecret(text) }?.description
        }
        #expect(fault("\n") == "is empty, and a webhook secret is needed")
        for text in ["whsec_!!!", "whsec_"] {
            #expect(fault(text)?.hasPrefix("begins with whsec_, but what follows is not base64") == true)
        }
        #expect(!"\(try WebhookSecret(Self.secret))".contains("MfKQ"))
    }
}
