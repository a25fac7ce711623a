// SPDX-License-Identifier: Apache-2.0
import Signing
import WireFormat

/// Signs as Standard Webhooks 1.0.0 wants it: HMAC-SHA256 over "id.timestamp.body".
enum WebhookSender {
    static func request(path: String, body: [UInt8], id: String, timestamp: Int64, key: [UInt8]) -> APIRequest {
        var request = APIRequest("POST", path, body: body, contentType: "application/json")
        let signature = HMACSHA256.code(Array("\(id).\(timestamp).".utf8) + body, key: key)
        request.headers = [
            "webhook-id": id, "webhook-timestamp": String(timestamp),
            "webhook-signature": "v1,\(Base64.encode(signature))",
        ]
        return request
    }
}
