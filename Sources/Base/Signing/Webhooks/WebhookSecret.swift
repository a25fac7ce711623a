// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// A secret that a sender of webhooks signs with.
package struct WebhookSecret: Sendable, CustomStringConvertible {
    /// The key of Standard Webhooks' HMAC.
    let standardKey: [UInt8]
    /// The key of GitHub's HMAC: the secret as it stands.
    let textKey: [UInt8]
    /// The apps whose webhooks it verifies; nil: all.
    package var apps: Set<String>?
    /// The signer's name in the log and the history.
    package var name = "webhook"

    /// Takes a secret as it stands in its file (`SecretText`).
    ///
    /// "whsec_" followed by standard base64 is a Standard Webhooks secret (PROTOCOLS 3.2); everything else is used byte
    /// for byte, and need not be text.
    ///
    /// - Throws: `SigningError` whose context completes "file X …".
    package init(_ file: [UInt8]) throws(SigningError) {
        let bytes: [UInt8]
        do throws(TextFile.Fault) {
            bytes = try SecretText.read(file)
        } catch {
            throw SigningError(.unreadable, error.description)
        }
        guard !bytes.isEmpty else { throw SigningError(.invalid, "is empty, and a webhook secret is needed") }
        if let doubt = SecretText.doubt(bytes) { throw SigningError(.invalid, doubt) }
        textKey = bytes
        let prefix = SecretText.webhookPrefix
        guard bytes.starts(with: prefix.utf8) else {
            standardKey = bytes
            return
        }
        guard let key = Base64.decode(String(decoding: bytes.dropFirst(prefix.utf8.count), as: UTF8.self)), !key.isEmpty
        else {
            throw SigningError(
                .invalid,
                "begins with whsec_, but what follows is not base64",
                hint: "standard base64 is needed, such as whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        }
        standardKey = key
    }

    package init(_ text: String) throws(SigningError) {
        try self.init(Array(text.utf8))
    }

    /// A key as text, in the form in which its file and both sides have it.
    package static func text(_ key: [UInt8]) -> String { SecretText.webhookPrefix + Base64.encode(key) }

    /// A new secret of 32 random bytes; 24 to 64 are allowed (Standard Webhooks, "Symmetric signatures").
    package static func made() throws -> String { text(try RandomBytes.make(32)) }

    /// How many bytes the base64 after whsec_ stands for; nil: it is no secret of Standard Webhooks.
    package var standardSize: Int? { standardKey.count == textKey.count ? nil : standardKey.count }

    package func verifies(_ app: String) -> Bool { apps?.contains(app) ?? true }

    package var description: String { "a webhook secret of \(textKey.count) bytes" }
}

extension WebhookSecret {
    /// The three headers of Standard Webhooks 1.0.0 (PROTOCOLS 3.2) for a body that is about to be sent.
    ///
    /// - Parameter id: without a dot.
    package func headers(id: String, at now: Timestamp, body: [UInt8]) -> [(name: String, value: String)] {
        let time = String(now.seconds)
        let code = HMACSHA256.code(Array("\(id).\(time).".utf8) + body, key: standardKey)
        return [
            (WebhookHeaders.id, id), (WebhookHeaders.timestamp, time),
            (WebhookHeaders.signature, "v1,\(Base64.encode(code))"),
        ]
    }
}
