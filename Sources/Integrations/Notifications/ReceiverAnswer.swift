// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import WireFormat

/// The answer of a receiver of notifications: a success or a refusal, which may have a 2xx status. Pure.
///
/// Chat systems, gateways and proxies refuse with HTTP 200: Slack did so with "invalid_payload", Teams' connectors pass
/// on another server's error as text, DingTalk and WeCom have an `errcode`, and a proxy that requires a sign-in answers
/// with a page.
package enum ReceiverAnswer {
    /// The reason why an answer is a refusal; nil: it is a success.
    ///
    /// - Parameter body: the beginning of the body; a refusal is not long enough to be cut off.
    package static func refusal(_ status: Int, _ body: [UInt8], _ format: NotificationFormat) -> String? {
        switch status {
        case 200..<300: refusal(ofGood: status, body, format)
        case 300..<400: "HTTP \(status): redirects are not followed, give the final address"
        case 410: "HTTP 410: the receiver is gone, nothing is sent to it any more"
        default: "HTTP \(status)"
        }
    }

    private static func refusal(ofGood status: Int, _ body: [UInt8], _ format: NotificationFormat) -> String? {
        let bytes = (try? TextFile.utf8(body)) ?? body
        let text = TrimmedText.trimmed(String(decoding: bytes, as: UTF8.self))
        if isPage(text) { return "HTTP \(status) with a page (HTML): a proxy or a sign-in answered, not the receiver" }
        if text.hasPrefix("Webhook message delivery failed") {
            return "HTTP \(status), and the text says that the message was not delivered"
        }
        if let answer = try? JSONReader.read(bytes) {
            if let member = denial(answer) { return "HTTP \(status) with \(member), which means no" }
            if answer.object != nil || answer.array != nil { return nil }
        }
        guard format == .slack, !text.isEmpty, !yes.contains(text.lowercased()) else { return nil }
        return "HTTP \(status) with \(word(text)) in the place of \"ok\""
    }

    /// The success texts of Slack and similar systems; Teams' connectors answer 1.
    private static let yes: Set = ["ok", "1", "true", "success", "accepted"]

    private static func isPage(_ text: String) -> Bool {
        let beginning = text.prefix(200).lowercased()
        return ["<!doctype html", "<html", "<head", "<body"].contains { beginning.hasPrefix($0) }
            || beginning.hasPrefix("<!--") && beginning.contains("<html")
            || beginning.hasPrefix("<?xml") && beginning.contains("<html")
    }

    /// The member that marks a refusal.
    private static func denial(_ answer: JSONValue) -> String? {
        for name in ["ok", "success"] where answer[name]?.bool == false { return "\(name): false" }
        for name in ["errcode", "StatusCode"] {
            guard let code = answer[name]?.integer, code != 0 else { continue }
            return "\(name): \(code)"
        }
        // Feishu: {"code": 19001, "msg": "…"}. In other systems small numbers and 200 are a success.
        if let code = answer["code"]?.integer, answer["msg"]?.string != nil,
            [9_000..<12_000, 19_000..<20_000].contains(where: { $0.contains(code) })
        {
            return "code: \(code)"
        }
        for name in ["result", "status"] {
            guard let word = answer[name]?.string?.lowercased(), ["error", "fail", "failed", "failure"].contains(word)
            else {
                continue
            }
            return "\(name): \"\(word)\""
        }
        return nil
    }

    /// Slack's refusals are single words ("no_service"); any other text may be confidential.
    private static func word(_ text: String) -> String {
        let isWord =
            text.utf8.count <= 40 && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
        return isWord ? "\"\(text)\"" : "another text"
    }
}
