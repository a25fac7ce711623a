// SPDX-License-Identifier: Apache-2.0

/// An Android push as the app receives it: the `data` of its message, whose values are texts. `page` is the JSON text of an iOS
/// push's `page`, and `pushId` the push's own id.
///
/// ```swift
/// let message = UpgradeMessage(data: data) { try JSONDecoder().decode(UpgradePage.self, from: Data($0.utf8)) }
/// message.push.verdict(type: "needUpgrade", userTelephone: user, installed: version, build: versionCode)
/// ```
public struct UpgradeMessage: Hashable, Sendable {
    /// Judged by the same rules as an iOS push.
    public let push: UpgradePush
    /// The push's own id, which is the same where a push is delivered twice. Google ignores ids that a sender sets, so the
    /// app must drop a push that it has had. Nil where the message has no id.
    public let pushID: String?

    /// Takes a message's `data`; any other message gives a push without fields.
    ///
    /// - Parameter decode: reads a JSON text with the platform's own decoder.
    public init(data: [String: String], decode: (_ page: String) throws -> UpgradePage) {
        let page = data["page"].flatMap { try? decode($0) }
        push = page?.push ?? UpgradePush(type: nil, userTel: nil, downloadURL: nil)
        pushID = data["pushId"]
    }
}

/// The contents of `page`.
public struct UpgradePage: Hashable, Sendable, Decodable {
    /// Fields of the wrong kind count as missing, as in the client.
    public let push: UpgradePush

    private enum Key: String, CodingKey { case type, userTel, downloadUrl, required, build, blocked }

    /// Reads a page.
    ///
    /// - Throws: the decoder's error where it is no JSON object.
    public init(from decoder: any Decoder) throws {
        let page = try decoder.container(keyedBy: Key.self)
        push = UpgradePush { name in
            Key(rawValue: name).flatMap { (try? page.decodeIfPresent(WireText.self, forKey: $0))?.text }
        }
    }
}
