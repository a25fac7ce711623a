// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import VersionSources
import WireFormat

@testable import PushSimulator

extension FuzzTarget {
    /// The headers that webhooks are signed with. Foreign ones are never verified unless they are the right signature, a
    /// right one always is, and a bit less is not.
    static let webhookSignature = FuzzTarget("webhook-signature") { bytes in
        var input = FuzzInput(bytes)
        var headers: [String: String] = [:]
        for name in WebhookHeaders.all { headers[name] = input.optionalText() }
        let body = input.remainder()
        let now = Timestamp(seconds: 1_700_000_000)
        let verifier = WebhookVerifier(secrets: [try WebhookSecret(standardSecret), try WebhookSecret(textSecret)])
        let key = Base64.decode(String(standardSecret.dropFirst(6))) ?? []
        let text = Array(textSecret.utf8)

        if case .verified(let id, _) = verifier.verify(WebhookHeaders(headers), body: body, at: now, takesToken: true) {
            try hold(isRight(headers, body), "verified \(id) by \(headers)")
        }

        // The headers of a right sender for the same id and body.
        let id = headers[WebhookHeaders.id] ?? "msg_1"
        let isID = (1...256).contains(id.utf8.count) && !id.utf8.contains(UInt8(ascii: "."))
        let code = HMACSHA256.code(Array("\(id).1700000000.".utf8) + body, key: key)
        var right = [
            WebhookHeaders.id: id, WebhookHeaders.timestamp: "1700000000",
            WebhookHeaders.signature: "v9,x \(headers[WebhookHeaders.signature] ?? "") v1,\(Base64.encode(code))",
        ]
        let verdict = verifier.verify(WebhookHeaders(right), body: body, at: now)
        try hold((verdict == .verified(receiptID: id)) == isID, "a right signature: \(verdict)")
        try hold(
            verifier.verify(WebhookHeaders(right), body: body, at: now + .seconds(301)) != verdict || !isID,
            "a signature that is too old is verified")
        var wrong = code
        wrong[bytes.count % 32] ^= 1
        right[WebhookHeaders.signature] = "v1,\(Base64.encode(wrong))"
        try hold(isRefused(verifier.verify(WebhookHeaders(right), body: body, at: now)), "a wrong bit is verified")

        let digest = Hex.encode(HMACSHA256.code(body, key: text))
        for (name, prefix) in [
            (WebhookHeaders.hubSignature, "sha256="), (WebhookHeaders.appleSignature, "hmacsha256="),
        ] {
            let signed = verifier.verify(WebhookHeaders([name: prefix + digest]), body: body, at: now)
            try hold(!isRefused(signed), "\(name): \(signed)")
            let other = verifier.verify(WebhookHeaders([name: prefix + digest]), body: body + [0], at: now)
            try hold(isRefused(other), "\(name) verifies another body")
        }
    }

    private static let standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let textSecret = "It's a Secret to Everybody"

    private static func isRefused(_ verdict: WebhookVerdict) -> Bool {
        if case .refused = verdict { true } else { false }
    }

    /// Whether any header holds a code that only the owner of a secret can have written.
    private static func isRight(_ headers: [String: String], _ body: [UInt8]) -> Bool {
        let standard = Base64.decode(String(standardSecret.dropFirst(6))) ?? []
        let content =
            Array("\(headers[WebhookHeaders.id] ?? "").\(headers[WebhookHeaders.timestamp] ?? "").".utf8) + body
        let codes = [standard, Array(standardSecret.utf8), Array(textSecret.utf8)].flatMap { key in
            let plain = HMACSHA256.code(body, key: key)
            return [
                Base64.encode(HMACSHA256.code(content, key: key)), Hex.encode(plain), Hex.encode(plain).uppercased(),
            ]
        }
        let told = headers.values.joined(separator: " ")
        return (codes + [standardSecret, textSecret]).contains { told.lowercased().contains($0.lowercased()) }
    }

    /// A provider token as the simulator reads it, with a signature that does not hold and with one that does.
    static let providerToken = FuzzTarget("provider-token") { bytes in
        var input = FuzzInput(bytes)
        let isSigned = input.byte() % 2 == 1
        var check = RequestCheck(topics: ["com.example.app"], teamID: "TEAM123456", keys: ["KEY1234567": key.publicKey])
        let now: Int64 = 1_700_000_000
        var authorization = Array("bearer ".utf8)
        var claims: [UInt8] = []
        if isSigned {
            // Only a handful of the inputs: a signature costs more than a hundred readings.
            let header = input.part()
            claims = input.remainder()
            let signed = Base64URL.encode(header) + "." + Base64URL.encode(claims)
            authorization += Array((signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))).utf8)
        } else {
            authorization += input.remainder()
        }
        var credential = ConnectionCredential()
        let fault = check.credentialFault(authorization[...], &credential, now: now)
        guard fault == nil else { return try hold(credential.current == nil, "refused and kept") }
        try hold(isSigned, "a signature that nobody made holds")
        guard let token = credential.current else { throw Violation(description: "accepted and not kept") }
        try hold(token.keyID == "KEY1234567", "another key")
        try hold((now - 3600...now + 300).contains(token.issuedAt), "issued at \(token.issuedAt)")
        try hold((try? JSONReader.read(claims)) != nil, "claims that are no JSON")
        try hold(
            check.credentialFault(authorization[...], &credential, now: now) == nil, "the second time it is refused")
        try hold(
            check.credentialFault(authorization[...], &credential, now: token.issuedAt + 3601) == .expiredProviderToken,
            "it never expires")
    }

    private static let key: ES256PrivateKey = {
        guard let key = try? ES256PrivateKey.generate() else { fatalError("no key could be made") }
        return key
    }()
}
