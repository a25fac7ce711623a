// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// The headers that a signature is read from, names in lower case.
package struct WebhookHeaders: Sendable {
    package static let id = "webhook-id"
    package static let timestamp = "webhook-timestamp"
    package static let signature = "webhook-signature"
    package static let hubSignature = "x-hub-signature-256"
    package static let hubEvent = "x-github-event"
    package static let appleSignature = "x-apple-signature"
    package static let gitLabToken = "x-gitlab-token"
    package static let gitLabEventID = "x-gitlab-event-uuid"
    package static let idempotencyKey = "idempotency-key"
    package static let all = [
        id, timestamp, signature, hubSignature, hubEvent, appleSignature, gitLabToken, gitLabEventID,
        idempotencyKey,
    ]

    private var values: [String: String]

    /// - Parameter values: by name in lower case; other headers are ignored.
    package init(_ values: [String: String]) {
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }
}

package enum WebhookVerdict: Hashable, Sendable {
    /// Signed with one of the secrets; `by` names the first that matches. An event that is sent again has the same id.
    case verified(receiptID: String, by: String = "webhook")
    case refused(WebhookRefusal)
}

/// The reason why a webhook is answered with 401.
package enum WebhookRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The server has no secret to verify with.
    case noSecrets
    /// No header of any kind of signature.
    case noSignature
    case missingHeader(String)
    case malformedHeader(String, need: String)
    case tooOld(by: Duration)
    case tooNew(by: Duration)
    case noMatch(String)
    case wrongToken

    package var description: String {
        switch self {
        case .noSecrets:
            "no webhook secret is configured on this server, or none for this app"
        case .noSignature:
            "a signature is missing: send webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks), "
                + "X-Hub-Signature-256 or x-apple-signature; GitLab's own webhook also takes X-Gitlab-Token"
        case .missingHeader(let name):
            "the header \(name) is missing"
        case .malformedHeader(let name, let need):
            "the header \(name) is malformed: \(need)"
        case .tooOld(let excess):
            "webhook-timestamp is \(excess.milliseconds / 1000) seconds older than the 5 minutes that are tolerated; sign "
                + "each attempt anew, and check both clocks"
        case .tooNew(let excess):
            "webhook-timestamp is \(excess.milliseconds / 1000) seconds further in the future than the 5 minutes that are "
                + "tolerated; check both clocks"
        case .noMatch(let name):
            "no signature in \(name) matches the body as it was received with any configured secret"
        case .wrongToken:
            "X-Gitlab-Token is none of the configured secrets"
        }
    }
}

