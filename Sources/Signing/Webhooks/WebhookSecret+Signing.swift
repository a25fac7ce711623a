// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

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
