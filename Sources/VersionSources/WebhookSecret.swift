// SPDX-License-Identifier: Apache-2.0
import Signing

/// A secret that a sender of webhooks signs with.
package struct WebhookSecret: Sendable, CustomStringConvertible {
    /// The key of Standard Webhooks' HMAC.
    let standardKey: [UInt8]
    /// The key of GitHub's HMAC: the text as it stands.
    let textKey: [UInt8]

    /// Takes a secret as it stands in its file, line ends at its end left out.
    ///
    /// "whsec_" followed by standard base64 is a Standard Webhooks secret (PROTOCOLS 3.2); everything else is used byte
    /// for byte.
    package init(_ text: String) throws(WebhookSecretError) {
        var bytes = Array(text.utf8)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .empty }
        textKey = bytes
        let prefix = Array("whsec_".utf8)
        if bytes.starts(with: prefix) {
            guard let key = Base64.decode(String(decoding: bytes.dropFirst(prefix.count), as: UTF8.self)), !key.isEmpty
            else { throw .notBase64 }
            standardKey = key
        } else {
            standardKey = bytes
        }
    }

    package var description: String { "a webhook secret of \(textKey.count) characters" }
}

package enum WebhookSecretError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case notBase64

    package var description: String {
        switch self {
        case .empty: "a webhook secret is needed; it was empty"
        case .notBase64: "what follows whsec_ must be standard base64, such as whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        }
    }
}