/// Verifies a webhook's signature. Pure: the time is a parameter.
package struct WebhookVerifier: Sendable {
    /// "5 minutes both ways" (Standard Webhooks 1.0.0; the Go and JS references).
    package static let tolerance = Duration.seconds(300)
    /// The most characters of an event's id.
    package static let maximumID = 256

    let secrets: [WebhookSecret]

    /// - Parameter secrets: any of them may verify, so that one can be exchanged without a gap.
    package init(secrets: [WebhookSecret]) {
        self.secrets = secrets
    }

    /// - Parameter body: the bytes exactly as they were received: signatures cover these, not their meaning.
    /// - Parameter takesToken: whether a secret in clear (X-Gitlab-Token) is accepted where neither webhook-signature nor
    ///   x-apple-signature is sent.
    package func verify(
        _ headers: WebhookHeaders, body: [UInt8], at now: Timestamp, takesToken: Bool = false
    ) -> WebhookVerdict {
        guard !secrets.isEmpty else { return .refused(.noSecrets) }
        if headers[WebhookHeaders.signature] == nil {
            if let digest = headers[WebhookHeaders.appleSignature] {
                return verifyDigest("x-apple-signature", "hmacsha256=", digest, body: body)
            }
            if takesToken, let token = headers[WebhookHeaders.gitLabToken] {
                return verifyToken(token, headers, body: body)
            }
            if let digest = headers[WebhookHeaders.hubSignature] {
                return verifyDigest("X-Hub-Signature-256", "sha256=", digest, body: body)
            }
        }
        let names = [WebhookHeaders.id, WebhookHeaders.timestamp, WebhookHeaders.signature]
        guard names.contains(where: { headers[$0] != nil }) else { return .refused(.noSignature) }
        guard let id = headers[WebhookHeaders.id] else { return .refused(.missingHeader(WebhookHeaders.id)) }
        guard let timestamp = headers[WebhookHeaders.timestamp] else {
            return .refused(.missingHeader(WebhookHeaders.timestamp))
        }
        guard let signature = headers[WebhookHeaders.signature] else {
            return .refused(.missingHeader(WebhookHeaders.signature))
        }
        return verifyStandard(id: id, timestamp: timestamp, signature: signature, body: body, at: now)
    }

    // MARK: Standard Webhooks 1.0.0

    private func verifyStandard(
        id: String, timestamp: String, signature: String, body: [UInt8], at now: Timestamp
    ) -> WebhookVerdict {
        // The parts are joined by dots, so an id with a dot could be cut in two ways.
        guard !id.isEmpty, id.utf8.count <= Self.maximumID, !id.utf8.contains(UInt8(ascii: ".")) else {
            return .refused(
                .malformedHeader(
                    WebhookHeaders.id, need: "1 to \(Self.maximumID) characters without a dot are needed"))
        }
        guard !timestamp.isEmpty, timestamp.utf8.count <= 12, timestamp.utf8.allSatisfy({ (48...57).contains($0) }),
            let seconds = Int64(timestamp)
        else {
            return .refused(
                .malformedHeader(
                    WebhookHeaders.timestamp, need: "whole seconds since 1970 are needed, such as 1614265330"))
        }
        // In whole seconds, as the reference implementations count.
        let age = now.seconds - seconds
        let tolerated = Self.tolerance.components.seconds
        if age > tolerated { return .refused(.tooOld(by: .seconds(age - tolerated))) }
        if -age > tolerated { return .refused(.tooNew(by: .seconds(-age - tolerated))) }

        let entries = ListBound.webhookSignatures.members(of: signature, at: " ").compactMap { entry -> [UInt8]? in
            // Unknown versions are ignored.
            guard entry.hasPrefix("v1,"), entry.utf8.count <= ListBound.longestMember else { return nil }
            return Base64.decode(String(entry.dropFirst(3)))
        }
        guard !entries.isEmpty else {
            return .refused(
                .malformedHeader(
                    WebhookHeaders.signature,
                    need: "an entry \"v1,\" followed by the base64 of an HMAC-SHA256 is needed"))
        }
        var content = Array("\(id).\(timestamp).".utf8)
        content.append(contentsOf: body)
        let signer = signer { secret in
            let code = HMACSHA256.code(content, key: secret.standardKey)
            return entries.count { constantTimeEqual($0, code) } > 0
        }
        guard let signer else { return .refused(.noMatch(WebhookHeaders.signature)) }
        return .verified(receiptID: id, by: signer)
    }

    // MARK: Release tools

    /// `X-Hub-Signature-256: sha256=<hex HMAC-SHA256(secret, raw body)>` (GitHub, PROTOCOLS 3.1) and
    /// `x-apple-signature: hmacsha256=<the same>` (App Store Connect, PROTOCOLS 3.3). Neither a time nor an id is signed: an
    /// attacker who has seen a body and its signature could send it under another `X-GitHub-Delivery`. So the body is the id.
    private func verifyDigest(
        _ name: String, _ prefix: String, _ digest: String, body: [UInt8]
    ) -> WebhookVerdict {
        guard digest.lowercased().hasPrefix(prefix), let claimed = Hex.decode(String(digest.dropFirst(prefix.count))),
            claimed.count == 32
        else {
            return .refused(.malformedHeader(name, need: "\"\(prefix)\" followed by 64 hex digits is needed"))
        }
        guard let signer = signer(where: { constantTimeEqual(claimed, HMACSHA256.code(body, key: $0.textKey)) }) else {
            return .refused(.noMatch(name))
        }
        return .verified(receiptID: Self.bodyID(body), by: signer)
    }

    /// The substitute for an event's id where none is signed or sent.
    private static func bodyID(_ body: [UInt8]) -> String { "sha256:" + Hex.encode(SHA256.digest(body)) }

    /// `X-Gitlab-Token: <secret in clear>` (PROTOCOLS 3.4). Digests are compared, so that not even the length is revealed.
    private func verifyToken(_ token: String, _ headers: WebhookHeaders, body: [UInt8]) -> WebhookVerdict {
        let claimed = SHA256.digest(Array(token.utf8))
        guard let signer = signer(where: { constantTimeEqual(claimed, SHA256.digest($0.textKey)) }) else {
            return .refused(.wrongToken)
        }
        // The idempotency key stays the same on a retry; GitLab before 17.4 sends only the event's id.
        let names = [WebhookHeaders.idempotencyKey, WebhookHeaders.gitLabEventID]
        guard let name = names.first(where: { headers[$0] != nil }), let id = headers[name] else {
            return .verified(receiptID: Self.bodyID(body), by: signer)
        }
        guard !id.isEmpty, id.utf8.count <= Self.maximumID else {
            return .refused(.malformedHeader(name, need: "1 to \(Self.maximumID) characters are needed"))
        }
        return .verified(receiptID: id, by: signer)
    }

    /// The name of the first secret that matches. Every secret is tried even after a match: the time reveals nothing.
    private func signer(where matches: (WebhookSecret) -> Bool) -> String? { secrets.filter(matches).first?.name }
}
