// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// What release tools sign with beyond Standard Webhooks and GitHub's header.
extension WebhookVerifier {
    /// `x-apple-signature: hmacsha256=<hex HMAC-SHA256(secret, raw body)>` (PROTOCOLS 3.3). No timestamp, and no id outside
    /// the body: the digest stands for one until the body has been read.
    func verifyApple(_ signature: String, body: [UInt8]) -> WebhookVerdict {
        let prefix = "hmacsha256="
        guard signature.lowercased().hasPrefix(prefix),
            let claimed = Hex.decode(String(signature.dropFirst(prefix.count))), claimed.count == 32
        else {
            return .refused(
                .malformedHeader("x-apple-signature", need: "\"\(prefix)\" followed by 64 hex digits is needed"))
        }
        var matches = false
        for secret in secrets where constantTimeEqual(claimed, HMACSHA256.code(body, key: secret.textKey)) {
            matches = true
        }
        guard matches else { return .refused(.noMatch("x-apple-signature")) }
        return .verified(receiptID: Hex.encode(SHA256.digest(body)))
    }

    /// `X-Gitlab-Token: <secret in clear>` (PROTOCOLS 3.4). Digests are compared, so that not even the length is told.
    func verifyToken(_ token: String, _ headers: WebhookHeaders, body: [UInt8]) -> WebhookVerdict {
        let claimed = SHA256.digest(Array(token.utf8))
        var matches = false
        for secret in secrets where constantTimeEqual(claimed, SHA256.digest(secret.textKey)) { matches = true }
        guard matches else { return .refused(.wrongToken) }
        // The same on a retry; the event's id where GitLab is older than 17.4.
        for name in [WebhookHeaders.idempotencyKey, WebhookHeaders.gitLabEventID] {
            guard let id = headers[name] else { continue }
            guard !id.isEmpty, id.utf8.count <= Self.maximumID else {
                return .refused(.malformedHeader(name, need: "1 to \(Self.maximumID) characters are needed"))
            }
            return .verified(receiptID: id)
        }
        return .verified(receiptID: Hex.encode(SHA256.digest(body)))
    }
}
